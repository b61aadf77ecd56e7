import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { guardedHost } from "../../lib/host/git_guard.ts";
import { gitIn, makeRepository } from "../repository.ts";

/**
 * Each writes to the git directory, `$G`, so that git would write to `$OUT` or stop there. The message about it begins
 * with the path; `null`: git is not stopped and nothing needs to be set aside.
 */
const ATTEMPTS: readonly (readonly [name: string, command: string, said: string | null])[] = [
  ["the log of HEAD as a link", "ln -sf $OUT/known $G/logs/HEAD", ".git/logs/HEAD (link"],
  ["the log of a branch as a link", "ln -sf $OUT/known $G/logs/refs/heads/main", ".git/logs/refs/heads/main (link"],
  ["the log of a branch as a link to a new file", "ln -sf $OUT/new $G/logs/refs/heads/main", ".git/logs/refs"],
  ["the folder of logs as a link", "rm -r $G/logs; ln -s $OUT $G/logs", ".git/logs (link"],
  ["the commit's message as a link", "ln -sf $OUT/known $G/COMMIT_EDITMSG", ".git/COMMIT_EDITMSG (link"],
  ["the commit's message as a link to a device", "ln -sf /dev/full $G/COMMIT_EDITMSG", ".git/COMMIT_EDITMSG (link"],
  // Under Deno the pipe is not seen in time, and git waits for it: open.
  ...("deno" in process.versions ? [] : [
    [
      "the commit's message as a pipe",
      "rm -f $G/COMMIT_EDITMSG; mkfifo $G/COMMIT_EDITMSG",
      ".git/COMMIT_EDITMSG (pipe",
    ],
  ] as const),
  [
    "the commit's message as a folder",
    "rm -f $G/COMMIT_EDITMSG; mkdir -p $G/COMMIT_EDITMSG/x",
    ".git/COMMIT_EDITMSG (f",
  ],
  ["the commit's message as a hard link", "ln -f $OUT/known $G/COMMIT_EDITMSG", ".git/COMMIT_EDITMSG (file"],
  ["the log of HEAD as a hard link", "ln -f $OUT/known $G/logs/HEAD", ".git/logs/HEAD (file"],
  ["the index as a link", "mv $G/index $OUT/index; ln -s $OUT/index $G/index", ".git/index (link"],
  ["the lock of the index as a folder", "mkdir -p $G/index.lock/x", ".git/index.lock (folder"],
  ["the lock of a branch as a folder", "mkdir -p $G/refs/heads/main.lock/x", ".git/refs/heads/main.lock (folder"],
  ["packed refs as a link", "ln -sf $OUT/known $G/packed-refs", ".git/packed-refs (link"],
  ["Ralph's own refs as a link", "mkdir -p $OUT/refs; ln -s $OUT/refs $G/refs/ralph", ".git/refs/ralph (link"],
  ["a folder of objects as a link", "ln -s $OUT $G/objects/zz", ".git/objects/zz (link"],
  ["other objects", "mkdir -p $G/objects/info; echo $OUT > $G/objects/info/alternates", ".git/objects/info/alternates"],
  ["a common directory", "mkdir -p $OUT/refs $OUT/objects; echo $OUT > $G/commondir", ".git/commondir"],
  [
    "settings of the worktree",
    "printf '[core]\\n\\tfsmonitor = touch $OUT/ran\\n' > $G/config.worktree",
    ".git/config.worktree",
  ],
  ["a merge in progress as a link", "ln -s $OUT $G/rebase-merge", ".git/rebase-merge (link"],
  ["Ralph's own folder as a link", "rm -rf $G/ralph; ln -s $OUT $G/ralph", ".git/ralph (link"],
  [
    "the journal as a link",
    "mkdir -p $G/ralph; ln -s $OUT/known $G/ralph/journal.jsonl",
    ".git/ralph/journal.jsonl (link",
  ],
  ["the git directory moved", "git init -q --separate-git-dir $OUT/moved .", ".git, which was moved"],
  ["the folder of runs as a link", "mv runs away; ln -s $OUT runs", "runs (link"],
  ["a transcript as a link", "ln -s $OUT/known runs/1/iteration-2.log", "runs/1/iteration-2.log (link"],
  [
    "a check's log as a link",
    "mkdir runs/1/iteration-2; ln -s $OUT/new runs/1/iteration-2/check-1.log",
    "runs/1/iteration-2/check-1.log (link",
  ],
  ["a folder of logs as a link", "ln -s $OUT runs/1/iteration-2", "runs/1/iteration-2 (link"],
  ["the folder above it as a link", "rm -rf runs; ln -s $OUT runs", "runs (link"],
  [
    "a branch and a commit of its own",
    "git checkout -q -b other; git commit -q --allow-empty -m x; git checkout -q main",
    null,
  ],
  ["a large file store", "mkdir -p $G/lfs/objects; ln -s $OUT $G/lfs/objects/x", null],
];

const isUnix = process.platform !== "win32";

