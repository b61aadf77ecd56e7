import { describe, expect, test } from "vitest";
import { createHumanReporter } from "../../lib/ui/create_reporter.ts";
import { createStyle, oneLine, plainText, printable, printablePainted, printableQuestion } from "../../lib/ui/text.ts";

const ESCAPE = "\u001b";

test("plainText() takes away colours, window titles, control characters and turned text", () => {
  expect(plainText(`${ESCAPE}[31mred${ESCAPE}[0m ${ESCAPE}]0;title\u0007x\u0000\u202ey\r\nz`)).toBe("red xy\nz");
});

test("printable() spells out what a terminal would act upon, and leaves emoji and accents alone", () => {
  expect(printable(`a${ESCAPE}[2Kb\u202ec\td\n👩‍💻 é`)).toBe("a\\u001b[2Kb\\u202ec\td\n👩‍💻 é");
  expect(oneLine(" a\nb\r\n c ")).toBe("a b c");
});

test("printablePainted() leaves the colours of a style and nothing else of a terminal", () => {
  const { bad } = createStyle({ colour: true, ascii: true });

  expect(printablePainted(bad(`a${ESCAPE}[2Kb${ESCAPE}[8mc`))).toBe(
    `${ESCAPE}[31ma\\u001b[2Kb\\u001b[8mc${ESCAPE}[39m`,
  );
});

test("printableQuestion() keeps the values that answers are made of", () => {
  const question = printableQuestion({
    id: "x",
    kind: "select",
    message: `m${ESCAPE}`,
    initial: "a\u0007",
    choices: [{ value: "a\u0007", label: "a\u0007" }],
  });

  expect(question).toEqual({
    id: "x",
    kind: "select",
    message: "m\\u001b",
    initial: "a\u0007",
    choices: [{ value: "a\u0007", label: "a\\u0007" }],
  });
});

describe("createHumanReporter()", () => {
  test.each(["rich", "plain"] as const)("shows no control character of a story in %s", (mode) => {
    const lines: string[] = [];
    const style = createStyle({ colour: false, ascii: true });
    const reporter = createHumanReporter({ mode, style, detail: "normal", say: (line) => lines.push(line) });

    reporter.emit({
      type: "iteration-start",
      iteration: 1,
      item: { id: `a\nb${ESCAPE}[31m`, kind: "story", title: `T\n${ESCAPE}]0;x\u0007` },
      attempt: 1,
      passed: 0,
      total: 1,
    });
    reporter.emit({ type: "text", title: "PRD", lines: [`Verify: rm${ESCAPE}[8m -rf`] });

    const shown = lines.join("\n");
    expect(shown).toContain("a b\\u001b[31m");
    expect(shown).toContain("Verify: rm\\u001b[8m -rf");
    expect(shown).not.toContain(ESCAPE);
  });
});
