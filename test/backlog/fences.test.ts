import { describe, expect, test } from "vitest";
import { todoItems } from "../../lib/backlog/todo.ts";
import { fenceAfter, markdownLines, nextFence, proseLines } from "../../lib/backlog/fences.ts";
import { seedOfRun } from "../workflows/spec/random_numbers.ts";

/** `c` for a line that is code, `.` for one that is prose. */
function shapeOf(text: string): string {
  return markdownLines(text).lines.map(({ fenced }) => fenced ? "c" : ".").join("");
}

describe("markdownLines()", () => {
  test.each([
    ["a fence and its ends", "a\n```sh\nb\n```\nc", ".ccc."],
    ["tildes, back-ticks inside", "~~~\n```\na\n~~~\nb", "cccc."],
    ["a longer fence around a shorter one", "````\n```\na\n```\n````\nb", "ccccc."],
    ["a closing fence may be longer", "```\na\n`````\nb", "ccc."],
    ["a shorter run does not close", "````\na\n```\nb", "cccc"],
    ["a run with text behind it does not close", "```\na\n``` b\nc\n```\nd", "ccccc."],
    ["white space behind a closing run", "```\na\n```  \nb", "ccc."],
    ["the info string of back-ticks holds none", "``` a`b\nc", ".."],
    ["the info string of tildes may", "~~~ a`b\nc\n~~~\nd", "ccc."],
    ["two marks are no fence", "``\na\n``", "..."],
    ["a list's indentation", "- a\n  ```\n  b\n  ```\n- c", ".ccc."],
    ["CRLF", "a\r\n```\r\nb\r\n```\r\nc", ".ccc."],
    ["a fence that is never closed reaches to the end", "a\n```\nb\n\n# c", ".cccc"],
  ])("%s", (_, text, shape) => {
    expect(shapeOf(text)).toBe(shape);
  });

  test("names the line of the fence that is never closed", () => {
    expect(markdownLines("a\n```\nb\n```\n~~~\nc").unclosedFence).toBe(5);
    expect(markdownLines("a\n```\nb\n```\n").unclosedFence).toBeNull();
  });

  test("agrees with fenceAfter(), which reads bytes, wherever random texts are cut", () => {
    let state = seedOfRun();
    const pick = (count: number): number => (state = (state * 1103515245 + 12345) % 2147483648) % count;
    const parts = ["```", "~~~", "````", "a", "  ", "``", "`", " b", "\n", "\n", "\n", "\r\n"];
    for (let run = 0; run < 300; run++) {
      const text = Array.from({ length: 20 }, () => parts[pick(parts.length)]).join("");
      const cut = text.indexOf("\n", pick(text.length)) + 1;
      if (cut === 0) continue;
      const open = text.slice(0, cut).split("\n").slice(0, -1)
        .reduce<Parameters<typeof nextFence>[0]>((fence, line) => nextFence(fence, line).fence, null);

      expect(fenceAfter(null, Buffer.from(text), cut, false), JSON.stringify(text)).toEqual(open);
    }
  });
});

test("proseLines() numbers the lines that are left as the whole text does", () => {
  expect(proseLines("a\n```\nb\n```\nc").map(({ number, text }) => `${number} ${text}`)).toEqual(["1 a", "5 c"]);
});

test("todoItems() leaves out boxes in a fence that a shorter one does not close", () => {
  expect(todoItems("- [ ] a\n````\n```\n- [ ] b\n```\n- [ ] c\n````\n- [x] d").map(({ line, text }) => [line, text]))
    .toEqual([[1, "a"], [8, "d"]]);
});
