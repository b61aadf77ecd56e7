import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createBrief, restoreBrief } from "../../lib/checks/brief/create_brief.ts";
import { readKept } from "../../lib/checks/brief/kept.ts";
import { changedPaths } from "../../lib/checks/brief/since_last_run.ts";
import type { Brief } from "../../lib/checks/brief/types.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";

const CONFIG = '{ "verify": { "default": ["sh check.sh"] } }\n';
const CHECK = "test -f a.txt\n";

async function world(
  protect: readonly string[] = ["check.sh", "tests/**"],
): Promise<World & { readonly brief: Brief }> {
  const one = await loopWorld(async () => {}, {
    files: { "ralph.config.json": CONFIG, "check.sh": CHECK, "tests/a.test.js": "a\n", "src/a.js": "a\n" },
    config: { protect },
  });
  return { ...one, brief: await createBrief(one.ralph, memoryBacklog([])) };
}

function text(one: World, path: string): string | null {
  return existsSync(join(one.root, path)) ? readFileSync(join(one.root, path), "utf8") : null;
}

async function paths(one: { readonly brief: Brief }): Promise<readonly string[]> {
  return (await one.brief.compare()).map(({ path }) => path);
}

describe("brief.compare()", () => {
  test("finds nothing in a tree where other files changed", async () => {
    await using one = await world();
    await one.write("src/a.js", "b\n");
    await one.write("new.js", "b\n");

    expect(await paths(one)).toEqual([]);
  });

  test.each<readonly [string, string, (one: World) => Promise<unknown>]>([
    ["the configuration", "ralph.config.json", (one) => one.write("ralph.config.json", "{}\n")],
    ["a protected file", "check.sh", (one) => one.write("check.sh", "true\n")],
    ["a protected file that is new", "tests/b.test.js", (one) => one.write("tests/b.test.js", "b\n")],
    ["a protected file that is gone", "tests/a.test.js", async (one) => rmSync(join(one.root, "tests/a.test.js"))],
    ["a mode", "check.sh", async (one) => chmodSync(join(one.root, "check.sh"), 0o755)],
    ["a recipe that appears", "ralph.recipe.ts", (one) => one.write("ralph.recipe.ts", "export default 1;\n")],
    ["a prompt that appears", ".ralph/prompts/review.md", (one) => one.write(".ralph/prompts/review.md", "x\n")],
    ["a workflow's own prompt", "scripts/ralph/prompt.md", (one) => one.write("scripts/ralph/prompt.md", "x\n")],
    ["a hook", ".git/hooks/pre-commit", (one) => one.write(".git/hooks/pre-commit", "x\n")],
    ["the exclude file", ".git/info/exclude", (one) => one.write(".git/info/exclude", "*.js\n")],
    ["attributes", ".git/info/attributes", (one) => one.write(".git/info/attributes", "* filter=x\n")],
    ["grafts", ".git/info/grafts", (one) => one.write(".git/info/grafts", "x\n")],
    ["alternates", ".git/objects/info/alternates", (one) => one.write(".git/objects/info/alternates", "/tmp\n")],
    ["a filter", ".git/config", (one) => one.git("config", "filter.x.clean", "cat stub")],
    ["the folder of hooks", ".git/config", (one) => one.git("config", "core.hooksPath", "/tmp/hooks")],
    ["fsmonitor", ".git/config", (one) => one.git("config", "core.fsmonitor", "true")],
    ["a link in the place of the file", "check.sh", async (one) => {
      rmSync(join(one.root, "check.sh"));
      symlinkSync("src/a.js", join(one.root, "check.sh"));
    }],
  ])("finds %s, and restore() brings it back", async (_, path, change) => {
    await using one = await world();
    const [before, mode] = [text(one, path), modeOf(one, path)];
    await change(one);

    expect(await paths(one)).toEqual([path]);
    await restoreBrief(one.brief);

    expect(await paths(one)).toEqual([]);
    expect(
      path === ".git/config"
        ? await one.git("config", "--get-regexp", "filter|hookspath|fsmonitor").catch(() => "")
        : "",
    )
      .toBe("");
    if (path !== ".git/config") expect([text(one, path), modeOf(one, path)]).toEqual([before, mode]);
    expect(one.brief.restored).toEqual([path]);
  });

  test.each(["--assume-unchanged", "--skip-worktree"])("is not fooled by git update-index %s", async (flag) => {
    await using one = await world();
    await one.git("update-index", flag, "check.sh");
    await one.write("check.sh", "true\n");

    expect(await paths(one)).toEqual(["check.sh"]);
  });

  test("sees a file that git ignores", async () => {
    await using one = await loopWorld(async () => {}, {
      files: { ".gitignore": ".check\n" },
      config: { protect: [".check"] },
    });
    await one.write(".check", "npm test\n");
    const brief = await createBrief(one.ralph, memoryBacklog([]));
    await one.write(".check", "true\n");

    await restoreBrief(brief);

    expect(text(one, ".check")).toBe("npm test\n");
  });

  test("keeps a file of more than 1 MB as a git object, byte by byte", async () => {
    await using one = await loopWorld(async () => {}, { config: { protect: ["data.bin"] } });
    const bytes = Buffer.alloc(1024 * 1024 + 7, Buffer.from([0, 255, 10, 13, 128]));
    writeFileSync(join(one.root, "data.bin"), bytes);
    const brief = await createBrief(one.ralph, memoryBacklog([]));
    expect(await brief.compare()).toEqual([]);
    await one.write("data.bin", "small\n");

    await restoreBrief(brief);

    expect(readFileSync(join(one.root, "data.bin")).equals(bytes)).toBe(true);
    expect(await brief.compare()).toEqual([]);
  });

  test("takes a few milliseconds", async () => {
    await using one = await world();
    const times: number[] = [];
    for (let round = 0; round < 20; round++) {
      const before = process.cpuUsage();
      await one.brief.compare();
      const { user, system } = process.cpuUsage(before); // the machine may be busy
      times.push((user + system) / 1000);
    }

    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(15); // about 1 ms on an idle machine
  });
});

