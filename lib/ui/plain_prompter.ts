import type { Terminal } from "../host/types.ts";
import { createLineReader } from "./line_reader.ts";
import { defaultAnswer, expectedAnswer, normalizeAnswer } from "./normalize_answer.ts";
import type { Prompter, Question } from "../context/prompter.ts";
import { missing } from "./unattended_prompter.ts";

/** Asks on standard error and reads lines from standard input, terminal or not. End of input takes the default. */
export function createPlainPrompter(terminal: Pick<Terminal, "stdin" | "write">, signal: AbortSignal): Prompter {
  const { stdin } = terminal;
  const show = (text: string): void => terminal.write("stderr", text);
  const lines = createLineReader(stdin);
  return {
    interactive: true,
    async ask(question) {
      for (const line of question.details ?? []) show(`${line}\n`);
      show(questionText(question));
      for (;;) {
        const line = await lines.next(signal);
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
      const choices = question.choices.map(({ label, hint }, index) =>
        `  ${index + 1}) ${label}${hint === undefined ? "" : ` (${hint})`}\n`
      );
      return `${question.message}\n${choices.join("")}[${question.initial}] `;
    }
  }
}
