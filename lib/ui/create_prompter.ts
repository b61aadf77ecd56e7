import type { Answer, Prompter, Question } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { EventSink } from "../events/types.ts";
import type { Clock, Terminal } from "../host/types.ts";
import type { Steering } from "../steer/steering.ts";
import { defaultAnswer, expectedAnswer, keysText, letterOf, normalizeAnswer } from "./normalize_answer.ts";
import { printableQuestion } from "./text.ts";

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
  const { mode, terminal, approvals, lookUp = () => null, clock, signal } = options;
  let lines: LineReader | null = null; // the stream of standard input is opened with the first question
  return {
    interactive: mode !== "unattended",
    async ask(question, cancel) {
      const { gate } = question;
      const isInAll = approvals.has("all") && gate !== FINISH_GATE;
      if (gate !== undefined && (approvals.has(gate) || isInAll)) return { value: "yes", source: "approve" };
      const isKnown = gate === undefined && lookUp(question) !== null;
      if (isKnown || mode === "unattended") return unasked(question, lookUp);
      const ends = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
      const shown = printableQuestion(question);
      switch (mode) {
        case "rich": {
          const { askRichly } = await import("./rich_prompter.ts");
          return await terminal.lend(() => askRichly(shown, terminal, ends));
        }
        case "plain":
          return await askPlainly(shown, terminal, lines ??= createLineReader(terminal.stdin), ends);
        case "page":
          if (cancel === undefined) throw missing(shown);
          while (!ends.aborted) await clock.sleep(LONG_MS, ends); // a timer holds the process up
          throw new RalphError("interrupted");
      }
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

/** Asks on standard error and reads lines from standard input, terminal or not. End of input takes the default. */
async function askPlainly(
  question: Question,
  terminal: Pick<Terminal, "stdin" | "write">,
  lines: LineReader,
  ends: AbortSignal,
): Promise<Answer> {
  const show = (text: string): void => terminal.write("stderr", text);
  const source = terminal.stdin.isTTY === true ? "terminal" : "stdin";
  for (const line of question.details ?? []) show(`${line}\n`);
  show(questionText(question));
  for (;;) {
    const line = await lines.next(ends);
    if (source === "stdin") show(line === null ? "\n" : `${line}\n`);
    if (line === null || (line.trim() === "" && defaultAnswer(question) !== null)) {
      const value = defaultAnswer(question);
      if (value === null) throw missing(question);
      return { value, source: line === null ? "default" : source };
    }
    const value = normalizeAnswer(question, line);
    if (value !== null) return { value, source };
    show(`expected ${expectedAnswer(question)}: `);
  }
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

type LineReader = ReturnType<typeof createLineReader>;

/**
 * Reads lines of UTF-8 text, one at a time; the stream rests in between, so that it holds no process up. Text behind a
 * line waits for the next call. `next` gives a line without its end, or `null` at the end of input, and rejects with the
 * signal's reason when it aborts.
 */
function createLineReader(stream: NodeJS.ReadableStream) {
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
    next(signal: AbortSignal): Promise<string | null> {
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

/** Looks a question up among the answers that were given beforehand. */
export type AnswerLookup = (question: Question) => string | null;

/** The gate that has no default: without it there is nothing to continue with. */
const PRD_GATE = "prd";

/**
 * Asks no one: answers given beforehand, then defaults. A gate is answered by its default alone, which is no; the gate
 * that writes the PRD, and a question without a default, are missing answers.
 */
function unasked(question: Question, lookUp: AnswerLookup): Answer {
  if (question.gate !== undefined) return gate(question);
  const found = lookUp(question);
  if (found !== null) {
    const value = normalizeAnswer(question, found);
    if (value !== null) return { value, source: "answers" };
    throw new RalphError("answers-invalid", {
      details: {
        path: "the answers file",
        problem: `the answer to ${question.id} must be ${expectedAnswer(question)} (got: ${found})`,
      },
    });
  }
  const value = question.fromAgent === true ? null : defaultAnswer(question);
  if (value === null) throw missing(question);
  return { value, source: "default" };
}

function gate(question: Question): Answer {
  const value = question.gate === PRD_GATE ? null : defaultAnswer(question);
  if (value !== null) return { value, source: "default" };
  throw new RalphError("answer-missing", {
    details: { id: question.id, question: question.message },
    hint: `a consent is given by \`--approve ${question.gate}\`, or in a terminal; what was worked out so far is kept`,
  });
}

/** No one could be asked and nothing may be assumed. */
function missing(question: Question): RalphError {
  return new RalphError("answer-missing", {
    details: { id: question.id, question: question.message },
    hint: question.fromAgent === true
      ? "add it to the answers file (`questions: [{match, answer}]` or `otherwise: text`), or run in a terminal"
      : `add it to the answers file (\`prompts: {${question.id}: …}\`${
        question.kind === "select" ? `, one of ${expectedAnswer(question)}` : ""
      }), or run in a terminal`,
  });
}