describe("brief.restore()", () => {
  test("keeps what it found, and says at once how to bring it back", async () => {
    await using one = await world();
    await one.write("check.sh", "true\n");

    await restoreBrief(one.brief);

    const folder = await one.ralph.run.folder(".ralph/runs");
    const [kept] = await readKept(folder);
    expect(kept).toMatchObject({ kind: "protected", path: "check.sh" });
    expect(readFileSync(join(folder, "restored", kept?.copy ?? ""), "utf8")).toBe("true\n");
    const notes = one.events.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes).toContain(
      `restored as the run began with it: check.sh (\`ralph restore ${one.ralph.run.id}\` brings back what was found)`,
    );
  });

  test("commits the restoration where the agent committed its change, and leaves a person's own edit uncommitted", async () => {
    await using one = await loopWorld(async () => {}, {
      files: { "check.sh": CHECK, "other.txt": "a\n" },
      config: { protect: ["*.sh"] },
    });
    await one.write("check.sh", `${CHECK}# a person's, uncommitted\n`);
    const brief = await createBrief(one.ralph, memoryBacklog([]));
    await one.write("check.sh", "true\n");
    await one.write("new.sh", "true\n");
    await one.write("other.txt", "b\n");
    await one.git("add", "-A");
    await one.git("commit", "-qm", "agent");
    await one.write("other.txt", "c\n");

    await restoreBrief(brief);

    expect(await one.git("log", "--format=%s")).toBe("ralph: restore 2 files\nagent\nstart");
    expect(await one.git("show", "HEAD:check.sh")).toBe(CHECK.trim());
    expect(await one.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("README.md\ncheck.sh\nother.txt");
    expect(await one.git("show", "HEAD:other.txt")).toBe("b");
    expect(text(one, "check.sh")).toBe(`${CHECK}# a person's, uncommitted\n`);
    expect((await one.git("status", "--porcelain")).split("\n").toSorted()).toEqual(
      ["M check.sh", " M other.txt"].toSorted(),
    );
  });

  test("writes nothing through a link that leads out of the project", async () => {
    await using one = await loopWorld(async () => {}, {
      files: { "tests/a.test.js": "a\n" },
      config: { protect: ["tests/a.test.js"] },
    });
    const outside = `${one.root}-outside`;
    await mkdir(outside);
    const brief = await createBrief(one.ralph, memoryBacklog([]));
    rmSync(join(one.root, "tests"), { recursive: true });
    symlinkSync(outside, join(one.root, "tests"));

    await restoreBrief(brief);

    const reached = existsSync(join(outside, "a.test.js"));
    rmSync(outside, { recursive: true });
    expect(reached).toBe(false);
    expect(text(one, "tests/a.test.js")).toBe("a\n");
  });

  test("reports a person's own file outside of the repository once, and does not revert it", async () => {
    await using home = await loopWorld(async () => {}, {});
    await using one = await loopWorld(async () => {}, {});
    const { host } = one.ralph;
    const environment = { ...host.environment, home: home.root, variables: { ...host.environment.variables } };
    const ralph = { ...one.ralph, host: { ...host, environment } };
    const brief = await createBrief(ralph, memoryBacklog([]));
    await home.write(".npmrc", "script-shell=/bin/true\n");

    const restored = [...await restoreBrief(brief), ...await restoreBrief(brief)];

    expect(restored).toEqual([]);
    expect([brief.restored, brief.reported]).toEqual([[], ["~/.npmrc"]]);
    expect(text(home, ".npmrc")).toBe("script-shell=/bin/true\n");
    const notes = one.events.filter((event) => event.type === "note" && event.message.includes("~/.npmrc"));
    expect(notes).toHaveLength(1);
  });

  test("in a sandbox only the instructions in a home are compared, which agents can write there", async () => {
    await using home = await loopWorld(async () => {}, {});
    await using one = await loopWorld(async () => {}, {});
    const { host } = one.ralph;
    const on = { on: true, by: "bubblewrap", network: "none" } as const;
    const sandbox = {
      isWhole: true,
      ensureUsable: async () => on,
      announce: async () => on,
      [Symbol.asyncDispose]: async () => {},
    };
    const ralph = { ...one.ralph, host: { ...host, sandbox, environment: { ...host.environment, home: home.root } } };
    const brief = await createBrief(ralph, memoryBacklog([]));
    await home.write(".npmrc", "script-shell=/bin/true\n");
    await home.write(".claude/CLAUDE.md", "Approve.\n");

    expect((await brief.compare()).map(({ path }) => path)).toEqual(["~/.claude/CLAUDE.md"]);
  });

  test("in a linked worktree the settings and hooks of the repository count", async () => {
    await using one = await loopWorld(async () => {}, {});
    const tree = `${one.root}-tree`;
    execFileSync("git", ["worktree", "add", "-q", "-b", "other", tree], { cwd: one.root });
    const { createRalph } = await import("../../lib/recipe/create_ralph.ts");
    await using ralph = await createRalph({ root: tree, agent: one.ralph.agent });
    const brief = await createBrief(ralph, memoryBacklog([]));
    await one.write(".git/hooks/pre-commit", "x\n");
    writeFileSync(join(tree, ".git"), "gitdir: /elsewhere\n");

    const found = (await brief.compare()).map(({ file }) => file);
    await restoreBrief(brief);

    expect(found).toEqual([join(tree, ".git"), join(one.root, ".git/hooks/pre-commit")]);
    expect(await brief.compare()).toEqual([]);
    rmSync(tree, { recursive: true });
  });
});

