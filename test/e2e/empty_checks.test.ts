import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const EMPTY = JSON.stringify({ verify: { default: ["true"] } });
const STORY = { id: "US-001", title: "a", priority: 1, passes: false, notes: "" };

function prd(command: string): string {
  return JSON.stringify({
    branchName: "ralph/x",
    userStories: [{ ...STORY, acceptanceCriteria: [`It works. Verify: \`${command}\``] }],
  });
}

const EXEC = { "scripts/ralph/prd.json": prd("test -f a.txt") };
const SPEC = {
  "ralph/plan.jsonl": '{"t":"spec","spec":"a.md"}\n' +
    '{"t":"task","id":"t-a","spec":"a.md","name":"a","s":"p","accept":"It works. Verify: `:`"}\n',
};
const FEATURE = { ".ralph/2026-01-31-x/prd.json": prd("test -f a.txt") };
const GSD = {
  ".planning/ROADMAP.md": "# Roadmap\n\n### Phase 1: One\n**Goal**: one\n",
  ".planning/phases/01-one/01-01-PLAN.md": "---\nphase: 01-one\nplan: 01\n---\n<objective>one</objective>\n" +
    '<tasks><task type="auto"><name>a</name><verify><automated>test -f a.txt</automated></verify></task></tasks>\n',
};
const PLAN = ".planning/phases/01-one/01-01-PLAN.md";
const GSD_EMPTY = { ...GSD, [PLAN]: GSD[PLAN].replace("test -f a.txt", "true") };
const SPRINT = { "s/SPRINT.yaml": "sprint:\n  id: s\n  name: s\n  goal: a goal\n  workflow: ralph\n" };
const AGENT = ["--agent-cmd", "echo turn >> turns", "--no-sandbox"];

describe("a check that checks nothing", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["verify.default, exec", { ...EXEC, "ralph.config.json": EMPTY }, ["run", ...AGENT]],
    ["verify.default, feature", { ...FEATURE, "ralph.config.json": EMPTY }, [
      "run",
      "x",
      "--workflow",
      "feature",
      ...AGENT,
    ]],
    ["verify.default, spec", { ...SPEC, "ralph.config.json": EMPTY }, ["build", ...AGENT]],
    ["verify.default, sprint", { ...SPRINT, "ralph.config.json": EMPTY }, ["sprint", "run", "s", ...AGENT]],
    ["verify.default, gsd", { ...GSD, "ralph.config.json": EMPTY }, ["run", ...AGENT]],
    ["verify.default, verify", { ...EXEC, "ralph.config.json": EMPTY }, ["verify"]],
    ["verify.default, gate", { "ralph.config.json": EMPTY }, ["gate"]],
    ["a flag", EXEC, ["run", "--verify", "exit 0", ...AGENT]],
    ["a flag of gate", EXEC, ["gate", "--verify", "echo ok"]],
    ["a story", { "scripts/ralph/prd.json": prd("true") }, ["run", ...AGENT]],
    ["a task of a spec", SPEC, ["build", ...AGENT]],
    ["a task of a gsd plan", GSD_EMPTY, ["run", ...AGENT]],
  ])("is refused before a turn: %s", async (_, files, line) => {
    const { stderr, read } = await ralphCli().files(files).args(...line).expectExit(2);

    expect(stderr).toMatch(/checks nothing: name a command that can fail|must be a command that can fail/);
    expect(read("turns")).toBeNull();
  });

  test.each([
    [{ ...EXEC, "ralph.config.json": EMPTY }],
    [{ "scripts/ralph/prd.json": prd("true") }],
    [GSD_EMPTY],
  ])("is an error of `ralph validate`: %#", async (files) => {
    const { stdout } = await ralphCli().files(files).args("validate").expectExit(2);

    expect(stdout).toContain("checks nothing: name a command that can fail");
  });
});
