import type { EventSink } from "../events/types.ts";
import type { Prompter } from "../context/prompter.ts";

/** A prompter whose questions and answers are told as events. */
export function announcedPrompter(prompter: Prompter, sink: () => EventSink): Prompter {
  return {
    interactive: prompter.interactive,
    async ask(question) {
      sink().emit({ type: "question", id: question.id, message: question.message });
      const answer = await prompter.ask(question);
      if (answer.source !== "terminal" && answer.source !== "stdin" && (question.details ?? []).length > 0) {
        // whoever was not asked still reads what was decided, and why
        sink().emit({ type: "text", title: question.message, lines: question.details ?? [] });
      }
      sink().emit({ type: "answer", id: question.id, answer: answer.value, source: answer.source });
      return answer;
    },
  };
}
