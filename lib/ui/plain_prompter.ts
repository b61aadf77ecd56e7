import type { Terminal } from "../host/types.ts";
import { defaultAnswer, expectedAnswer, keysText, letterOf, normalizeAnswer } from "./normalize_answer.ts";
import type { Prompter, Question } from "../context/context.ts";
import { missing } from "./unattended_prompter.ts";

/** Asks on standard error and reads lines from standard input, terminal or not. End of input takes the default. */
export function createPlainPrompter(terminal: Pick<Terminal, "stdin" | "write">, signal: AbortSignal): Prompter {
  const { stdin } = terminal;
  const show = (text: string): void => terminal.write("stderr", text);
  const lines = createLineReader(stdin);
  return {
    interactive: true,
    async ask(question, cancel) {
      const ends = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
      for (const line of question.details ?? []) show(`${line}\n`);
      show(questionText(question));
      for (;;) {
        const line = await lines.next(ends);
        if (stdin.isTTY !== true) show(line === null ? "\n" : `${line}\n`);
        if (line === null || (line.trim() === "" && defaultAnswer(question) !== null)) {
          const value = defaultAnswer(question);
          if (value === null) throw missing(question);
          return { value, source: line === null ? "default" : sourceOf(terminal) };
        }
        const value = normalizeAnswer(question, line);
        if (value !== null) return { value, source: sourceOf(terminal) };
        show(`expected ${expectedAnswer(question)}: `);
      }
    },
  };
}

function sourceOf({ stdin }: Pick<Terminal, "stdin">): "terminal" | "stdin" {
  return stdin.isTTY === true ? "terminal" : "stdin";
}

function questionText(question: Question): string {
  switch (question.kind) {
    case "confirm":
      return `${question.message} [${question.initial ? "Y/n" : "y/N"}] `;
    case "text":
      return question.initial === undefined
        ? `${question.message}${question.placeholder === undefined ? "" : ` (${question.placeholder})`}\n> `
        : `${question.message} [${question.initial}]\n> `;
    case "select": {
      if (question.keys === true) return `${question.message}\n${keysText(question)} `;
      const choices = question.choices.map(({ label, hint }, index) =>
        `  ${letterOf(label) === null ? `${index + 1}) ` : ""}${label}${hint === undefined ? "" : ` (${hint})`}\n`
      );
      return `${question.message}\n${choices.join("")}${
        question.initial === undefined ? ">" : `[${question.initial}]`
      } `;
    }
  }
}

/** Lines of a stream, one at a time; the stream rests in between, so that it holds no process up. */
interface LineReader {
  /** The next line without its end, or `null` at the end of input. Rejects with the signal's reason when it aborts. */
  next(signal: AbortSignal): Promise<string | null>;
}

/** Reads lines of UTF-8 text. Text behind a line waits for the next call. */
function createLineReader(stream: NodeJS.ReadableStream): LineReader {
  const decoder = new TextDecoder();
  let buffered = "";
  let ended = false;

  function takeLine(): string | null {
    const end = buffered.indexOf("\n");
    if (end === -1 && !(ended && buffered !== "")) return null;
    const line = end === -1 ? buffered : buffered.slice(0, end);
    buffered = end === -1 ? "" : buffered.slice(end + 1);
    return line.replace(/\r$/, "");
  }

  return {
    next(signal) {
      ended ||= (stream as { readonly readableEnded?: boolean }).readableEnded === true; // its end came between two calls
      const ready = takeLine();
      if (ready !== null || ended) return Promise.resolve(ready);
      return new Promise((resolve, reject) => {
        const settle = (act: () => void): void => {
          stream.off("data", onData);
          stream.off("end", onEnd);
          stream.off("error", onEnd);
          signal.removeEventListener("abort", onAbort);
          stream.pause();
          act();
        };
        const onData = (chunk: unknown): void => {
          buffered += typeof chunk === "string" ? chunk : decoder.decode(chunk as Uint8Array, { stream: true });
          const line = takeLine();
          if (line !== null) settle(() => resolve(line));
        };
        const onEnd = (): void => {
          ended = true;
          settle(() => resolve(takeLine()));
        };
        const onAbort = (): void => settle(() => reject(signal.reason));
        if (signal.aborted) return reject(signal.reason);
        stream.on("data", onData);
        stream.on("end", onEnd);
        stream.on("error", onEnd);
        signal.addEventListener("abort", onAbort);
        stream.resume();
      });
    },
  };
}
