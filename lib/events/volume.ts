import { callRow, type EventRows, type RalphEvent } from "./types.ts";

/**
 * How much of a person's attention an event deserves. `flood`: an agent may send thousands; `routine`: it is shown
 * elsewhere, or follows from another; `news`: it belongs in a list of what happened; `announced`: the page reads it
 * out; `warning`: it is shown even with `--quiet`.
 */
export type Volume = "flood" | "routine" | "news" | "announced" | "warning";

/** The volume of an event. Pure. */
export function volumeOf(event: RalphEvent): Volume {
  return callRow(ROWS, event) ?? "news";
}

const flood = (): Volume => "flood";
const routine = (): Volume => "routine";
const announced = (): Volume => "announced";
const warning = (): Volume => "warning";

/** They are news. */
type PassedOver =
  | "run-start"
  | "step-start"
  | "step-end"
  | "iteration-start"
  | "agent-rate-limit"
  | "agent-error"
  | "wait-start"
  | "wait-end"
  | "hook-start"
  | "sandbox"
  | "trespass"
  | "answer"
  | "steered";

const ROWS: EventRows<readonly [], Volume, PassedOver> = {
  "run-end": announced,
  "iteration-end": announced,
  "turn-start": routine,
  "turn-end": routine,
  "commit": routine,
  "check-start": routine,
  "check-end": ({ ok }) => ok ? "routine" : "news",
  "hook-end": ({ status }) => status === "failed" ? "warning" : "news",
  "landing-start": routine,
  "landing-end": ({ result }) => result === "landed" ? "routine" : "warning",
  "items-reopened": warning,
  "wait-delta": routine,
  "pause-start": announced,
  "pause-end": announced,
  "agent-start": routine,
  "agent-text": flood,
  "agent-tool-call": flood,
  "agent-tool-result": flood,
  "agent-file-change": flood,
  "agent-usage": flood,
  "agent-line-invalid": routine,
  "agent-end": routine,
  "host-refused": warning,
  "state-restored": warning,
  "experiments": warning,
  "question": announced,
  "text": routine,
  "note": ({ level }) => level === "warn" ? "warning" : "news",
};
