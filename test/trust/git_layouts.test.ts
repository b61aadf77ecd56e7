import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRalph } from "../../lib/recipe/create_ralph.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { gitIn, makeRepository } from "../repository.ts";

/** How a project has its git directory. Each begins in `project`, a plain repository, with `../gd` to move it to. */
const LAYOUTS: readonly (readonly [name: string, command: string])[] = [
  ["a relative link", "mv .git ../gd && ln -s ../gd .git"],
  ["an absolute link", 'mv .git ../gd && ln -s "$PWD/../gd" .git'],
  ["a chain of links", "mv .git ../gd && ln -s gd ../one && ln -s one ../two && ln -s ../two .git"],
  ["a file: git init --separate-git-dir", "git init --quiet --separate-git-dir ../gd"],
  ["a worktree", "mv ../project ../main && git -C ../main worktree add --quiet ../project -b side"],
  [
    "a submodule",
    "cd .. && git init --quiet top && cd top && git -c protocol.file.allow=always submodule --quiet add ../project sub && " +
    "rm -rf ../project && mv sub ../project && printf 'gitdir: ../top/.git/modules/sub\\n' > ../project/.git && " +
    "git config --file .git/modules/sub/config core.worktree ../../../../project",
  ],
  [
    "links for objects, refs, logs, hooks and config, as Google's repo has them",
    "mkdir ../gd && for name in objects refs logs hooks config; do mv .git/$name ../gd && ln -s ../../gd/$name .git/$name; done",
  ],
];

const COMMITS = "git add --all && git commit --quiet -m work";
const LINKS_ANEW = 'target=$(readlink .git) && rm .git && ln -s "$target" .git';
const CASES = [
  ...LAYOUTS.map(([layout, command]) => [layout, command, "a commit", COMMITS] as const),
  [...LAYOUTS[0]!, "nothing", "true"] as const,
  [...LAYOUTS[2]!, "the link anew", LINKS_ANEW] as const,
];

describe.skipIf(process.platform === "win32")(
  "a turn leaves the person's git directory where it is (skipped on Windows)",
  () => {
    let lab = "";
    beforeEach(() => void (lab = realpathSync(mkdtempSync(join(tmpdir(), "ralph-layout-")))));
    afterEach(() => rmSync(lab, { recursive: true, force: true }));

    for (const [layout, command, turn, does] of CASES) {
      it(`${layout}; in the turn ${turn}`, async () => {
        const root = join(lab, "project");
        mkdirSync(root);
        makeRepository(root, { files: { "a.txt": "a\n" } })("branch", "kept");
        const made = spawnSync("sh", ["-ec", command], { cwd: root, encoding: "utf8" });
        expect([made.status, made.stderr]).toEqual([0, ""]);
        gitIn(root)("config", "user.name", "Ada");
        gitIn(root)("config", "user.email", "ada@example.com");
        const before = describeGit(root);
        const agent = `cat > /dev/null; echo b > b.txt; ${does}; echo '<ralph>DONE</ralph>'`;
        await using ralph = await createRalph({ root, agent: { command: agent } });
        const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write b.txt", checks: ["test -f b.txt"] }]));
        expect(run.status).toBe("passed");
        expect(describeGit(root)).toEqual(before);
        expect(gitIn(root)("show", "HEAD:b.txt")).toBe("b\n");
        expect(gitIn(root)("branch", "--list", "kept", "--format=%(refname:short)").trim()).toBe(
          layout === "a submodule" ? "" : "kept",
        );
        expect(gitIn(root)("fsck", "--strict")).not.toMatch(/error|missing/);
      });
    }
  },
);

/** Describes `.git` itself, and checks that everything is there. */
function describeGit(root: string): readonly unknown[] {
  const path = join(root, ".git");
  const found = lstatSync(path);
  const kind = found.isSymbolicLink() ? "link" : found.isFile() ? readFileSync(path, "utf8") : "folder";
  return [kind, realpathSync(path), existsSync(join(lab(root), "gd"))];
}

function lab(root: string): string {
  return join(root, "..");
}
