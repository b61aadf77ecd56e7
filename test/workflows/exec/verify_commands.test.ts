import { describe, expect, test } from "vitest";
import { prdSummaryLines } from "../../../lib/workflows/exec/format.ts";
import { noChecks, storyCommands, verifyCommands } from "../../../lib/backlog/verify_commands.ts";

describe("verifyCommands()", () => {
  test.each<[string, readonly string[]]>([
    ["Verify: `npm test`", ["npm test"]],
    ["Tests pass. Verify: `npm test -- a` and all is well", ["npm test -- a"]],
    ["- Verify: `make a` Verify: `make b`", ["make a", "make b"]],
    ["Verify: ``echo `date` ``", ["echo `date`"]],
    ["`rm -rf /` is refused", []],
    ["Run `npm test`", []],
    ["verify `npm test`", []],
    ["verify: `npm test`", []],
    ["Reverify: `npm test`", []],
    ["Verify `npm test`", []],
    ["Verify: npm test", []],
    ["Verify: ` `", []],
    ["Verify:\n`npm test`", []],
    ["Verify: `npm test", []],
    ["Verify: the output of `ls` is empty", []],
  ])("verifyCommands() of %j is %j", (criterion, commands) => {
    expect(verifyCommands(criterion)).toEqual(commands);
  });

  test.each([
    ["verify: `npm test`", true],
    ["Verify `npm test`", true],
    ["- **Verify**: `npm test`", true],
    ["Verify: npm test", true],
    ["Verify:\n`npm test`", true],
    ["Verify: `npm test`", false],
    ["**Verify:** it by hand. Verify: `npm test`", false],
    ["Reverify: `npm test`", false],
    ["Users verify their address", false],
    ["Run `npm test`", false],
  ])("noChecks() of %j warns: %j", (criterion, warns) => {
    expect(noChecks({ id: "US-001", acceptanceCriteria: [criterion] })).toHaveLength(warns ? 1 : 0);
  });

  test("storyCommands() names a command once, in the order of the criteria", () => {
    const acceptanceCriteria = ["Verify: `b`", "text", "Verify: `a`", "Verify: `b`"];

    expect(storyCommands({ acceptanceCriteria })).toEqual(["b", "a"]);
  });
});

describe("prdSummaryLines()", () => {
  test("prdSummaryLines() shows branch, count, titles, priorities, criteria and the exact commands", () => {
    const lines = prdSummaryLines({
      branchName: "ralph/x",
      userStories: [
        { id: "US-002", title: "Second", acceptanceCriteria: ["one"], priority: 2, passes: false, notes: "" },
        {
          id: "US-001",
          title: "First",
          acceptanceCriteria: ["a", "Verify: `npm test`"],
          priority: 1,
          passes: true,
          notes: "",
        },
      ],
    });

    expect(lines).toEqual([
      "Branch: ralph/x",
      "Stories: 2 (1 passing)",
      "US-001 First (priority 1, passes)",
      "  - a",
      "  Verify: npm test",
      "US-002 Second (priority 2)",
      "  - one",
      "  no verification command of its own",
    ]);
  });
});
