import { describe, expect, test } from "vitest";
import { cutToWidth, displayWidth } from "../../lib/ui/view_lines.ts";

describe("displayWidth()", () => {
  test.each([
    ["", 0],
    ["plain", 5],
    ["◆ │ ✓ … ·".replace("✓", ""), 8],
    ["日本語", 6],
    ["한국어", 6],
    ["ｗｉｄｅ", 8],
    ["ｱｲｳ", 3],
    ["e\u0301", 1],
    ["🚀", 2],
  ])("%j takes %i columns", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each(["👨‍👩‍👧", "🇩🇪", "❤️", "©️", "1️⃣"])("%s is as wide as terminals draw an emoji", (text) => {
    expect(displayWidth(text)).toBeGreaterThanOrEqual(2);
  });
});

describe("cutToWidth()", () => {
  test.each([
    ["short", 5, "short"],
    ["too long", 5, "too …"],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["日本語", 1, ""],
    ["ab", 1, "a"],
    ["ab", 0, ""],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
  ])("%j in %i columns", (text, width, cut) => {
    expect(cutToWidth(text, width, "…")).toBe(cut);
  });

  test("the ellipsis is left out where it alone would fill the line", () => {
    expect(cutToWidth("abcdef", 3, "...")).toBe("abc");
  });

  test("never wider than it may be", () => {
    const text = "a日🚀e\u0301👨‍👩‍👧x한❤️ｱ🇩🇪".repeat(3);
    for (let width = 0; width < 90; width += 1) {
      expect(displayWidth(cutToWidth(text, width, "…"))).toBeLessThanOrEqual(width);
    }
  });
});
