import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import { announcedPrompter, type AnswerLookup, createPrompter } from "../../lib/ui/create_prompter.ts";
import type { Prompter, Question } from "../../lib/context/context.ts";

const CONFIRM: Question = { id: "plan.keep", kind: "confirm", message: "Keep it?", initial: true };
const TEXT: Question = { id: "plan.name", kind: "text", message: "Which name?" };
const SELECT: Question = {
  id: "plan.existing-prd",
  kind: "select",
  message: "And now?",
  initial: "update",
  choices: [{ value: "update", label: "Update" }, { value: "overwrite", label: "Overwrite" }],
};
const GATE: Question = { id: "gate.run", kind: "confirm", message: "Start?", initial: false, gate: "run" };
const PRD_GATE: Question = { id: "plan.write-prd", kind: "confirm", message: "Write?", initial: false, gate: "prd" };

const CLOCK = { sleep: () => Promise.reject(new Error("nothing is waited for")) };

function plain(input: string): { ask: (question: Question) => Promise<unknown>; shown: () => string } {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  let shown = "";
  const write = (_stream: string, text: string): void => void (shown += text);
  stdin.end(input);
  const prompter = createPrompter({
    mode: "plain",
    terminal: { stdin, stderr, write, lend: (run) => run(), size: () => ({ columns: 80, rows: 24 }) },
    approvals: new Set(),
    clock: CLOCK,
    signal: new AbortController().signal,
  });
  return { ask: (question) => prompter.ask(question), shown: () => shown };
}

function unattended(
  approvals: readonly string[],
  lookUp: AnswerLookup = () => null,
): (question: Question) => Promise<unknown> {
  const terminal = {
    stdin: new PassThrough(),
    stderr: new PassThrough(),
    write: () => {},
    lend: <Value>(run: () => Promise<Value>) => run(),
    size: () => ({ columns: 80, rows: 24 }),
  };
  const prompter = createPrompter({
    mode: "unattended",
    terminal,
    approvals: new Set(approvals),
    lookUp,
    clock: CLOCK,
    signal: new AbortController().signal,
  });
  return async (question) => await prompter.ask(question);
}

describe("createPrompter() in plain mode", () => {
  test("keys are one line, the default's a capital; a letter answers, Enter takes the default", async () => {
    const question: Question = {
      id: "plan.write-prd",
      kind: "select",
      keys: true,
      message: "Write it?",
      initial: "no",
      choices: [{ value: "yes", label: "write it" }, { value: "change", label: "change it" }, {
        value: "no",
        label: "not now",
      }],
    };
    const asked = plain("x\nC\n");

    expect(await asked.ask(question)).toEqual({ value: "change", source: "stdin" });
    expect(asked.shown()).toContain("Write it?\n[y] write it  [c] change it  [N] not now ");
    expect(await plain("\n").ask(question)).toEqual({ value: "no", source: "stdin" });
  });

  test("reads one line a question, whatever came in one piece", async () => {
    const { ask } = plain("blue sky\nn\n2\n");

    expect([await ask(TEXT), await ask(CONFIRM), await ask(SELECT)]).toEqual([
      { value: "blue sky", source: "stdin" },
      { value: "no", source: "stdin" },
      { value: "overwrite", source: "stdin" },
    ]);
  });

  test("asks again for what is no answer", async () => {
    const { ask, shown } = plain("maybe\ny\n");

    expect(await ask(CONFIRM)).toEqual({ value: "yes", source: "stdin" });
    await new Promise((done) => setTimeout(done, 10)); // the stream hands its text on a moment later
    expect(shown()).toBe("Keep it? [Y/n] maybe\nexpected yes or no: y\n");
  });

  test("an empty line and the end of input take the default", async () => {
    const { ask } = plain("\n");

    expect([await ask(SELECT), await ask(CONFIRM)]).toEqual([{ value: "update", source: "stdin" }, {
      value: "yes",
      source: "default",
    }]);
  });

  test("a choice is taken by its letter, its number, its name and the beginning of its name", async () => {
    const menu = {
      id: "prd.action",
      kind: "select",
      message: "What now?",
      choices: [{ value: "refine", label: "A) Refine further" }, { value: "run", label: "B) Start execution" }],
    } as const;
    const { ask, shown } = plain("b\nA\n2\nru\nrefine\nr\nrun\n");

    const values: unknown[] = [];
    for (let count = 0; count < 6; count += 1) values.push(await ask(menu));
    expect(values).toEqual(
      ["run", "refine", "run", "run", "refine", "run"].map((value) => ({ value, source: "stdin" })),
    );
    expect(shown()).toContain("What now?\n  A) Refine further\n  B) Start execution\n> b\n");
    expect(shown()).toContain("> r\nexpected A, B: run\n"); // two begin so
  });

  test("a choice without a default is a missing answer at an empty line and at the end of input", async () => {
    const menu = { id: "prd.action", kind: "select", message: "What now?", choices: [{ value: "run", label: "Run" }] };

    await expect(plain("").ask(menu as Question)).rejects.toMatchObject({ code: "answer-missing", exitCode: 3 });
    await expect(plain("\n\n").ask(menu as Question)).rejects.toMatchObject({ code: "answer-missing" });
  });

  test("the end of input without a default is a missing answer", async () => {
    await expect(plain("").ask(TEXT)).rejects.toMatchObject({ code: "answer-missing", exitCode: 3 });
  });

  test("a last line without an end counts", async () => {
    expect(await plain("blue").ask(TEXT)).toEqual({ value: "blue", source: "stdin" });
  });
});

