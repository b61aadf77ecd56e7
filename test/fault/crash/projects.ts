/** A project of three items in each workflow: item N is done when `src/N.txt` holds `done`. An edit of the user's is in the tree. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { makeRepository } from "../../repository.ts";
import { ralphProgram } from "../program.ts";
import { COMMAND, STATE_FILE, type Workflow, workflowFiles, type WorkflowItem } from "../workflow_files.ts";

export { type Workflow, WORKFLOWS } from "../workflow_files.ts";

/** How an agent leaves its work: in the tree, staged, or committed. */
export type Leaving = "tree" | "staged" | "committed";
export const LEAVING: readonly Leaving[] = ["tree", "staged", "committed"];

export const ITEMS = [1, 2, 3] as const;
const USER_TEXT = "first\nan edit of the user's\n";

export interface CrashProject {
  readonly workflow: Workflow;
  readonly leaving: Leaving;
  /** Holds everything; `root` is the repository in it, `turns` the agent's own log beside it. */
  readonly folder: string;
  readonly root: string;
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  git(...args: string[]): string;
  /** The items that the agent worked on, in order. */
  turns(): readonly string[];
  remove(): void;
}

const CHECKED: readonly WorkflowItem[] = ITEMS.map((number) => ({
  title: `Write ${number}`,
  check: `grep -qx done src/${number}.txt`,
}));

export function crashProject(workflow: Workflow, leaving: Leaving): CrashProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `ralph-crash-${workflow}-`)));
  const root = join(folder, "project");
  for (const path of [root, ...["home", "bin", "log", "tmp"].map((name) => join(folder, name))]) mkdirSync(path);
  const worker = join(folder, "bin/worker");
  writeFileSync(worker, agent(workflow, leaving, join(folder, "log/turns")));
  chmodSync(worker, 0o755);
  const [file = "", ...before] = ralphProgram();
  writeFileSync(join(folder, "bin/ralph"), `#!/bin/sh\nexec '${[file, ...before].join("' '")}' "$@"\n`, {
    mode: 0o755,
  });
  const environment = {
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    HOME: join(folder, "home"),
    XDG_CACHE_HOME: join(folder, "home/.cache"),
    TMPDIR: join(folder, "tmp"),
    LANG: "C.UTF-8",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  makeRepository(root, { files: { "notes.txt": "first\n", ...workflowFiles(workflow, CHECKED) }, environment });
  writeFileSync(join(root, "notes.txt"), USER_TEXT);
  return {
    workflow,
    leaving,
    folder,
    root,
    command: [file, ...before, ...COMMAND[workflow], "--agent-cmd", "worker", "--ui", "plain"],
    environment,
    git: (...args) => {
      const end = spawnSync("git", args, { cwd: root, env: environment, encoding: "utf8" });
      if (end.status !== 0) throw new Error(`git ${args.join(" ")}: ${end.stderr}`);
      return end.stdout;
    },
    turns: () =>
      existsSync(join(folder, "log/turns"))
        ? readFileSync(join(folder, "log/turns"), "utf8").trim().split("\n").filter((line) => line !== "")
        : [],
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Checks a run that has ended by itself after the crash. @returns what fell short */
export function wrongAtTheEnd({ root, git, workflow }: CrashProject): readonly string[] {
  const wrong: string[] = [];
  for (const number of ITEMS) {
    const path = `src/${number}.txt`;
    if (git("show", `HEAD:${path}`) !== "done\n") wrong.push(`${path} is not committed`);
    const added = git("log", "--diff-filter=AM", "--format=%h", "--", path).trim().split("\n");
    if (added.length !== 1) wrong.push(`${path} was committed ${added.length} times`);
  }
  if (readFileSync(join(root, "notes.txt"), "utf8") !== USER_TEXT) wrong.push("the user's edit is gone");
  if (git("log", "--format=%h", "--", "notes.txt").trim().split("\n").length !== 1) {
    wrong.push("the user's edit was committed");
  }
  const status = git("status", "--porcelain").split("\n").filter((line) => line !== "" && line !== " M notes.txt");
  if (status.length > 0) wrong.push(`left in the tree: ${status.join(", ")}`);
  git("fsck", "--no-dangling", "--no-progress");
  if (!isDone(workflow, root)) wrong.push("the state does not say that all is done");
  return wrong;
}

function isDone(workflow: Workflow, root: string): boolean {
  const text = readFileSync(join(root, STATE_FILE[workflow]), "utf8");
  switch (workflow) {
    case "exec":
    case "feature":
      return !text.includes('"passes": false');
    case "spec":
      return !text.includes('"s":"p"');
    case "sprint":
      return text.includes("status: completed");
    case "gsd":
      return ITEMS.every((number) => existsSync(join(root, `.planning/phases/01-calc/01-0${number}-SUMMARY.md`)));
  }
}

/** Every workflow's own way to say that the work is done. */
const CLAIM: Readonly<Record<Workflow, string>> = {
  exec: 'echo "<promise>COMPLETE</promise>"',
  feature: 'if [ "$review" = yes ]; then echo "<ralph>VERIFIED</ralph>"; else echo "<ralph>DONE</ralph>"; fi',
  spec: 'if [ "$review" = yes ]; then ralph task accept >/dev/null; else ralph task done "t-000$n" >/dev/null; fi',
  sprint: '[ ! -e src/3.txt ] || echo "RALPH_COMPLETE: all of it is done"',
  gsd:
    'printf -- "---\\nphase: 01-calc\\nplan: 0%s\\n---\\n# Summary\\n\\nDone.\\n" "$n" > ".planning/phases/01-calc/01-0$n-SUMMARY.md"; ' +
    'echo "###PLAN_COMPLETE###"',
};

const LEAVE: Readonly<Record<Leaving, string>> = {
  tree: ":",
  staged: 'git add "src/$n.txt"',
  committed: 'git add "src/$n.txt"; git commit -qm "work at $n" -- "src/$n.txt"',
};

function agent(workflow: Workflow, leaving: Leaving, log: string): string {
  return `#!/bin/sh
prompt=$(cat)
review=no
case "$prompt" in *"Final Verification"*) review=yes;; esac
[ "\${RALPH_STAGE:-}" != VERIFY ] || review=yes
n=$(printf %s "\${RALPH_ITEM:-}" | sed 's/.*\\([0-9]\\)$/\\1/')
${workflow === "sprint" ? `for n in 1 2 3; do grep -qx done src/$n.txt 2>/dev/null || break; done` : ""}
echo "$review $n" >> '${log}'
if [ "$review" = no ]; then
  mkdir -p src
  echo done > "src/$n.txt"
  ${LEAVE[leaving]}
fi
${CLAIM[workflow]}
`;
}
