import { describe, expect, test } from "vitest";
import { parsePlan } from "../../../lib/workflows/gsd/plan_file.ts";
import type { PlanDocument } from "../../../lib/workflows/gsd/types.ts";

const FENCE = "```";

function read(...lines: readonly string[]): PlanDocument {
  return parsePlan(lines.join("\n"), "01-01-PLAN.md").plan;
}

function commandsOf(plan: PlanDocument): readonly string[] {
  return [...plan.tasks, plan.verification].flatMap(({ commands }) => commands.map(({ command }) => command));
}

function problemsOf(...lines: readonly string[]): readonly string[] {
  return parsePlan(lines.join("\n"), "01-01-PLAN.md").diagnostics.map(({ file, line, message }) =>
    `${file}:${line}: ${message}`
  );
}

describe("no check is dropped in silence", () => {
  test.each([
    ["behind the name", "<task>", "<name>Two</name><verify><automated>false</automated></verify>", "</task>"],
    ["a task on one line", "<task><name>Two</name><verify><automated>false</automated></verify></task>"],
    [
      "behind the wrapper",
      "<tasks><task><name>Two</name> <verify><automated>false</automated></verify></task></tasks>",
    ],
    [
      "a command with what it expects",
      "<task><name>Two</name><verify><command>false</command><expect>exit 0</expect></verify></task>",
    ],
  ])("a task that shares a line with other tags is read: %s", (_, ...lines) => {
    const plan = read(...lines);

    expect([plan.tasks.map(({ name }) => name), commandsOf(plan)]).toEqual([["Two"], ["false"]]);
    expect(problemsOf(...lines)).toEqual([]);
  });

  test("two tasks on one line are two tasks", () => {
    const plan = read("<task><name>One</name><action>a</action></task><task><name>Two</name></task>");

    expect(plan.tasks.map(({ name }) => name)).toEqual(["One", "Two"]);
  });

  test.each([
    [
      "behind words",
      "<task>",
      "<name>A</name>",
      "<verify>",
      "Run it: <automated>npm test</automated>",
      "</verify>",
      "</task>",
    ],
    [
      "outside of a verification",
      "<task>",
      "<name>A</name>",
      "<action>",
      "x",
      "<automated>npm test</automated>",
      "</action>",
      "</task>",
    ],
    ["in an unknown element", "<notes>", "<command>npm test</command>", "</notes>"],
  ])("one that cannot be read is reported: %s", (_, ...lines) => {
    expect(commandsOf(read(...lines))).toEqual([]);
    expect(problemsOf(...lines)).toEqual([
      `01-01-PLAN.md:${lines.findIndex((line) => line.includes("npm test")) + 1}: ` +
      "a check outside of `<verify>` and `<verification>`, or behind other text on its line: not run",
    ]);
  });

  test("words about a tag are no check: in code, in a fence, and a placeholder", () => {
    expect(problemsOf(
      "<objective>",
      "Write `<automated>npm test</automated>` and git <command> --flag.",
      FENCE,
      "<automated>x</automated>",
      FENCE,
      "</objective>",
    )).toEqual([]);
  });
});
