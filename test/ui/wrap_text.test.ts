import { describe, expect, test } from "vitest";
import { wrapText } from "../../lib/ui/wrap_text.ts";

describe("wrapText()", () => {
  test.each([
    ["what fits as it is", "a b c", 5, "a b c"],
    ["between words", "one two three", 8, "one two\nthree"],
    ["below the indentation and the mark", "  ✓ one two three", 11, "  ✓ one two\n    three"],
    ["below what follows a name", "✓ git    is one of them", 15, "✓ git    is one\n       of them"],
    ["a wide word whole", "see /a/very/long/path here", 10, "see\n/a/very/long/path\nhere"],
    ["a command in back-ticks whole", "hint: `ralph run --all` goes on", 20, "hint:\n`ralph run --all`\ngoes on"],
    ["each line by itself", "one two\nthree four", 5, "one\ntwo\nthree\nfour"],
    ["wide characters by their width", "日本 語語 x", 5, "日本\n語語\nx"],
  ])("breaks %s", (_name, text, columns, shown) => {
    expect(wrapText(text, columns)).toBe(shown);
  });

  test("colours take no room and stay with their words", () => {
    expect(wrapText("\u001b[31mred\u001b[39m and \u001b[1mbold\u001b[22m", 8)).toBe(
      "\u001b[31mred\u001b[39m and\n\u001b[1mbold\u001b[22m",
    );
  });
});
