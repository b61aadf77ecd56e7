/**
 * The content of `ralph report`; `--format json` prints this very object, `ralph schema report` its schema, from
 * which the types are made.
 *
 * @module
 */
import { addTurn, NO_USAGE } from "../backlog/usage.ts";
import type { RalphEvent } from "../events/types.ts";
import type * as reports from "../generated/report.ts";

export type * from "../generated/report.ts";

/** Version of the report's shape. */
export const REPORT_VERSION = 1;

/** A report, or a part of it, while it is being put together. */
export type Draft<Type> = Type extends readonly (infer Element)[] ? Draft<Element>[]
  : Type extends object ? { -readonly [Key in keyof Type]: Draft<Type[Key]> }
  : Type;

/** A report that is being put together. */
export type DraftReport = Draft<reports.RunReport>;

/** Nothing read yet. */
export function emptyDraft(file: string): DraftReport {
  return {
    version: REPORT_VERSION,
    run: "",
    root: "",
    folder: "",
    state: "empty",
    running: null,
    status: null,
    reasons: [],
    next: [],
    startedAt: null,
    endedAt: null,
    durationMs: null,
    agents: [],
    usage: { ...NO_USAGE },
    counts: { verified: 0, unverified: 0, parked: 0, open: 0 },
    parts: [],
    items: [],
    commits: [],
    base: null,
    project: "",
    goal: null,
    branch: null,
    work: null,
    checked: null,
    proved: [],
    notices: [],
    hooks: [],
    waits: [],
    landings: null,
    sandbox: null,
    strict: false,
    restored: [],
    trespasses: [],
    experiments: [],
    warnings: [],
    notes: [],
    answers: [],
    events: { file, count: 0, malformed: 0, problems: [], unknown: 0 },
  };
}

/** The part, item and attempt of the report that are open while the events go by: an event belongs to them. */
export interface Cursor {
  readonly draft: DraftReport;
  part: Draft<reports.RunPart> | null;
  item: Draft<reports.ItemReport> | null;
  attempt: Draft<reports.AttemptReport> | null;
  /** Each question's text, by its id. */
  readonly questions: Map<string, string>;
  /** Agents in the order in which they came, with the models that they named. */
  readonly models: Map<string, Set<string>>;
  agent: string;
  /** As the run's start says; absent in older logs. */
  workers?: number;
}

type Start = Extract<RalphEvent, { type: "iteration-start" }> & { readonly at: string };
type End = Extract<RalphEvent, { type: "iteration-end" }>;

/** An attempt begins: what follows belongs to it, until it or the part ends. */
export function beginAttempt(cursor: Cursor, event: Start, part: Draft<reports.RunPart>): void {
  const { at, iteration, item, attempt: number, criteria = [] } = event;
  const found = itemOf(cursor.draft, cursor.draft.parts.indexOf(part), item);
  cursor.item = found;
  cursor.attempt = {
    iteration,
    number,
    startedAt: at,
    result: null,
    settlement: null,
    message: null,
    durationMs: null,
    changes: null,
    turns: [],
    checks: [],
    commits: [],
  };
  found.state = "in-progress";
  found.reason = null;
  found.criteria = [...criteria];
  found.attempts.push(cursor.attempt);
}

/** It has ended. A trespass's diff comes after it and is still its own; commits and turns no longer are. */
export function endAttempt(cursor: Cursor, event: End): void {
  const { draft } = cursor;
  const part = draft.parts.length - 1;
  const item = itemOf(draft, part, event.item);
  const attempt = item.attempts.findLast(({ iteration }) => iteration === event.iteration);
  const { result, settlement, message, durationMs, changes = null } = event;
  if (attempt !== undefined) Object.assign(attempt, { result, settlement, message, durationMs, changes });
  item.state = stateOf(event);
  item.reason = item.state === "verified" ? null : message;
  sendBack(draft, event.reopened ?? [], `sent back by ${event.item.id}${message === null ? "" : `: ${message}`}`);
  cursor.item = item;
  cursor.attempt = null;
}

/** An agent's turns, usage and attempts in the whole run. */
export function agentUse(name: string, models: string[], { items, parts }: DraftReport): Draft<reports.AgentUse> {
  const attempts = items.flatMap((item) => item.attempts);
  const turns = [...attempts, ...parts].flatMap((one) => one.turns).filter((turn) => turn.agent === name);
  const isTaken = ({ reason }: reports.TurnReport): boolean => reason !== "rate-limited" && reason !== "unavailable";
  // the turn at the item itself: those of reviewers come after it, those that waited for a limit before it
  const own = attempts.filter((one) => (one.turns.find(isTaken) ?? one.turns[0])?.agent === name);
  return {
    name,
    models,
    turns: turns.length,
    usage: turns.reduce((sum, { usage }) => usage === null ? sum : addTurn(sum, usage), { ...NO_USAGE }),
    attempts: own.length,
    passed: own.filter(({ result }) => result === "verified" || result === "unverified").length,
  };
}

/** Items that had passed come again. */
export function sendBack(draft: DraftReport, ids: readonly string[], reason: string): void {
  const part = draft.parts.length - 1;
  for (const item of draft.items.filter((one) => one.part === part && ids.includes(one.id))) {
    Object.assign(item, { state: "reopened", reason });
  }
}

/** The final check has the last word on what passed: it may be the first that saw an item. */
export function judge({ items, parts }: DraftReport, unverified: readonly string[]): void {
  for (const item of items) {
    if (item.part !== parts.length - 1 || !item.state.endsWith("verified")) continue;
    if (unverified.includes(item.id)) item.state = "unverified";
    else if (!item.preparatory || unverified.length === 0) Object.assign(item, { state: "verified", reason: null });
  }
}

/** Only what was settled as passed after its checks passed is verified. */
function stateOf({ result, settlement }: End): reports.ItemState {
  if (settlement === "parked") return "parked";
  if (settlement === "passed") return result === "verified" ? "verified" : "unverified";
  // checks that passed on an item that was not settled as passed prove nothing of it
  return result === "verified" || result === "unverified" ? "not-done" : result;
}

function itemOf(draft: DraftReport, part: number, event: Start["item"]): Draft<reports.ItemReport> {
  const { id, kind, title, preparatory = kind === "review" } = event; // 0.1.0 does not say it
  const found = draft.items.find((item) => item.part === part && item.id === id);
  if (found !== undefined) return found;
  const item: Draft<reports.ItemReport> = {
    id,
    kind,
    title,
    preparatory,
    criteria: [],
    part,
    state: "in-progress",
    reason: null,
    usage: { ...NO_USAGE },
    attempts: [],
  };
  draft.items.push(item);
  return item;
}
