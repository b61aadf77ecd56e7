import type { EventSink, RalphEvent } from "../../../events/types.ts";
import type { Style } from "../../../ui/style.ts";

/** What a check said, and about which attempt. */
interface CheckLine {
  readonly item: string;
  readonly attempt: number;
  readonly name: string;
  readonly ok: boolean;
}

/** Remembers what every check said. */
export interface CheckRecord extends EventSink {
  readonly lines: readonly CheckLine[];
}

/** A sink that keeps what the closing words tell. */
export function recordChecks(): CheckRecord {
  const lines: CheckLine[] = [];
  let item = "";
  let attempt = 1;
  return {
    lines,
    emit(event: RalphEvent): void {
      if (event.type === "iteration-start") {
        item = event.item.id;
        attempt = event.attempt;
      }
      if (event.type === "step-start" && event.step === "final-check") item = "at the end";
      if (event.type === "check-end" && event.beforeWork !== true) {
        lines.push({ item, attempt, name: event.name, ok: event.ok });
      }
    },
  };
}

/** What is shown when the demonstration is over. */
export interface Closing {
  readonly root: string;
  /** Newest first. */
  readonly log: readonly { readonly commit: string; readonly subject: string }[];
  readonly checks: readonly CheckLine[];
}

const NOTHING_DONE =
  "Without a yes no code is written, so no check ran; `ralph demo` starts afresh, `ralph demo --approve all` says yes itself";

/** The log, what each check said, and where to look. */
export function closingLines({ root, log, checks }: Closing, style: Style): readonly string[] {
  const { bold, dim, good, bad, accent, symbols } = style;
  const width = Math.max(0, ...checks.map(({ item }) => item.length));
  return [
    "",
    ...(checks.length === 0 ? [NOTHING_DONE] : [bold("What each check said")]),
    ...checks.map(({ item, attempt, name, ok }) =>
      `  ${ok ? good(symbols.passed) : bad(symbols.failed)} ${item.padEnd(width)}  ${
        dim(`attempt ${attempt}`)
      }  ${name}${ok ? "" : bad("  failed")}`
    ),
    "",
    bold("The log"),
    ...log.map(({ commit, subject }) => `  ${accent(commit.slice(0, 7))} ${subject}`),
    "",
    bold("Where to look"),
    `  cd ${root}`,
    `  ${dim("the PRD, with what passed")}            scripts/ralph/prd.json`,
    `  ${dim("questions, answers and decisions")}     scripts/ralph/plan_transcript.md`,
    `  ${dim("what was learned of the code")}         scripts/ralph/codebase_map.md`,
    `  ${dim("every turn and event")}                 scripts/ralph/runs/`,
    "",
    "The folder stays there until you take it away. Your own project is next:",
    `  cd your-project && ralph exec "<goal>" --agent-cmd "<your agent>"`,
  ];
}
