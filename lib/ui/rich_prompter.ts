import { keysText, normalizeAnswer } from "./normalize_answer.ts";
import { wrapText } from "./wrap_text.ts";
import type { Readable, Writable } from "node:stream";
import { RalphError } from "../errors/ralph_error.ts";
import type { Terminal } from "../host/types.ts";
import { whenAborted } from "../host/when_aborted.ts";
import type { Answer, Question } from "../context/context.ts";

interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Asks with clack in a terminal that is lent, on standard error; clack is loaded with the first question. */
export async function askRichly(
  question: Question,
  terminal: Pick<Terminal, "stdin" | "stderr" | "size">,
  signal: AbortSignal,
): Promise<Answer> {
  const clack = await import("@clack/prompts");
  const input = terminal.stdin as Readable;
  using ended = endOfInput(input, signal);
  const streams = { input, output: terminal.stderr as Writable, signal: ended.signal };
  if (question.details !== undefined && question.details.length > 0) {
    const lines = question.details.flatMap((line) => wrapText(line, terminal.size().columns - 3).split("\n"));
    clack.log.message(lines, { output: streams.output });
  }
  if (signal.aborted) throw new RalphError("interrupted");
  const asked = question.kind === "confirm" ? keysOf(question) : question;
  const isKey = asked.kind === "select" && asked.keys === true;
  const { columns } = terminal.size();
  const shown = isKey ? askKey(asked, streams, columns) : show(clack, asked, streams, columns);
  // clack cannot leave a terminal that was hung up: its answer is not waited for
  const value = await Promise.race([shown, aborted(ended.signal)]);
  if (typeof value === "symbol") throw new RalphError("interrupted");
  return { value: (value ?? "").trim(), source: "terminal" };
}

/** Yes and no, a key each. */
function keysOf(
  { initial, ...question }: Question & { readonly kind: "confirm" },
): Question & { readonly kind: "select" } {
  const choices = ["yes", "no"].map((value) => ({ value, label: value }));
  return { ...question, kind: "select", keys: true, initial: initial ? "yes" : "no", choices };
}

/** One key, without Enter, which takes the default; other keys are not heard. */
async function askKey(
  question: Question & { readonly kind: "select" },
  { input, output, signal }: Streams,
  columns: number,
): Promise<string | symbol> {
  const terminal = input as Readable & { setRawMode?(isRaw: boolean): void };
  let onData = (_chunk: string | Uint8Array): void => {};
  const pressed = new Promise<string | symbol>((resolve) => {
    onData = (chunk) => {
      for (const key of String(chunk)) {
        if (key === "\u0003") return resolve(Symbol("interrupted"));
        const typed = /[\r\n]/.test(key) ? question.initial : key;
        const value = typed === undefined ? null : normalizeAnswer(question, typed);
        if (value !== null) return resolve(value);
      }
    };
  });
  terminal.setRawMode?.(true);
  input.on("data", onData);
  input.resume(); // a key that follows the sight of the question is heard
  output.write(`\n${wrapText(question.message, columns)}\n${keysText(question, columns)} `);
  try {
    const value = await Promise.race([pressed, aborted(signal)]);
    const chosen = question.choices.find((choice) => choice.value === value);
    output.write(`\n${chosen === undefined ? "" : `> ${chosen.label}\n`}`);
    return value;
  } finally {
    input.off("data", onData);
    input.pause();
    terminal.setRawMode?.(false);
  }
}

/** Ctrl-D and a terminal that is gone end a question as Ctrl-C does; clack would wait for ever. */
function endOfInput(input: Readable, signal: AbortSignal): { readonly signal: AbortSignal } & Disposable {
  const aborter = new AbortController();
  const end = (): void => aborter.abort();
  const onData = (chunk: string | Uint8Array): void => {
    if (typeof chunk === "string" ? chunk.includes("\u0004") : chunk.includes(4)) end();
  };
  const listeners = [["end", end], ["close", end], ["error", end], ["data", onData]] as const;
  for (const [name, listener] of listeners) input.on(name, listener);
  return {
    signal: AbortSignal.any([signal, aborter.signal]),
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) input.off(name, listener);
    },
  };
}

/** Not heard too late: a terminal that is gone says so while the question is put. */
async function aborted(signal: AbortSignal): Promise<symbol> {
  await whenAborted(signal);
  return Symbol("aborted");
}

function show(
  clack: typeof import("@clack/prompts"),
  question: Exclude<Question, { readonly kind: "confirm" }>,
  streams: Streams,
  columns: number,
): Promise<string | symbol | undefined> {
  const { message } = question;
  switch (question.kind) {
    case "text":
      return clack.text({
        message: wrapText(message, columns - 3).replaceAll("\n", `\n${clack.S_BAR}  `), // it breaks lines without its bar
        ...streams,
        placeholder: question.placeholder ?? question.initial ?? "",
        ...(question.initial === undefined ? {} : { defaultValue: question.initial }),
      });
    case "select":
      return clack.select({
        message,
        ...streams,
        ...(question.initial === undefined ? {} : { initialValue: question.initial }),
        options: question.choices.map(({ value, label, hint }) => ({
          value,
          label,
          ...(hint === undefined ? {} : { hint }),
        })),
      });
  }
}
