import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { ralphCli } from "./cli.ts";
import { ACCEPT, feature, prd, PRD_FILE, steps, story } from "./feature_project.ts";

const OBEY = `${ACCEPT} *US-001*) echo good > US-001.txt; done_;;`;
const CONFIG = JSON.stringify({ provider: { command: "worker" }, verify: { default: ["sh -c 'exit 0;:'"] } });

describe("which feature", () => {
  test("the whole name, ignoring case, the newest of several; both forms of dates", async () => {
    const other = prd([story("US-001", { passes: true })], { branchName: "ralph/other" });
    const project = feature(OBEY, [story("US-001")]).files({
      ".ralph/2024-01-10-auth/prd.json": other,
      ".ralph/20231231-AUTH/prd.json": other,
      ".ralph/2025-01-15-user-auth/prd.json": other,
      ".ralph/20250101-pay/prd.json": prd([story("US-001")]),
      ".ralph/screenshots/prd.json": "{}",
    });
    const { stdout, root } = await project.args("status", "Auth", "--json").expectExit(0);

    expect(JSON.parse(stdout)).toMatchObject({
      feature: "auth",
      path: ".ralph/2024-01-15-auth",
      counts: { total: 1, passed: 0, open: 1 },
    });
    expect(JSON.parse((await ralphCli(root).args("next", "pay", "--json").expectExit(0)).stdout)).toMatchObject({
      feature: "pay",
      id: "US-001",
      checks: ["sh check.sh"],
    });
    const all = JSON.parse(
      (await ralphCli(root).args("status", "--workflow", "feature", "--json").expectExit(0)).stdout,
    ) as { readonly feature: string }[];
    expect(all.map((one) => one.feature)).toEqual(["auth", "pay", "user-auth"]);
  });

  test("the same day twice is an error that names both", async () => {
    const { stderr } = await feature(OBEY, [story("US-001")]).files({
      ".ralph/20240115-auth/prd.json": prd([story("US-001")]),
    }).args("run", "auth").expectExit(2);

    expect(stderr).toContain(".ralph/2024-01-15-auth");
    expect(stderr).toContain(".ralph/20240115-auth");
  });

  test("left out: the only unfinished one, said; of several a list", async () => {
    const first = await feature(OBEY, [story("US-001")], { workflow: "feature" })
      .files({
        ".ralph/2024-01-01-old/prd.json": prd([story("US-001", { passes: true })], {
          run: { verifiedAt: "2024-01-02T00:00:00Z" },
        }),
      })
      .args("run").expectExit(0);
    expect(first.stderr).toContain("feature auth (the only one that is not finished)");

    const { stderr } = await feature(OBEY, [story("US-001")]).files({
      ".ralph/2024-01-01-old/prd.json": prd([story("US-001")]),
    }).args("run").expectExit(2);
    expect(stderr).toMatch(/which feature\? 2 features are not finished: old, auth/);
  });

  test.each([
    [["run", "nope"], "there is no feature nope: there are: auth", "`ralph prd nope` begins it"],
    [["run", "5"], "`5` is no name for a feature", "`ralph run --max-iterations 5`"],
    [["status", "../x"], "`../x` is no name for a feature", ""],
    [["run", "auth", "--workflow", "exec"], "takes no argument", "`ralph run auth --workflow feature`"],
  ])("%j", async (args, problem, hint) => {
    const { stderr } = await feature(OBEY, [story("US-001")]).args(...args).expectExit(2);

    expect(stderr).toContain(problem);
    expect(stderr).toContain(hint);
  });
});

