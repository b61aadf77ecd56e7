import { describe, expect, test } from "vitest";
import { dollars, excerptLines } from "../../lib/ui/event_text.ts";

const filler = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}`).join("\n");

describe("excerptLines()", () => {
  test.each([
    ["node --test, TAP", "not ok 1 - rounds", "  expected: 1.01", "# duration_ms 12"],
    ["pytest", "E       AssertionError: assert 1 == 2", "    def test_a():", "== 1 failed, 40 passed in 0.1s =="],
    ["a compiler", "src/a.ts(1,2): error TS2322: wrong", "  help: write it", "make: *** [all] Error 2"],
  ])("%s: the reason and the end, however much is between them", (_, reason, beside, last) => {
    const text = [filler(30, "ok"), reason, beside, filler(50, "suite"), last].join("\n");
    const lines = excerptLines(text, 12);

    expect(lines).toContain(reason);
    expect(lines).toContain(beside);
    expect(lines.at(-1)).toBe(last);
    expect(lines.filter((line) => line !== "…")).toHaveLength(12);
  });

  test("no reason in the text, or `0 failed`: the last lines", () => {
    const text = `0 failed\n${filler(40, "line")}`;

    expect(excerptLines(text, 3)).toEqual(["line 37", "line 38", "line 39"]);
    expect(excerptLines("one\ntwo\n", 12)).toEqual(["one", "two"]);
  });
});

test("dollars(): a part of a cent is not nothing", () => {
  expect([0, 0.001, 0.03, 12].map(dollars)).toEqual(["$0.00", "<$0.01", "$0.03", "$12.00"]);
});