describe("git's settings", () => {
  /** A repository with the branches `work`, `old` and `main`, which follow the remote `origin`. */
  async function cloned(): Promise<World & { readonly brief: Brief }> {
    const one = await loopWorld(async () => {}, { files: { "a.txt": "a\n" } });
    sh(one, "git init -q --bare .git/o; git remote add origin .git/o; git push -q origin HEAD:main HEAD:feature");
    sh(one, "git fetch -q origin; for b in work old; do git branch -q --track $b origin/main; done");
    return { ...one, brief: await createBrief(one.ralph, memoryBacklog([])) };
  }

  test.each([
    ["git branch, checkout and push", "git checkout -q -b b --track origin/feature; git push -q -u origin HEAD:b"],
    ["a branch that is renamed, and one that is deleted", "git branch -m old new; git branch -q -D work"],
    ["a remote that is new", "git remote add fork ../fork"],
    [
      "a submodule that .gitmodules names",
      `printf '[submodule "lib"]\\n\\tpath = lib\\n\\turl = ../lib\\n' > .gitmodules
      git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib; git submodule --quiet init`,
    ],
    ["what Git LFS notes", "git config lfs.repositoryformatversion 0; git config lfs.https://a.invalid/x.access basic"],
  ])("stay as a turn leaves them: %s", async (_, command) => {
    await using one = await cloned();
    const before = text(one, ".git/config");
    sh(one, command);

    expect(text(one, ".git/config")).not.toBe(before);
    expect(await one.brief.compare("git")).toEqual([]);
  });

  test.each([
    ["remote.origin.url", "git remote set-url origin ../evil"],
    ["remote.origin.pushurl", "git config remote.origin.pushurl ../evil"],
    ["remote.pushdefault", "git remote add evil ../evil; git config remote.pushDefault evil"],
    ["branch.main.remote", "git remote add evil ../evil; git config branch.main.remote evil"],
    ["branch.work.remote", "git remote add evil ../evil; git config branch.work.remote evil"],
    ["branch.work.pushremote", "git config branch.work.pushRemote ../evil"],
    ["url.../evil.insteadof", "git config url.../evil.insteadOf .git/o"],
    ["remote.evil.fetch", "git remote add --mirror=fetch evil ../evil"],
    ["push.default", "git config push.default matching"],
    ["user.name", "git config user.name Evil"],
    ["commit.gpgsign", "git config commit.gpgSign true"],
    ["core.autocrlf", "git config core.autocrlf true"],
    ["core.filemode", "git config core.fileMode false"],
    ["core.sshcommand", "git config core.sshCommand evil"],
    ["alias.co", "git config alias.co evil"],
    ["submodule.lib.url", "git config submodule.lib.url ../evil"],
  ])("%s is put back after a turn, and named", async (key, command) => {
    await using one = await cloned();
    sh(one, "git config user.name Ada");
    const brief = await createBrief(one.ralph, memoryBacklog([]));
    const before = sh(one, `git config --get-all ${key} || true`);
    sh(one, command);

    expect(await brief.compare("git")).toMatchObject([{ path: ".git/config", keys: expect.arrayContaining([key]) }]);
    await restoreBrief(brief, "git");

    expect(sh(one, `git config --get-all ${key} || true`)).toBe(before);
    expect(await brief.compare("git")).toEqual([]);
    expect(notesOf(one)).toMatch(`restored as the run began with it: .git/config (`);
    expect(notesOf(one)).toContain(key);
  });

  test("a person's change between turns counts, but for what git runs; that of a turn before it does not", async () => {
    await using one = await cloned();
    sh(one, "git remote add fork ../fork");
    await restoreBrief(one.brief, "git");
    sh(one, "git config user.email ada@example.com; git config core.hooksPath /nowhere");
    await one.brief.adoptSettings();
    sh(one, "git config user.email evil@example.com; git config branch.main.remote fork");

    await restoreBrief(one.brief, "git");

    expect(sh(one, "git config user.email; git config remote.fork.url")).toBe("ada@example.com\n../fork\n");
    expect(sh(one, "git config core.hooksPath || git config branch.main.remote || echo none")).toBe("none\n");
  });
});

function sh(one: World, command: string): string {
  return execFileSync("sh", ["-c", command], { cwd: one.root, encoding: "utf8" });
}

function notesOf(one: World): string {
  return one.events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
}

describe("changedPaths()", () => {
  test("compares what both runs have read: a file of one of them alone says nothing, unless its folder was read", () => {
    const before = { files: { a: "1", b: null, c: "1", "hooks/x": "1" }, folders: ["hooks"] };
    const now = { files: { a: "2", b: "1", d: "1", "hooks/y": "1" }, folders: ["hooks"] };

    expect(changedPaths(before, now)).toEqual(["a", "b", "hooks/x", "hooks/y"]);
  });
});

function modeOf(one: World, path: string): number | null {
  return existsSync(join(one.root, path)) ? statSync(join(one.root, path)).mode & 0o111 : null;
}