describe("what is wrong with the files", () => {
  test("ralph validate tells every problem of the configuration and the PRD at once", async () => {
    const config = {
      services: [{}, { name: "a", ready: "not a url" }],
      verify: { default: "x" },
      browser: { headles: true },
    };
    const bad = {
      schemaVersion: 1,
      userStories: [{ id: "US-001", acceptanceCriteria: [] }, { title: "t", acceptanceCriteria: ["a"], priority: "1" }],
    };
    const { stdout } = await ralphCli().files({
      "ralph.config.json": JSON.stringify(config),
      [PRD_FILE]: JSON.stringify(bad),
    }).args("validate", "auth", "--json").expectExit(2);

    const { files } = JSON.parse(stdout) as { readonly files: readonly { readonly problems: readonly string[] }[] };
    expect(files[0]?.problems).toEqual([
      expect.stringMatching(/^line 1, column \d+: services\[0\]\.name is required$/),
      expect.stringMatching(/: services\[0\]\.ready is required$/),
      expect.stringMatching(/: services\[1\]\.ready: must be an http or https URL/),
      expect.stringMatching(/: verify\.default: expected array, received string/),
      expect.stringMatching(/: browser\.headles is not a key .* did you mean `browser\.headless`\?$/),
    ]);
    expect(files[1]?.problems).toEqual([
      "invalid schemaVersion: expected 2, got 1",
      "missing required field: project",
      "missing required field: branchName",
      expect.stringContaining("userStories[0]: missing title"),
      expect.stringContaining("userStories[0]: missing acceptanceCriteria"),
      expect.stringContaining("userStories[1]: missing id"),
      expect.stringContaining("userStories[1].priority must be a number"),
    ]);
  });

  test("an agent, checks that can fail, and stories are asked for", async () => {
    const { stdout } = await ralphCli().files({
      "ralph.config.json": '{"workflow": "feature", "verify": {"ui": ["echo ok"]}}',
      [PRD_FILE]: prd([]),
    }).args("validate").expectExit(2);

    for (
      const problem of [
        "provider.command is required",
        "verify.default must have at least one command",
        "`echo ok` checks nothing",
        "userStories must have at least one story",
      ]
    ) {
      expect(stdout).toContain(problem);
    }
    const missing = await ralphCli().files({ [PRD_FILE]: prd([story("US-001")]) }).args("validate", "auth").expectExit(
      2,
    );
    expect(missing.stdout).toContain("ralph.config.json not found: run `ralph init` to create one");
  });

  test("ralph run refuses what cannot be read, before any agent: no configuration, no PRD, no stories, broken JSON", async () => {
    const runs: readonly (readonly [files: Record<string, string>, problem: string])[] = [
      [{ [PRD_FILE]: prd([story("US-001")]) }, "ralph.config.json not found"],
      [{ "ralph.config.json": CONFIG, ".ralph/2024-01-15-auth/prd.md": "# x" }, "`ralph prd auth` makes it of prd.md"],
      [{ "ralph.config.json": CONFIG, [PRD_FILE]: prd([]) }, "userStories must have at least one story"],
      [{ "ralph.config.json": CONFIG, [PRD_FILE]: '{"schemaVersion": 2,' }, "not valid JSON: line 1, column 21"],
      [
        { "ralph.config.json": '{"services": [{"name": "a", "ready": "nope"}]}', [PRD_FILE]: prd([story("US-001")]) },
        "services[0].ready: must be an http or https URL",
      ],
    ];
    for (const [files, problem] of runs) {
      const { stderr, read } = await ralphCli().files(files).agent("worker", "touch ran").args("run", "auth")
        .expectExit(2);
      expect(stderr).toContain(problem);
      expect(read("ran")).toBeNull();
    }
  });

  test("a branch that cannot be made ends the run before any turn and leaves everything as it was", async () => {
    for (const [branchName, command, exit] of [["ralph", "git branch ralph/x", 1], ["no..good", "true", 2]] as const) {
      const result = await feature(OBEY, []).files({ [PRD_FILE]: prd([story("US-001")], { branchName }) }).before(
        command,
      ).args("run", "auth").expectExit(exit);
      expect(result.stderr).toMatch(new RegExp(`branch.*${branchName}`));
      expect(steps(result)).toEqual([]);
      expect(result.git("status", "--porcelain", "--", PRD_FILE)).toBe("");
    }
  });

  test("stories without a check block with the ways out, before any turn", async () => {
    const { stderr, read } = await feature("*) touch ran;;", [story("US-001")], { verify: {} }).args("run", "auth")
      .expectExit(3);

    expect(stderr).toContain("US-001");
    expect(read("ran")).toBeNull();
  });
});

describe("ralph init --workflow feature", () => {
  test("without a terminal it writes the check that it found, and says that no agent is named", async () => {
    const { stderr, read } = await ralphCli().files({ "package.json": '{"scripts": {"test": "node --test"}}' })
      .args("init", "--workflow", "feature").expectExit(0);

    expect(stderr).toContain("found in package.json: `npm test`");
    expect(stderr).toContain("no agent was named");
    expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({
      workflow: "feature",
      verify: { default: ["npm test"] },
    });
  });

  test("flags are the yes; a placeholder is refused; a second time changes nothing", async () => {
    const { read, root } = await ralphCli().args(
      "init",
      "--workflow",
      "feature",
      "--agent-cmd",
      "my-agent",
      "--verify",
      "npm test",
    ).expectExit(0);
    expect(JSON.parse(read("ralph.config.json") ?? "")).toEqual({
      $schema: "./.ralph/schema/config.json",
      workflow: "feature",
      provider: { command: "my-agent" },
      verify: { default: ["npm test"] },
    });
    expect(read(".ralph/.gitignore")).toBe("ralph.lock\nprd.json.lock\n*.tmp\nscreenshots/\nruns/\n");

    writeFileSync(join(root, ".ralph/.gitignore"), "mine\n");
    await ralphCli(root).args("init", "--agent-cmd", "other", "--verify", "x").expectExit(0);
    expect(readFileSync(join(root, ".ralph/.gitignore"), "utf8")).toBe("mine\n");
    expect(read("ralph.config.json")).toContain("my-agent");

    const refused = await ralphCli().args("init", "--workflow", "feature", "--agent-cmd", "a", "--verify", "echo ok")
      .expectExit(2);
    expect(refused.stderr).toContain("a command that can fail");
    expect(refused.read("ralph.config.json")).toBeNull();
  });

  test("in a terminal it shows agent and checks; a no writes nothing", needs("make"), async () => {
    const cli = (): ReturnType<typeof ralphCli> =>
      ralphCli().files({ Makefile: "test:\n\ttrue\n" }).agent("claude", "exit 0");
    const yes = await cli().args("init", "--workflow", "feature")
      .terminal(["Set this project up", "\r"]).expectExit(0);
    expect(JSON.parse(yes.read("ralph.config.json") ?? "")).toMatchObject({
      provider: { preset: "claude" },
      verify: { default: ["make test"] },
    });

    const no = await cli().args("init", "--workflow", "feature")
      .terminal(["Set this project up", "n"]).expectExit(0);
    expect(no.read("ralph.config.json")).toBeNull();
    expect(no.read(".ralph/.gitignore")).toBeNull();
  });
});
