import { describe, expect, test } from "vitest";
import { signalLines, stripMarks, withoutEcho } from "../../lib/backlog/signals.ts";

const PROMPT = "Implement US-001.\n\nWhen done, print as the last line:\n\n<promise>COMPLETE</promise>\n";

describe("stripMarks()", () => {
  test.each([
    ["  **<ralph>DONE</ralph>** \r", "<ralph>DONE</ralph>"],
    ["`DONE`", "DONE"],
    ["__a_b__", "a_b"],
    [" * _ ` ", ""],
    ["> DONE", "> DONE"],
  ])("stripMarks() makes %j to %j", (line, bare) => {
    expect(stripMarks(line)).toBe(bare);
  });
});

describe("signalLines()", () => {
  test.each([
    ["back-ticks", "a\n```\nDONE\n```\nb"],
    ["tildes with an info string", "a\n~~~ text\nDONE\n~~~\nb"],
    ["an indented fence", "a\n   ```sh\n   DONE\n   ```\nb"],
    ["a longer fence around a shorter one", "a\n````md\n```\nDONE\n```\nDONE\n````\nb"],
    ["back-ticks inside tildes", "a\n~~~\n```\nDONE\n~~~\nb"],
    ["CRLF", "a\r\n```js\r\nDONE\r\n```\r\nb"],
  ])("signalLines() leaves out what stands in a code fence: %s", (_, text) => {
    expect(signalLines(text)).toEqual(["a", "b"]);
  });

  test("signalLines() takes a fence that is never closed as open to the end", () => {
    expect(signalLines("a\n```\nDONE")).toEqual(["a"]);
  });

  test("signalLines() does not take inline code for a fence", () => {
    expect(signalLines("```a``` is it\nDONE")).toEqual(["a``` is it", "DONE"]);
  });

  test("signalLines() leaves out an echo of the prompt and keeps the agent's own marker after it", () => {
    expect(signalLines(`${PROMPT}I looked around.`, { prompt: PROMPT })).toEqual(["I looked around."]);
    expect(signalLines(`${PROMPT}<promise>COMPLETE</promise>\n`, { prompt: PROMPT })).toEqual([
      "<promise>COMPLETE</promise>",
    ]);
    expect(signalLines("Done.\n<promise>COMPLETE</promise>", { prompt: PROMPT })).toEqual([
      "Done.",
      "<promise>COMPLETE</promise>",
    ]);
    expect(signalLines("<promise>COMPLETE</promise>", { prompt: PROMPT })).toEqual(["<promise>COMPLETE</promise>"]);
  });

  test("signalLines() leaves out an echo that is quoted", () => {
    const quoted = PROMPT.split("\n").map((line) => `> ${line}`).join("\n");
    const boxed = PROMPT.split("\n").map((line) => `  │ ${line}`).join("\n");

    expect(signalLines(`${quoted}\nhello`, { prompt: PROMPT })).toEqual(["hello"]);
    expect(signalLines(`${boxed}\nhello`, { prompt: PROMPT })).toEqual(["hello"]);
  });

  test("signalLines() ignores the fences of an echo", () => {
    const prompt = "The last failure:\n```\nnot closed, cut\nprint DONE\n";

    expect(signalLines(`${prompt}ok\nDONE\n`, { prompt })).toEqual(["ok", "DONE"]);
  });

  test.each<[string, string, string[]]>([
    ["is one line", "<ralph>LEARNING: ports\n- are odd,\n\n- all of them</ralph>\nBye.", [
      "<ralph>LEARNING: ports - are odd, - all of them</ralph>",
      "Bye.",
    ]],
    ["with its name alone on the first", "<ralph>BLOCKED:\nno key\n</ralph>", ["<ralph>BLOCKED: no key </ralph>"]],
    ["ends where the next begins", "<ralph>LEARNING: a\n<ralph>DONE</ralph>", [
      "<ralph>LEARNING: a",
      "<ralph>DONE</ralph>",
    ]],
    ["that is never closed is text", "<ralph>LEARNING: a\nb", ["<ralph>LEARNING: a", "b"]],
    ["has no fence in it", "<ralph>LEARNING: a\n```\nb</ralph>\n```\nc</ralph>", ["<ralph>LEARNING: a c</ralph>"]],
    ["needs a value: DONE stays on its line", "<ralph>DONE\n</ralph>", ["<ralph>DONE", "</ralph>"]],
  ])("signalLines(): a signal over several lines %s", (_name, text, lines) => {
    expect(signalLines(text)).toEqual(lines);
  });

  test("signalLines() keeps the last lines only, and none that was cut", () => {
    expect(signalLines("cut\n1\n2\n3\n", { limit: 2 })).toEqual(["2", "3"]);
    expect(signalLines("DONE\n1", { midLine: true })).toEqual(["1"]);
    expect(signalLines("DONE\n```\nDONE2", { fence: { mark: "`", length: 3 } })).toEqual(["DONE2"]);
  });
});

describe("withoutEcho()", () => {
  test("withoutEcho() takes away an echo of the whole prompt, quoted or not", () => {
    expect(withoutEcho(`start\n${PROMPT}end`, PROMPT)).toBe("start\nend");
    expect(withoutEcho(`> ${PROMPT.replaceAll("\n", "\n> ")}\nend`, PROMPT)).toBe("> \nend");
  });

  test("withoutEcho() keeps a document that shares lines with the prompt", () => {
    const draft = '{\n  "passes": false,\n  "notes": ""\n}';

    expect(withoutEcho(draft, `Correct this:\n${draft}\nnow.`)).toBe(draft);
  });
});