describe("createPrompter() with nobody to ask", () => {
  test("an approval answers its gate, `all` every gate", async () => {
    expect([await unattended(["run"])(GATE), await unattended(["all"])(PRD_GATE)]).toEqual([
      { value: "yes", source: "approve" },
      { value: "yes", source: "approve" },
    ]);
  });

  test("a gate without approval is no, but for the PRD, which is a missing answer", async () => {
    const ask = unattended([], () => "yes");

    expect(await ask(GATE)).toEqual({ value: "no", source: "default" });
    await expect(ask(PRD_GATE)).rejects.toMatchObject({ code: "answer-missing", exitCode: 3 });
  });

  test("answers come before defaults, and are checked", async () => {
    expect(await unattended([], () => "Overwrite")(SELECT)).toEqual({ value: "overwrite", source: "answers" });
    expect(await unattended([])(SELECT)).toEqual({ value: "update", source: "default" });
    await expect(unattended([], () => "later")(SELECT)).rejects.toMatchObject({ code: "answers-invalid", exitCode: 2 });
  });

  test("a question of the agent has no default", async () => {
    await expect(unattended([])({ ...TEXT, initial: "x", fromAgent: true } as Question)).rejects.toMatchObject({
      code: "answer-missing",
    });
  });
});

describe("announcedPrompter()", () => {
  test("a question that nobody saw is shown with its answer", async () => {
    const events: RalphEvent[] = [];
    const asked: Prompter = { interactive: false, ask: () => Promise.resolve({ value: "bar", source: "answers" }) };
    const prompter = announcedPrompter(asked, () => ({ emit: (event) => void events.push(event) }));

    await prompter.ask({ id: "plan.question", kind: "text", message: "Which foo?" });

    expect(events.slice(1)).toEqual([
      { type: "text", title: "Which foo?", lines: [] },
      { type: "answer", id: "plan.question", answer: "bar", source: "answers" },
    ]);
  });

  test.each([["approve", 1], ["default", 1], ["terminal", 0]] as const)(
    "tells the reasons of a question answered by %s %i times: in a terminal the question itself shows them",
    async (source, times) => {
      const events: RalphEvent[] = [];
      const asked: Prompter = { interactive: false, ask: () => Promise.resolve({ value: "yes", source }) };
      const prompter = announcedPrompter(asked, () => ({ emit: (event) => void events.push(event) }));

      await prompter.ask({ id: "gate.run", kind: "confirm", message: "Start?", initial: false, details: ["3 open"] });

      expect(events.filter(({ type }) => type === "text")).toEqual(
        Array(times).fill({ type: "text", title: "Start?", lines: ["3 open"] }),
      );
      expect(events.at(-1)).toEqual({ type: "answer", id: "gate.run", answer: "yes", source });
    },
  );
});

test("each line of a long question has the bar on its left", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const stderr = Object.assign(new PassThrough(), { columns: 80, rows: 24 });
  const prompter = createPrompter({
    mode: "rich",
    terminal: { stdin, stderr, write: () => {}, lend: (run) => run(), size: () => ({ columns: 80, rows: 24 }) },
    approvals: new Set(),
    clock: CLOCK,
    signal: new AbortController().signal,
  });
  const answer = prompter.ask({ ...TEXT, message: `${"many words ".repeat(20)}\nand a second line` });
  let shown = "";
  stderr.on("data", (chunk) => shown += String(chunk));
  await expect.poll(() => shown).toContain("second line");
  const lines = stripVTControlCharacters(shown).split(/\r?\n/).filter((line) => /words|second/.test(line));
  stdin.write("x\r");
  await answer;

  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(line).toMatch(/^[◆◇│] {2}\S.{0,77}$/);
});

test("a terminal that is gone when it is asked for keys ends the question", async () => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin.emit("error", new Error("EIO")) });
  const prompter = createPrompter({
    mode: "rich",
    terminal: {
      stdin,
      stderr: new PassThrough(),
      write: () => {},
      lend: (run) => run(),
      size: () => ({ columns: 80, rows: 24 }),
    },
    approvals: new Set(),
    clock: CLOCK,
    signal: new AbortController().signal,
  });

  await expect(prompter.ask(CONFIRM)).rejects.toThrow("interrupted");
});
