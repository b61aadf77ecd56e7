import { RalphError } from "../errors/ralph_error.ts";
import type { EventSink } from "../events/types.ts";
import type { Clock, Terminal } from "../host/types.ts";
import type { Steering } from "../steer/steering.ts";
import { defaultAnswer, normalizeAnswer } from "./normalize_answer.ts";
import { createPlainPrompter } from "./plain_prompter.ts";
import { printableQuestion } from "./printable.ts";
import type { Answer, Prompter, Question } from "../context/context.ts";
import { type AnswerLookup, createUnattendedPrompter, missing } from "./unattended_prompter.ts";

/** Finishing leaves this machine: `--approve all` never includes it. */
const FINISH_GATE = "finish";

const LONG_MS = 3_600_000;

/** How questions are put. */
export interface PrompterOptions {
  /**
   * `rich` needs a terminal; `plain` reads lines from standard input; `page` waits for an answer from elsewhere, and is
   * for an announced prompter; `unattended` asks no one.
   */
  readonly mode: "rich" | "plain" | "page" | "unattended";
  readonly terminal: Pick<Terminal, "stdin" | "stderr" | "write" | "lend" | "size">;
  /** Consents given beforehand: they answer their gates in every mode. */
  readonly approvals: ReadonlySet<string>;
  /** Answers given beforehand; never asked for a gate. @default none */
  readonly lookUp?: AnswerLookup;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** Makes the prompter of this run. */
export function createPrompter(options: PrompterOptions): Prompter {
  const { mode, terminal, approvals, lookUp = () => null, signal } = options;
  const make: Record<typeof mode, () => Prompter> = {
    rich: () => ({
      interactive: true,
      ask: async (question, cancel) =>
        await (await import("./rich_prompter.ts")).createRichPrompter(terminal, signal).ask(question, cancel),
    }),
    plain: () => createPlainPrompter(terminal, signal),
    page: () => createPagePrompter(options),
    unattended: () => createUnattendedPrompter(lookUp),
  };
  const prompter = make[mode]();
  const known = createUnattendedPrompter(lookUp);
  const shown = (question: Question): Question => mode === "unattended" ? question : printableQuestion(question);
  return {
    interactive: prompter.interactive,
    ask(question, cancel) {
      const { gate } = question;
      const isInAll = approvals.has("all") && gate !== FINISH_GATE;
      const approved = gate !== undefined && (approvals.has(gate) || isInAll);
      if (approved) return Promise.resolve({ value: "yes", source: "approve" });
      const isKnown = gate === undefined && lookUp(question) !== null;
      return isKnown ? known.ask(question) : prompter.ask(shown(question), cancel);
    },
  };
}

/** Waits until the question is answered elsewhere. */
function createPagePrompter({ clock, signal }: PrompterOptions): Prompter {
  return {
    interactive: true,
    async ask(question, cancel) {
      if (cancel === undefined) throw missing(question);
      const ends = AbortSignal.any([signal, cancel]);
      while (!ends.aborted) await clock.sleep(LONG_MS, ends); // a timer holds the process up
      throw new RalphError("interrupted");
    },
  };
}

/**
 * A prompter whose questions and answers are reported as events.
 *
 * @param steering where a person may answer from elsewhere, once the run has begun
 */
export function announcedPrompter(
  prompter: Prompter,
  sink: () => EventSink,
  steering: () => Promise<Steering | null> = () => Promise.resolve(null),
): Prompter {
  return {
    interactive: prompter.interactive,
    async ask(question) {
      sink().emit({ type: "question", id: question.id, message: question.message });
      const answer = await answeredAnywhere(prompter, question, prompter.interactive ? await steering() : null);
      if (answer.source !== "terminal" && answer.source !== "stdin") {
        // A person who was not asked still reads what was decided, and why.
        sink().emit({ type: "text", title: question.message, lines: question.details ?? [] });
      }
      sink().emit({ type: "answer", id: question.id, answer: answer.value, source: answer.source });
      return answer;
    },
  };
}

/** The first answer counts: at the terminal, or from elsewhere; a stop ends the question as Ctrl-C does. */
async function answeredAnywhere(prompter: Prompter, question: Question, steering: Steering | null): Promise<Answer> {
  if (steering === null) return await prompter.ask(question);
  const shown = printableQuestion(question);
  using offer = steering.offer({
    id: shown.id,
    kind: shown.kind,
    message: shown.message,
    details: shown.details ?? [],
    choices: shown.kind === "select" ? shown.choices : [],
    initial: defaultAnswer(shown),
  }, (text) => normalizeAnswer(question, text));
  const elsewhere = new AbortController();
  const stopped = (): void => elsewhere.abort();
  steering.stopping.addEventListener("abort", stopped, { once: true });
  if (steering.stopping.aborted) stopped();
  let remote: Answer | null = null;
  void offer.answer.then(({ value, origin }) => {
    remote = { value, source: origin };
    elsewhere.abort();
  });
  try {
    return await prompter.ask(question, elsewhere.signal);
  } catch (error) {
    if (remote !== null) return remote;
    throw elsewhere.signal.aborted ? new RalphError("interrupted") : error;
  } finally {
    steering.stopping.removeEventListener("abort", stopped);
  }
}
