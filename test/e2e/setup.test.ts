import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { type CliResult, ralphCli } from "./cli.ts";

describe("setting a project up", () => {
  test("where no agent is on PATH, one's own with a server whose key is there is named: by exec and by init", async () => {
    const bare = { PATH: "/usr/bin:/bin", OPENROUTER_API_KEY: "sk-none" };
    const { stderr } = await ralphCli().env(bare).args("exec", "add x", "--approve", "all").expectExit(4);
    expect(stderr).toContain("OPENROUTER_API_KEY is set: `--agent builtin --endpoint openrouter` works with it");
    const init = await ralphCli().env(bare).args("init").expectExit(0);
    expect(init.stderr).toContain(
      "openrouter (OPENROUTER_API_KEY is set): `ralph init --agent builtin --endpoint openrouter`",
    );
  });

  test("`ralph init` without a terminal writes the flags and the checks that it found, and no agent", async () => {
    const { git, read, stderr } = await ralphCli().files({ "package.json": '{"scripts": {"test": "node --test"}}' })
      .agent("claude", "exit 0").args("init", "--model", "big", "--timeout", "5m").expectExit(0);
    const { $schema, ...config } = JSON.parse(read("ralph.config.json") ?? "");

    expect(config).toEqual({ provider: { model: "big", timeout: 300 }, verify: { default: ["npm test"] } });
    expect(stderr).toContain("no agent was named; on PATH: claude: `ralph init --agent claude`");
    expect(stderr).toContain("found in package.json: `npm test`");
    expect(git("status", "--porcelain", "-uall")).toBe("?? ralph.config.json");
    const { stdout } = await ralphCli().args("schema", "config").expectExit(0);
    expect(JSON.parse(read($schema) ?? "")).toEqual(JSON.parse(stdout));
  });

  test("`ralph init` says what is to be done first where there is no repository, and writes nothing into a bare one", async () => {
    const { root, stderr } = await ralphCli().before("rm -rf .git").args("init").expectExit(0);
    const bare = await ralphCli().before("rm -rf .git * && git init -q --bare .").args("init").expectExit(2);
    const status = await ralphCli(bare.root).args("status").start().ended();

    expect(stderr).toContain('next: `git init`, then commit ralph.config.json, then `ralph exec "<goal>"`');
    expect(existsSync(join(root, "ralph.config.json"))).toBe(true);
    expect(bare.stderr).toContain("error: [ROOT] is a bare git repository: there are no files to work on");
    expect(bare.stderr).toContain("hint: `git clone [ROOT] FOLDER` makes a working tree; run Ralph there");
    expect(existsSync(join(bare.root, "ralph.config.json"))).toBe(false);
    expect(status.stdout).toContain("a bare git repository: Ralph works in a clone of it");
  });

  test.each(["spec", "sprint", "gsd", "feature"])(
    "`ralph init --workflow %s` writes what its flags say",
    async (workflow) => {
      const { read } = await ralphCli().agent("claude", "echo 2.1.0").args(
        "init",
        "--workflow",
        workflow,
        "--agent",
        "claude",
        "--model",
        "opus",
        "--verify",
        "npm test",
      ).before("mkdir -p .planning && touch .planning/PROJECT.md").expectExit(0);

      const config: unknown = JSON.parse(read("ralph.config.json") ?? "{}");
      expect(config).toMatchObject({
        provider: { preset: "claude", model: "opus" },
        verify: { default: ["npm test"] },
      });
    },
  );

  test("`ralph init` adds what flags say to a configuration that is there, and keeps what it has", async () => {
    const config = { maxRetries: 7, verify: { default: ["make a"], timeout: 9 } };
    const init = (root: string, ...args: readonly string[]): ReturnType<typeof ralphCli> =>
      ralphCli(root).args("init", ...args);
    const first = await ralphCli().files({ "ralph.config.json": JSON.stringify(config, null, 2) })
      .args("init", "--agent", "claude", "--verify", "npm test").expectExit(0);
    const verify = { default: ["make a", "npm test"], timeout: 9 };
    const whole = { ...config, verify, provider: { preset: "claude" } };
    expect(JSON.parse(first.read("ralph.config.json") ?? "")).toEqual(whole);
    expect(first.stderr).not.toContain("warning");

    const second = await init(first.root, "--agent-cmd", "mine", "--model", "opus").expectExit(0);
    expect(JSON.parse(second.read("ralph.config.json") ?? "")).toEqual({
      ...whole,
      provider: { preset: "claude", model: "opus" },
    });
    expect(second.stderr).toContain("warning: ralph.config.json keeps its own value instead of --agent-cmd");
    expect(second.stderr).not.toContain("--model");

    const third = await init(first.root).expectExit(0);
    expect(third.read("ralph.config.json")).toBe(second.read("ralph.config.json"));
  });

  test("`ralph init --dry-run` prints the configuration and writes nothing", async () => {
    const { git, stdout } = await ralphCli().args("init", "--agent", "claude", "--verify", "make test", "--dry-run")
      .expectExit(0);

    expect(JSON.parse(stdout)).toEqual({ provider: { preset: "claude" }, verify: { default: ["make test"] } });
    expect(git("status", "--porcelain", "--ignored")).toBe("");
  });

  test(
    "`ralph init` in a terminal shows one screen, and tries the checks once after the yes",
    needs("make"),
    async () => {
      const { git, read, stdout } = await ralphCli().files({
        Makefile: "test:\n\t@true\nlint:\n\t@echo untidy; false\n",
      })
        .agent("claude", "exit 0").args("init")
        .terminal(["Set this project up", "\r"]).expectExit(0);

      expect(stdout).toMatch(/agent +claude \(tested with/);
      expect(stdout).toMatch(/checks +make test; make lint/);
      expect(stdout).toContain("it can edit files and run commands here without asking");
      expect(stdout).toMatch(/✗ make lint: fails now, exit code 2/);
      expect(stdout).toContain("left out: make lint");
      expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({
        provider: { preset: "claude" },
        verify: { default: ["make test"] },
      });
      expect(git("status", "--porcelain", "-uall")).toBe("?? ralph.config.json");
    },
  );

  test("the first screen offers the issues of the repository at GitHub, or those of beads", async () => {
    const screenAfter = (command: string): Promise<CliResult> =>
      ralphCli().files({ Makefile: "test:\n\t@true\n" }).agent("claude", "exit 0").args("init").before(command)
        .terminal(["Set this project up", "n"]).expectExit(0);

    const first = await screenAfter("git remote add origin git@github.com:acme/shop.git");
    const second = await screenAfter("mkdir .beads");
    const third = await screenAfter("git remote add origin https://git.example.invalid/acme/shop");

    expect(first.stdout).toMatch(
      /issues +acme\/shop: `ralph run --tracker github` works off those with the label\s+ralph/,
    );
    expect(second.stdout).toMatch(/issues +`ralph run --tracker beads`/);
    expect(third.stdout).not.toContain("--tracker");
  });

  test("`ralph init` asks again for an agent whose program is not there, and takes it when it is given twice", async () => {
    const { read, stdout } = await ralphCli().env({ PATH: "/usr/bin:/bin" }).args("init", "--verify", "make test")
      .terminal(["Set this project up", "y"], ["Which command", "absent --yes\r"], [
        "is not on PATH",
        "absent --yes\r",
      ]).expectExit(0);

    expect(stdout).toContain("absent is not on PATH: name another, or give it again to keep it");
    expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({ provider: { command: "absent --yes" } });
  });

  test("another agent takes the place of the one that was found", async () => {
    const { read } = await ralphCli().agent("claude", "exit 0").args("init", "--verify", "make test")
      .terminal(["Set this project up", "a"], ["Which agent", "\u001b[B\r"], ["Which command", "cat -\r"], [
        /agent +cat -/,
        "y",
      ]).expectExit(0);

    expect(JSON.parse(read("ralph.config.json") ?? "").provider).toEqual({ command: "cat -" });
  });

  test("`ralph init` takes other checks by a key, and Ctrl-C keeps what was answered", async () => {
    const { read } = await ralphCli().files({ Makefile: "test:\n\t@true\n" }).agent("claude", "exit 0").args("init")
      .terminal(["Set this project up", "c"], ["Which command", "make other\r"], [
        /checks +make other/,
        "\u0003",
      ]).expectExit(130);

    expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({ verify: { default: ["make other"] } });
    expect(read("ralph.config.json")).not.toContain("claude");
  });

  test(
    "checks that all fail are shown again before anything is written, and one that cannot run is not selected",
    needs("make"),
    async () => {
      const makefile = "test:\n\t@false\ncheck:\n\tno-such-tool\n";
      const { read, stdout } = await ralphCli().files({ Makefile: makefile }).agent("claude", "exit 0").args("init")
        .terminal(["Set this project up", "y"], [/checks +make test \(fails now/, "y"]).expectExit(0);

      expect(stdout).toContain("left out: make check (cannot run: no-such-tool was not found)");
      expect(stdout).toMatch(
        /Found here; nothing of the project has run:[^]*A yes tries the checks once[^]*Found here, as tried:/,
      );
      expect(stdout).toContain("repair it first, or press c");
      expect(stdout.slice(stdout.indexOf("as tried"))).not.toContain("A yes tries");
      expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({ verify: { default: ["make test"] } });
    },
  );

  test("Enter does not choose checks that fail: it leads to others, and none is an answer", async () => {
    const { read } = await ralphCli().files({ Makefile: "test:\n\t@false\n" }).agent("claude", "exit 0").args("init")
      .terminal(
        ["Set this project up", "\r"],
        [/\[y\] .*\[C\] other checks/, "\r"],
        ["Which command", "\r"],
        [/checks +none|checks +-|no check/i, "y"],
      ).expectExit(0);

    expect(JSON.parse(read("ralph.config.json") ?? "").verify?.default ?? []).toEqual([]);
  });

  test("a sprint that `ralph init` made compiles; `ralph next` tells its next iteration", async () => {
    const { root } = await ralphCli().args("init", "--workflow", "sprint").expectExit(0);
    await ralphCli(root).args("sprint", "compile", ".claude/sprints/first").expectExit(0);
    const { stdout } = await ralphCli(root).args("next").expectExit(0);
    expect(stdout).toBe("planning Say here what is to be reached, and how one can tell that it is.\niteration 1\n");

    await ralphCli(root).args("step", "add", "write it").expectExit(0);
    const { stdout: json } = await ralphCli(root).args("next", "--json").expectExit(0);
    expect(JSON.parse(json)).toMatchObject({ status: "item", mode: "executing", step: { id: "step-1" } });
  });
});
