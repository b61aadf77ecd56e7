import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { guardedHost } from "../../lib/host/git_guard.ts";
import { programSettings } from "../../lib/host/nested_git.ts";
import { gitIn, makeRepository } from "../repository.ts";

/** `new NAME` makes a repository and adds it to the index of the one around it; `dirty NAME` changes its file at the same size. */
const FUNCTIONS = `
make() { git init -q "$1"; echo "f filter=e" > "$1/.gitattributes"; echo one > "$1/f"; git -C "$1" add -A; git -C "$1" commit -qm s; }
new() { make "$1"; git -C "$(dirname "$1")" add "$(basename "$1")" 2>/dev/null; }
dirty() { echo two > "$1/f"; }
trap_in() { git -C "$1" config filter.e.clean "touch $OUT/ran; cat"; }
`;

/** Each would have git run `touch $OUT/ran` outside of the turn. The message about it begins with the path. */
const ATTEMPTS: readonly (readonly [name: string, command: string, said: string])[] = [
  ["a filter", "new sub; trap_in sub; dirty sub", "sub/.git/config"],
  [
    "a filter that is a long process",
    'new sub; git -C sub config filter.e.process "touch $OUT/ran"; dirty sub',
    "sub/.git/config",
  ],
  [
    "a filter behind an include",
    "new sub; trap_in sub; mv sub/.git/config sub/c; git -C sub config include.path $PWD/sub/c; dirty sub",
    "sub/.git/config",
  ],
  [
    "a filter in the settings of a worktree",
    'new sub; git -C sub config extensions.worktreeConfig true; git -C sub config --worktree filter.e.clean "touch $OUT/ran; cat"; dirty sub',
    "sub/.git/config",
  ],
  [
    "settings as a link",
    "new sub; trap_in sub; mv sub/.git/config sub/c; ln -s ../c sub/.git/config; dirty sub",
    "sub/.git/config",
  ],
  [
    "a git directory elsewhere",
    "new sub; trap_in sub; mv sub/.git moved; echo gitdir: ../moved > sub/.git; dirty sub",
    "moved/config",
  ],
  [
    "a git directory by a link",
    "new sub; trap_in sub; mv sub/.git moved; ln -s ../moved sub/.git; dirty sub",
    "moved/config",
  ],
  [
    "a git directory outside",
    "new sub; trap_in sub; mv sub/.git $OUT/moved; echo gitdir: $OUT/moved > sub/.git; dirty sub",
    "sub/.git",
  ],
  [
    "a common directory",
    "new sub; new other; trap_in other; cp -rf other/.git/. sub/.git/; rm sub/.git/config; echo $PWD/other/.git > sub/.git/commondir; git rm -qf --cached other; dirty sub",
    "other/.git/config",
  ],
  [
    "a repository in a nested repository",
    "new sub; new sub/in; git -C sub commit -qm in; git add sub; trap_in sub/in; dirty sub/in",
    "sub/in/.git/config",
  ],
  [
    "an index of version 4",
    "new a; new b; new sub; git update-index --index-version 4; trap_in sub; dirty sub",
    "sub/.git/config",
  ],
  ["a split index", "new sub; git update-index --split-index; trap_in sub; dirty sub", "sub/.git/config"],
  [
    "the person's own submodule",
    'git -C lib config filter.e.clean "touch $OUT/ran; cat"; dirty lib',
    ".git/modules/lib/config",
  ],
  ["a git directory in the place of a submodule's", "rm lib/.git; new lib; trap_in lib; dirty lib", "lib/.git/config"],
];