describe.skipIf(!isUnix)(
  "after a turn Ralph's git follows nothing of the turn's making (skipped on Windows: links)",
  () => {
    let lab = "";
    const at = (name: string): string => join(lab, name);
    const host = createHost();
    const said: string[] = [];

    beforeEach(() => {
      lab = mkdtempSync(join(tmpdir(), "ralph-guard-"));
      for (const name of ["out", "project/runs/1"]) mkdirSync(at(name), { recursive: true });
      writeFileSync(at("out/known"), "known\n");
      said.length = 0;
    });

    afterEach(() => rmSync(lab, { recursive: true, force: true }));

    async function turn(command: string, before: () => void = () => {}): Promise<string> {
      makeRepository(at("project"), { files: { "a.txt": "a\n", ".gitignore": "runs\naway\n" } });
      before();
      const guarded = guardedHost(host, (message) => said.push(message));
      const repository = await openRepository(guarded, at("project"));
      if (repository === null) throw new Error("no repository");
      guarded.guard.keep(at("project/runs/1"));
      const environment = { G: join(at("project"), ".git"), OUT: at("out") };
      const cwd = at("project");
      const end = await guarded.processes.run({
        file: "/bin/sh",
        arguments: ["-ec", command],
        cwd,
        environment,
        sandbox: { role: "turn", cwd },
      });
      expect(end.stderr).toBe("");
      const was = [...files(at("out"))].map(([name, text]) => `${name}: ${text}`);
      writeFileSync(at("project/b.txt"), "b\n");
      for (const arguments_ of [["status"], ["add", "b.txt"], ["commit", "--quiet", "--no-verify", "-m", "work"]]) {
        const { exitCode, stderr } = await repository.git(arguments_, { timeoutMs: 30_000 });
        expect([exitCode, stderr]).toEqual([0, ""]);
      }
      expect([...files(at("out"))].map(([name, text]) => `${name}: ${text}`)).toEqual(was);
      return gitIn(at("project"))("log", "-1", "--format=%s").trim();
    }

    for (const [name, command, expected] of ATTEMPTS) {
      it(`${name}`, async () => {
        expect(await turn(command)).toBe("work");
        if (expected === null) expect(said).toEqual([]);
        else expect(said.join("\n")).toContain(expected);
        expect(readFileSync(at("out/known"), "utf8")).toBe("known\n");
      });
    }

    it("a link that stood there before the first turn stays, and git writes where it leads", async () => {
      const linked = (): void => {
        const moved = spawnSync("sh", ["-c", "mv .git/logs ../out/logs; ln -s ../../out/logs .git/logs"], {
          cwd: at("project"),
        });
        expect(moved.status).toBe(0);
      };
      makeRepository(at("project"), { files: { "a.txt": "a\n" } });
      linked();
      const guarded = guardedHost(host, (message) => said.push(message));
      const repository = await openRepository(guarded, at("project"));
      guarded.guard.begin();
      await guarded.guard.look();
      await repository?.git(["commit", "--quiet", "--allow-empty", "-m", "work"]);
      expect(said).toEqual([]);
      expect(lstatSync(at("project/.git/logs")).isSymbolicLink()).toBe(true);
      expect(readFileSync(at("out/logs/HEAD"), "utf8")).toContain("commit: work");
    });

    it.each([["is there", "[alias]\n\tst = status\n"], ["is not there yet", null]])(
      "a file that git's settings include and that %s stays as it was",
      async (_name, content) => {
        const command = `git config -f .gitconfig filter.x.clean "touch $OUT/ran; cat"
          echo '*.txt filter=x' > .gitattributes`;
        await turn(command, () => {
          gitIn(at("project"))("config", "include.path", "../.gitconfig");
          if (content !== null) writeFileSync(at("project/.gitconfig"), content);
        });
        expect(said.join("\n")).toContain("set aside: .gitconfig");
      },
    );

    it("what was set aside is kept", async () => {
      await turn("mkdir -p $G/index.lock; echo mine > $G/index.lock/x; ln -sf $OUT/known $G/COMMIT_EDITMSG");
      expect(readFileSync(at("project/.git/ralph/aside/index.lock/x"), "utf8")).toBe("mine\n");
      expect(lstatSync(at("project/.git/ralph/aside/COMMIT_EDITMSG")).isSymbolicLink()).toBe(true);
    });

    it("a link to another folder in the place of .git is no move of it: that folder stays where it is", async () => {
      makeRepository(at("project"), { files: { "a.txt": "a\n" } });
      const guarded = guardedHost(host, (message) => said.push(message));
      await openRepository(guarded, at("project"));
      guarded.guard.begin();
      spawnSync("sh", ["-c", "mv .git gone; ln -s ../out .git"], { cwd: at("project") });
      await guarded.guard.look();
      expect(readdirSync(at("out"))).toEqual(["known"]);
      expect(existsSync(at("project/gone/HEAD"))).toBe(true);
    });
  },
);

function* files(folder: string): Iterable<readonly [name: string, text: string]> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) yield [entry.name, readFileSync(join(entry.parentPath, entry.name), "utf8")];
  }
}
