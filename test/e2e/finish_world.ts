/**
 * A project whose one story has passed, its remote, and programs that stand in for a forge's own.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { madeOnce, type Project, ralphCli } from "./cli.ts";

export const PRD: string = JSON.stringify({
  branchName: "ralph/hello",
  userStories: [{
    id: "US-001",
    title: "Write hello.txt",
    acceptanceCriteria: ["It greets", "Verify: `test -f hello.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

/** An agent that does the story, and commits it itself. */
export const WORKER: string =
  "cat > /dev/null; echo hello > hello.txt; git add hello.txt; git commit -qm mine; echo '<promise>COMPLETE</promise>'";

/** A project whose one story has passed on `ralph/hello`. */
export const finished: () => Promise<Project> = madeOnce(() =>
  ralphCli()
    .dirty({
      "scripts/ralph/prd.json": PRD,
      "scripts/ralph/plan_state.json": JSON.stringify({ goal: "greet whoever runs it" }),
    })
    .agent("worker", WORKER)
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

/** A bare repository beside it, as `origin`; `url` is what git believes it to be. */
export function withRemote({ root, git }: Project, url?: string): string {
  const bare = `${root}-origin.git`;
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", bare]);
  git("remote", "add", "origin", url ?? bare);
  if (url !== undefined) git("config", `url.${bare}.insteadOf`, url);
  git("push", "-q", "origin", "main");
  return bare;
}

/** A program on PATH that notes its arguments and prints. */
export function standIn(root: string, name: string, script: string): string {
  const bin = `${root}-bin`;
  mkdirSync(bin, { recursive: true });
  const noted = join(bin, `${name}.txt`);
  const lines = `#!/bin/sh\n[ "$1" = --version ] || for one in "$@"; do echo "$one"; done > ${noted}\n${script}\n`;
  writeFileSync(join(bin, name), lines);
  chmodSync(join(bin, name), 0o755);
  return noted;
}

export function finish(root: string, ...args: string[]): ReturnType<typeof ralphCli> {
  return ralphCli(root).env({ PATH: `${root}-bin:${process.env["PATH"]}` }).args("finish", ...args);
}

/** A `git` on PATH that ends the one who called it where its arguments are these: before git did it, or after. */
export function killingGit(root: string, pattern: string, when: "before" | "after"): Readonly<Record<string, string>> {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const bin = `${root}-bin`;
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
[ -e ${bin}/killed ] && exec ${real} "$@"
case "$*" in *"${pattern}"*) ;; *) exec ${real} "$@";; esac
touch ${bin}/killed
${when === "after" ? `${real} "$@"` : ":"}
kill -9 $PPID
`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  return { PATH: `${bin}:${process.env["PATH"]}` };
}
