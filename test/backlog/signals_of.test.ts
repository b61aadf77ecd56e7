import { describe, expect, test } from "vitest";
import { blockedReason, saysPassing, signalsOf, stripMarks } from "../../lib/backlog/signals.ts";

const NONCE = "k3f9ab";

describe("signals", () => {
  test.each([
    [["<ralph>DONE</ralph>"], true],
    [["<ralph>DONE</ralph>", "more"], false],
    [[`<ralph ${NONCE}>DONE</ralph>`, "more"], true],
    [["<ralph zzzzzz>DONE</ralph>"], false],
    [["<ralph>LEARNING:x</ralph> <ralph>DONE</ralph>"], true],
    [["say <ralph>DONE</ralph>"], false],
    [["<ralph>DONE</ralph> and more"], false],
  ])("%j speaks for passing: %s", (lines, passing) => expect(saysPassing(lines, NONCE, "DONE")).toBe(passing));

  test("every form is read, with its nonce and its value", () => {
    const lines = [
      `<promise ${NONCE}>COMPLETE</promise>`,
      `###PLAN_COMPLETE ${NONCE}###`,
      "###BLOCKED:issue #12 ### here###",
      `<review ${NONCE}>approve</review>`,
      "<review>REJECT: a: b</review>",
      `RALPH_COMPLETE ${NONCE}: all of it`,
      `[RALPH] PLAN_COMPLETE ${NONCE}: Added 0 tasks`,
    ];

    expect(signalsOf(lines, NONCE).map(({ form, name, value, sealed }) => [form, name, value, sealed])).toEqual([
      ["promise", "COMPLETE", "", true],
      ["hashes", "PLAN_COMPLETE", "", true],
      ["hashes", "BLOCKED", "issue #12 ### here", false],
      ["review", "APPROVE", "", true],
      ["review", "REJECT", "a: b", false],
      ["line", "RALPH_COMPLETE", "all of it", true],
      ["line", "PLAN_COMPLETE", "Added 0 tasks", true],
    ]);
  });

  test.each([
    `**RALPH_COMPLETE ${NONCE}:** all of it`,
    `## RALPH_COMPLETE ${NONCE}: all of it`,
    `- **RALPH_COMPLETE ${NONCE}**: all of it`,
  ])("a line is read as Markdown dresses it: %s", (line) => {
    expect(signalsOf([stripMarks(line)], NONCE)).toMatchObject([{ name: "RALPH_COMPLETE", value: "all of it" }]);
  });

  test("a long line that only looks like signals costs no time", () => {
    const before = process.cpuUsage();

    const lines = [
      `${"<ralph>LEARNING:x</ralph> ".repeat(20_000)}x`,
      `###BLOCKED:${" ".repeat(200_000)}x`,
      `<review>REJECT:${" ".repeat(200_000)}`,
    ];
    expect(signalsOf(lines, NONCE)).toEqual([]);
    const { user, system } = process.cpuUsage(before); // the machine may be busy
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  test.each([
    [["<ralph>BLOCKED: no key</ralph>", "Sorry."], "no key"],
    [[`<ralph ${NONCE}>BLOCKED: no key</ralph>`], "no key"],
    [[`<ralph ${NONCE}>BLOCKED: [why]</ralph>`], null],
    [["<ralph>BLOCKED</ralph>"], null],
    [["###BLOCKED:x###"], null],
  ])("%j blocks: %j", (lines, reason) => expect(blockedReason(lines)).toBe(reason));
});