describe.skipIf(process.platform === "win32")(
  "Ralph's git runs no program that a turn names in a nested repository (skipped on Windows: a shell)",
  () => {
    let lab = "";
    const at = (name: string): string => join(lab, name);
    const said: string[] = [];

    beforeEach(() => {
      lab = mkdtempSync(join(tmpdir(), "ralph-nested-"));
      for (const name of ["out", "project"]) mkdirSync(at(name));
      said.length = 0;
      makeRepository(at("project"), { files: { "a.txt": "a\n" } });
      // a submodule of the person's, with a filter of its own
      shell(
        "make ../from; git -c protocol.file.allow=always submodule --quiet add $PWD/../from lib; git commit -qm lib",
      );
      shell('git -C lib config filter.e.clean "touch $OUT/own; cat"');
    });

    afterEach(() => rmSync(lab, { recursive: true, force: true }));

    function shell(command: string): void {
      const environment = { ...process.env, OUT: at("out"), ...AUTHOR };
      const end = spawnSync("sh", ["-ec", FUNCTIONS + command], {
        cwd: at("project"),
        env: environment,
        encoding: "utf8",
      });
      expect([end.stderr, end.status]).toEqual(["", 0]);
    }

    async function turn(command: string): Promise<readonly string[]> {
      const guarded = guardedHost(createHost(), (message) => said.push(message));
      const repository = await openRepository(guarded, at("project"));
      if (repository === null) throw new Error("no repository");
      guarded.guard.begin();
      shell(command);
      await guarded.guard.look();
      const { changed } = await repository.status();
      for (
        const arguments_ of [["diff", "--no-ext-diff", "HEAD"], ["add", "--all"], ["commit", "--quiet", "-m", "x"]]
      ) {
        await repository.git(arguments_);
      }
      return changed.map(({ path }) => path);
    }

    it.each(ATTEMPTS)("%s", async (_name, command, path) => {
      await turn(command);
      expect(existsSync(at("out/ran"))).toBe(false);
      expect(said.join("\n")).toContain(`set aside: ${path}`);
    });

    it("a person's submodule with changed content is seen as before, with the person's filter", async () => {
      expect(await turn("dirty lib")).toEqual(["lib"]);
      expect(existsSync(at("out/own"))).toBe(true);
      expect(said).toEqual([]);
    });

    it("the settings of the person's submodule are put back as they were", async () => {
      const before = readFileSync(at("project/.git/modules/lib/config"), "utf8");
      await turn("git -C lib config core.fsmonitor /bin/false; dirty lib");
      expect(readFileSync(at("project/.git/modules/lib/config"), "utf8")).toBe(before);
    });

    it("repositories and settings that name no program stay", async () => {
      const command =
        "new sub; git -C sub remote add origin https://example.com/x.git; git -C lib config --unset filter.e.clean; dirty sub";
      expect(await turn(command)).toContain("sub");
      expect(said).toEqual([]);
      expect(gitIn(at("project/sub"))("remote").trim()).toBe("origin");
    });

    it("a submodule that a turn removes stays removed", async () => {
      await turn("git rm -qf lib; rm -rf .git/modules/lib");
      expect(said).toEqual([]);
      expect(existsSync(at("project/lib"))).toBe(false);
      expect(existsSync(at("project/.git/modules/lib"))).toBe(false);
    });
  },
);

describe("settings that name a program", () => {
  it.each([
    '[filter "e"]\n\tclean = x\n',
    "[core] fsmonitor = x\n",
    "[core]\n\tbare = false\n\tfsmonitor = x\n",
    "[core]\n\tbare = fal\\\nse\n",
    '[core]\n[core "\\"]\n"]\n\thookspath = x\n',
    "[CORE]\n\tFsMonitor = x\n",
    "[include]\n\tpath = x\n",
    '[remote "o"]\n\tpromisor = true\n',
    '[submodule "o"]\n\tupdate = !x\n',
    "[core]\n\tsshCommand = x\n",
    "\tfsmonitor = x\n",
  ])("%j", (text) => expect(programSettings(text)).not.toEqual([]));

  it("are not those of `git init` and `git clone`", () => {
    const text =
      '[core]\r\n\trepositoryformatversion = 0\r\n; a comment\r\n[remote "origin"]\n\turl = a:b\n\tfetch = +refs/*:refs/*\n';
    expect(programSettings(text)).toEqual([]);
  });
});

const AUTHOR = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};
