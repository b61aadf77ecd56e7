import type { EventOf, RalphEvent } from "./types.ts";

/**
 * How much of a person's attention an event deserves. `flood`: an agent may send thousands; `routine`: it is shown
 * elsewhere, or follows from another; `news`: it belongs in a list of what happened; `announced`: the page reads it
 * out; `warning`: it is shown even with `--quiet`.
 */
export type Volume = "flood" | "routine" | "news" | "announced" | "warning";

/** The volume of an event. Pure. */
export function volumeOf(event: RalphEvent): Volume {
  const row = ROWS[event.type] as Volume | ((event: RalphEvent) => Volume) | undefined;
  return typeof row === "function" ? row(event) : row ?? "news"; // a newer Ralph may write others
}

/** A new event does not compile before it has its row. */
const ROWS: { readonly [Type in RalphEvent["type"]]: Volume | ((event: EventOf<Type>) => Volume) } = {
  "run-start": "news",
  "run-end": "announced",
  "step-start": "news",
  "step-end": "news",
  "iteration-start": "news",
  "iteration-end": "announced",
  "turn-start": "routine",
  "turn-end": "routine",
  "commit": "routine",
  "check-start": "routine",
  "check-end": ({ ok }) => ok ? "routine" : "news",
  "hook-start": "news",
  "hook-end": ({ status }) => status === "failed" ? "warning" : "news",
  "landing-start": "routine",
  "landing-end": ({ result }) => result === "landed" ? "routine" : "warning",
  "items-reopened": "warning",
  "wait-start": "news",
  "wait-delta": "routine",
  "wait-end": "news",
  "pause-start": "announced",
  "pause-end": "announced",
  "agent-start": "routine",
  "agent-text": "flood",
  "agent-tool-call": "flood",
  "agent-tool-result": "flood",
  "agent-file-change": "flood",
  "agent-usage": "flood",
  "agent-rate-limit": "news",
  "agent-error": "news",
  "agent-line-invalid": "routine",
  "agent-end": "routine",
  "sandbox": "news",
  "host-refused": "warning",
  "state-restored": "warning",
  "trespass": "news",
  "experiments": "warning",
  "question": "announced",
  "answer": "news",
  "steered": "news",
  "text": "routine",
  "note": ({ level }) => level === "warn" ? "warning" : "news",
};
