import type { Readable, Writable } from "node:stream";
import { RalphError } from "../errors/ralph_error.ts";
import type { Terminal } from "../host/types.ts";
import type { Prompter, Question } from "./types.ts";

type Clack = typeof import("@clack/prompts");

interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Asks with clack in a terminal, on standard error; clack is loaded with the first question. */
export function createRichPrompter(terminal: Pick<Terminal, "stdin" | "stderr">, signal: AbortSignal): Prompter {
  return {
    interactive: true,
    async ask(question) {
      const clack = await import("@clack/prompts");
      const streams = { input: terminal.stdin as Readable, output: terminal.stderr as Writable, signal };
      if (question.details !== undefined && question.details.length > 0) {
        clack.log.message([...question.details], { output: streams.output });
      }
      if (signal.aborted) throw new RalphError("interrupted");
      const value = await show(clack, question, streams);
      if (typeof value === "symbol") throw new RalphError("interrupted");
      return { value: typeof value === "boolean" ? (value ? "yes" : "no") : (value ?? "").trim(), source: "terminal" };
    },
  };
}

function show(clack: Clack, question: Question, streams: Streams): Promise<string | boolean | symbol | undefined> {
  const { message } = question;
  switch (question.kind) {
    case "confirm":
      return clack.confirm({ message, initialValue: question.initial, ...streams });
    case "text":
      return clack.text({
        message,
        ...streams,
        placeholder: question.placeholder ?? question.initial ?? "",
        ...(question.initial === undefined ? {} : { defaultValue: question.initial }),
      });
    case "select":
      return clack.select({
        message,
        ...streams,
        initialValue: question.initial,
        options: question.choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) })),
      });
  }
}
