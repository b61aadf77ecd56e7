import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const AGENT = ["--agent-cmd", "echo turn >> turns", "--no-sandbox", "--verify", "test -f a.txt"];

function stories(more: object, branch: object): string {
  const story = { id: "US-001", title: "a", acceptanceCriteria: ["Verify: `test -f a.txt`"], priority: 1 };
  return JSON.stringify({
    ...branch,
    userStories: [story, { ...story, title: "b", priority: 2 }].map((one) => ({ ...one, passes: false, ...more })),
  });
}

const EXEC = { "scripts/ralph/prd.json": stories({ notes: "" }, { branchName: "main" }) };
const FEATURE = {
  ".ralph/2026-01-31-x/prd.md": "# x\n",
  ".ralph/2026-01-31-x/prd.json": stories({}, { schemaVersion: 2, project: "x", branchName: "main" }),
};
const TASK = '{"t":"task","id":"t-1a2b","spec":"a.md","name":"a","s":"p","accept":"Verify: `test -f a.txt`"}\n';
const SPEC = { "ralph/plan.jsonl": `{"t":"spec","spec":"a.md"}\n${TASK}${TASK.replaceAll("a.txt", "b.txt")}` };

describe("an id that two stories or tasks have", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    ["exec", EXEC, ["run"], "US-001: this id is used more than once"],
    ["feature", FEATURE, ["run", "x"], "the id US-001 is used more than once"],
    ["spec", SPEC, ["build"], "line 3: t-1a2b is on line 2 already; both are kept"],
    ["spec", SPEC, ["run"], "line 3: t-1a2b is on line 2 already; both are kept"],
  ])("%s: `run` refuses it before a turn, in the words of `validate`", async (_name, files, line, words) => {
    const { stdout } = await ralphCli().files(files).args("validate", ...line.slice(1)).expectExit(2);
    const { stderr, read, git } = await ralphCli().files(files).args(...line, ...AGENT).expectExit(2);

    expect(stdout).toContain(words);
    expect(stderr).toContain(words);
    expect(read("turns")).toBeNull();
    expect(git("rev-list", "--count", "HEAD")).toBe("1");
  });
});
