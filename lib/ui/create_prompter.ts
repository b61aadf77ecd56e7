import type { EventSink } from "../events/types.ts";
import type { Terminal } from "../host/types.ts";
import { createPlainPrompter } from "./plain_prompter.ts";
import { printableQuestion } from "./printable.ts";
import { createRichPrompter } from "./rich_prompter.ts";
import type { Prompter, Question } from "../context/prompter.ts";
import { type AnswerLookup, createUnattendedPrompter } from "./unattended_prompter.ts";

/** How questions are put. */
export interface PrompterOptions {
  /** `rich` needs a terminal; `plain` reads lines from standard input; `unattended` asks no one. */
  readonly mode: "rich" | "plain" | "unattended";
  readonly terminal: Pick<Terminal, "stdin" | "stderr" | "write" | "lend" | "size">;
  /** Consents given beforehand: they answer their gates in every mode. */
  readonly approvals: ReadonlySet<string>;
  /** Answers given beforehand; never asked for a gate. @default none */
  readonly lookUp?: AnswerLookup;
  readonly signal: AbortSignal;
}

/** What answers questions in this run. */
export function createPrompter({ mode, terminal, approvals, lookUp = () => null, signal }: PrompterOptions): Prompter {
  const prompter = mode === "rich"
    ? createRichPrompter(terminal, signal)
    : mode === "plain"
    ? createPlainPrompter(terminal, signal)
    : createUnattendedPrompter(lookUp);
  const shown = (question: Question): Question => mode === "unattended" ? question : printableQuestion(question);
  return {
    interactive: prompter.interactive,
    ask(question) {
      const approved = question.gate !== undefined && (approvals.has(question.gate) || approvals.has("all"));
      return approved ? Promise.resolve({ value: "yes", source: "approve" }) : prompter.ask(shown(question));
    },
  };
}

/** A prompter whose questions and answers are reported as events. */
export function announcedPrompter(prompter: Prompter, sink: () => EventSink): Prompter {
  return {
    interactive: prompter.interactive,
    async ask(question) {
      sink().emit({ type: "question", id: question.id, message: question.message });
      const answer = await prompter.ask(question);
      if (answer.source !== "terminal" && answer.source !== "stdin") {
        // A person who was not asked still reads what was decided, and why.
        sink().emit({ type: "text", title: question.message, lines: question.details ?? [] });
      }
      sink().emit({ type: "answer", id: question.id, answer: answer.value, source: answer.source });
      return answer;
    },
  };
}
