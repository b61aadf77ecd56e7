import { describe, expect, test } from "vitest";
import { PROJECT } from "../workflows/gsd/planning.ts";
import { type Cli, ralphCli } from "./cli.ts";

/** Notes its arguments, and leaves what each of the sessions is for. */
const CLAUDE =
  'printf "%s\\n" "$@" > args.txt; cd .planning 2>/dev/null || { mkdir .planning; cd .planning; }; mkdir -p phases/01-base; touch PROJECT.md ROADMAP.md phases/01-base/01-RESEARCH.md';
const OLD = {
  ".claude/commands/gsd/new-project.md": "",
  ".claude/commands/gsd/create-roadmap.md": "",
  ".claude/commands/gsd/research-phase.md": "",
  ".claude/commands/gsd/plan-phase.md": "",
};
const NEW = { ".claude/skills/gsd-new-project/SKILL.md": "", ".claude/skills/gsd-plan-phase/SKILL.md": "" };

function project(files: Readonly<Record<string, string>>, script = CLAUDE): Cli {
  return ralphCli().files(files).agent("claude", script);
}

describe("GSD's planning commands", () => {
  test.each([
    ["init", ["init", "--workflow", "gsd"], OLD, "/gsd:new-project"],
    ["roadmap", ["roadmap"], { ...OLD, ".planning/PROJECT.md": "" }, "/gsd:create-roadmap"],
    ["discover", ["discover", "1"], { ...OLD, ...PROJECT }, "/gsd:research-phase 1"],
    ["discover without a phase", ["discover"], { ...OLD, ...PROJECT }, "/gsd:research-phase"],
    ["plan", ["plan", "2"], { ...OLD, ...PROJECT }, "/gsd:plan-phase 2"],
    ["plan, by the only state there is", ["plan"], { ...OLD, ...PROJECT }, "/gsd:plan-phase"],
    ["plan of a newer GSD", ["plan", "01"], { ...NEW, ...PROJECT }, "/gsd-plan-phase 01"],
    ["discover of a newer GSD", ["discover", "1"], { ...NEW, ...PROJECT }, "/gsd-plan-phase 1 --research-phase"],
    ["a configured command", ["plan", "1"], {
      ...OLD,
      ...PROJECT,
      "ralph.config.json": '{"gsd":{"commands":{"plan":"/my:planner"}}}',
    }, "/my:planner 1"],
    ["a configured command whose prefix is another by now", ["plan", "1"], {
      ...NEW,
      ...PROJECT,
      "ralph.config.json": '{"gsd":{"commands":{"plan":"/gsd:plan-phase"}}}',
    }, "/gsd-plan-phase 1"],
  ])("%s hands the terminal to claude with the slash command", async (_, args, files, command) => {
    const { read, stderr } = await project(files).args(...args).expectExit(0);

    expect(read("args.txt")).toBe(`${command}\n`);
    expect(stderr).toContain(`handing the terminal to claude: ${command}\n`);
  });

  test("a check whose program is not installed ends it before the session, which is paid for", async () => {
    const files = { ...OLD, ...PROJECT, "ralph.config.json": '{"verify":{"default":["no-such-runner --all"]}}' };
    const { stderr, read } = await project(files).args("plan", "1").expectExit(3);

    expect(stderr).toContain("no-such-runner --all cannot run: no-such-runner was not found");
    expect(read("args.txt")).toBeNull();
  });

  test("the agent that is configured gets the terminal, without the flags of its unattended form", async () => {
    const files = {
      ...OLD,
      ...PROJECT,
      "ralph.config.json": '{"provider":{"command":"claude -p --dangerously-skip-permissions"}}',
    };
    const known = await project(files).args("plan", "1").expectExit(0);
    const other = await project(files).agent("mine", CLAUDE).args("plan", "1", "--agent-cmd", "mine --fast").expectExit(
      0,
    );

    expect(known.read("args.txt")).toBe("/gsd:plan-phase 1\n");
    expect(other.read("args.txt")).toBe("--fast\n/gsd:plan-phase 1\n");
  });

  test.each([
    [
      "of a known agent, chosen in the configuration",
      { preset: "claude", model: "opus" },
      [],
      "--plan\n--model\nopus\n",
    ],
    [
      "of a known agent, chosen by flag",
      { preset: "claude", model: "opus" },
      ["--agent", "claude"],
      "--plan\n--model\nopus\n",
    ],
    ["of a command", { command: "claude -p --fast" }, [], "--fast\n--plan\n"],
    ["of the agent that GSD is made for", {}, [], "--plan\n"],
    ["but not those of another agent", { preset: "codex" }, ["--agent", "claude"], ""],
    ["nor those of another command", { command: "mine" }, ["--agent-cmd", "claude"], ""],
  ])("interactiveArgs are the arguments %s", async (_, provider, args, expected) => {
    const config = JSON.stringify({ provider: { ...provider, interactiveArgs: ["--plan"] } });

    const { read } = await project({ ...OLD, ...PROJECT, "ralph.config.json": config }).args("plan", "1", ...args)
      .expectExit(0);

    expect(read("args.txt")).toBe(`${expected}/gsd:plan-phase 1\n`);
  });

  test("a known agent without a session of its own has one by interactiveArgs", async () => {
    const config = (provider: object): string => JSON.stringify({ provider: { preset: "amp", ...provider } });
    const cli = (provider: object): Cli =>
      ralphCli().files({ ...OLD, ...PROJECT, "ralph.config.json": config(provider) }).agent("amp", CLAUDE);

    const without = await cli({}).args("plan", "1").expectExit(4);
    const with_ = await cli({ interactiveArgs: ["--talk"] }).args("plan", "1").expectExit(0);

    expect(without.stderr).toContain("amp cannot be handed the terminal");
    expect(with_.read("args.txt")).toBe("--talk\n/gsd:plan-phase 1\n");
  });

  test("the terminal is the person's while the agent has it", async () => {
    const { read, stdout } = await project(
      { ...OLD, ...PROJECT },
      'echo "what next?"; read -r answer; echo "$answer" > answer.txt',
    ).args("plan", "1", "--agent-cmd", "claude")
      .terminal(["what next?", "more\n"]).expectExit(0);

    expect(read("answer.txt")).toBe("more\n");
    expect(stdout).toContain("next: `ralph run`, or `ralph run --loop`");
  });

  test.each([
    [["init", "--workflow", "gsd"], "the session left no .planning/PROJECT.md"],
    [["roadmap", "--workflow", "gsd"], "the session left no .planning/ROADMAP.md"],
    [["discover", "1"], "the session left no DISCOVERY.md or RESEARCH.md for phase 1"],
    [["plan", "3"], "the session left no plan for phase 3"],
  ])("%j whose session leaves nothing has not passed", async (args, says) => {
    const begun = ["discover", "plan"].includes(args[0] ?? "");
    const files = { ...OLD, ...(begun ? { ...PROJECT, ".planning/phases/03-last/03-CONTEXT.md": "x" } : {}) };

    const { stderr } = await project(files, "true").args(...args).expectExit(1);

    expect(stderr).toContain(`${says}: the same command begins again`);
    expect(stderr).not.toContain("next: ");
  });

  test("the next command names the phase that was researched", async () => {
    const { stderr } = await project({ ...OLD, ...PROJECT }).args("discover", "1").expectExit(0);

    expect(stderr).toContain("next: `ralph plan 1`");
  });

  test("a phase without research: said, with the command that does it", async () => {
    const without = await project({ ...OLD, ...PROJECT }).args("plan", "1").expectExit(0);
    const researched = await project({ ...OLD, ...PROJECT, ".planning/phases/01-base/DISCOVERY.md": "x" }).args(
      "plan",
      "1",
    ).expectExit(0);

    expect(without.stderr).toContain(
      "phase 1 has no DISCOVERY.md or RESEARCH.md: `ralph discover 1` looks into it first\n",
    );
    expect(researched.stderr).not.toContain("DISCOVERY");
  });

  test.each([
    [
      "GSD is missing",
      {},
      ["init", "--workflow", "gsd"],
      4,
      /GSD is not installed.*\nhint: `npx get-shit-done-cc` installs GSD/,
    ],
    [
      "a command that this GSD has dropped",
      { ...NEW, ".planning/PROJECT.md": "" },
      ["roadmap"],
      4,
      /has no command create-roadmap\nhint: newer versions of GSD make the roadmap when the project begins.*installed: \/gsd-new-project, \/gsd-plan-phase/,
    ],
    [
      "a configured command that is not installed",
      { ...OLD, ...PROJECT, "ralph.config.json": '{"gsd":{"commands":{"plan":"/gsd:plan-it"}}}' },
      ["plan", "1"],
      4,
      /gsd\.commands\.plan is \/gsd:plan-it, which is not installed/,
    ],
    ["no such phase", { ...OLD, ...PROJECT }, ["plan", "7"], 2, /there is no phase 7\nhint: phases: 01, 02/],
    ["no phase at all", { ...OLD, ...PROJECT }, ["plan", "the base"], 2, /the base is no phase/],
    [
      "another workflow was asked for",
      { ...OLD, ...PROJECT },
      ["plan", "1", "--workflow", "exec"],
      2,
      /1 is a number, not a goal/,
    ],
    [
      "the roadmap of another workflow",
      { ...OLD, ...PROJECT },
      ["roadmap", "--workflow", "exec"],
      2,
      /`ralph roadmap` belongs to the workflow gsd, not exec/,
    ],
    ["no project yet", OLD, ["plan", "1"], 2, /\.planning does not exist\nhint: `ralph init --workflow gsd` begins/],
  ])("%s", async (_, files, args, exitCode, says) => {
    const { stderr, read } = await project(files).args(...args).expectExit(exitCode);

    expect(stderr).toMatch(says);
    expect(read("args.txt")).toBe(null);
  });

  test("without any agent: how to install one, exit 4", async () => {
    const { stderr } = await ralphCli().files({ ...OLD, ...PROJECT }).env({ PATH: "/usr/bin:/bin" }).args("plan", "1")
      .expectExit(4);

    expect(stderr).toMatch(/no agent is configured\nhint: GSD runs in an agent: install Claude Code/);
  });

  test("an agent that ends badly is told; init on a project that is there starts nothing", async () => {
    const bad = await project({ ...OLD, ...PROJECT }, "exit 3").args("plan", "1").expectExit(1);
    const there = await project({ ...OLD, ".planning/PROJECT.md": "x" }).args("init").expectExit(0);

    expect(bad.stderr).toContain("the agent ended with exit code 3");
    expect(there.stderr).toContain(".planning/PROJECT.md is there already: nothing was started");
  });
});
