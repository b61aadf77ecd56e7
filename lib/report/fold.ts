import { EVENT_SCHEMAS } from "../events/schema.ts";
import { type AgentEvent, type EventOf, EVENTS_VERSION, type RalphEvent } from "../events/types.ts";
import { addTurn } from "../backlog/usage.ts";
import { checkId } from "../backlog/verify_commands.ts";
import { refusedText, sandboxText } from "../ui/text.ts";
import { excerptLines } from "../ui/event_lines.ts";
import * as reports from "./types.ts";

/** Lines of a failed check's output that are kept. */
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4000;
const PROBLEMS_KEPT = 5;

/**
 * A row for each event but an agent's; `null`: the report says nothing of it. A new event does not compile before it has
 * its row.
 */
type Handlers = {
  readonly [Type in Exclude<RalphEvent["type"], AgentEvent["type"]> | "agent-start"]:
    | ((fold: Folding, event: EventOf<Type> & { readonly at: string }) => void)
    | null;
};

/** The place of a lane: what happens in it belongs to its own item. */
type Place = Pick<reports.Cursor, "agent" | "attempt" | "item">;

interface Folding {
  readonly draft: reports.DraftReport;
  readonly cursor: reports.Cursor;
  readonly onCheck: OnCheck;
}

/** Takes the end of what a check printed, with the check as the report has it. */
export type OnCheck = (check: reports.CheckReport, output: string) => void;

/** Takes events one after the other; what it keeps does not grow with what agents say. */
export interface Fold {
  take(value: object): void;
  /** A line that is no JSON object. */
  invalid(reason: string, beginning: string): void;
  end(): reports.DraftReport;
}

/** Makes a report from a run's events, without what only git and the disk know. */
export function createFold(file: string, onCheck: OnCheck = () => {}): Fold {
  const draft = reports.emptyDraft(file);
  const open = { part: null, item: null, attempt: null };
  const cursor: reports.Cursor = { ...open, draft, questions: new Map(), models: new Map(), agent: "" };
  const enter = createLanes(cursor);

  function invalid(reason: string, beginning: string): void {
    draft.events.malformed += 1;
    if (draft.events.problems.length >= PROBLEMS_KEPT) return;
    draft.events.problems.push(`${reason}: ${beginning.slice(0, 80)}`);
  }

  return {
    invalid,
    take(value) {
      const { v, at, run, type: written } = value as Readonly<Record<string, unknown>>;
      const type = written === "state-put-back" ? "state-restored" : written; // its name in 0.1.0
      if (typeof type !== "string" || typeof at !== "string" || Number.isNaN(Date.parse(at))) {
        return invalid("not an event", JSON.stringify(value).slice(0, 200));
      }
      if (v !== EVENTS_VERSION || !Object.hasOwn(EVENT_SCHEMAS, type)) {
        draft.events.unknown += 1;
        return;
      }
      const known = type as RalphEvent["type"];
      const within = (value as Readonly<Record<string, unknown>>)["lane"];
      const lane = typeof within === "number" ? within : null;
      enter(lane, type);
      if (lane !== null) landingsOf(draft).lanes = cursor.workers ?? Math.max(landingsOf(draft).lanes, lane + 1);
      const handle = (HANDLERS as Partial<Record<string, ((fold: Folding, event: unknown) => void) | null>>)[known];
      if (handle !== undefined && handle !== null) {
        const checked = EVENT_SCHEMAS[known].safeParse({ ...value as object, type });
        if (!checked.success) return invalid(`no ${type} event`, JSON.stringify(value).slice(0, 200));
        handle({ draft, cursor, onCheck }, { ...checked.data, at });
      }
      draft.events.count += 1;
      draft.startedAt ??= at;
      draft.endedAt = at;
      if (typeof run === "string") draft.run = run;
    },
    end() {
      draft.agents = [...cursor.models].map(([name, models]) => reports.agentUse(name, [...models], draft));
      if (draft.startedAt !== null && draft.endedAt !== null) {
        draft.durationMs = Math.max(0, Date.parse(draft.endedAt) - Date.parse(draft.startedAt));
      }
      return draft;
    },
  };
}

/** Events of several lanes come mixed: the cursor is where the lane of the next event is. */
function createLanes(cursor: reports.Cursor): (lane: number | null, type: string) => void {
  const elsewhere = new Map<number | null, Place>();
  let here: number | null = null;
  return (lane, type) => {
    if (type === "run-start" || type === "run-end") elsewhere.clear();
    if (lane === here) return;
    const { agent, attempt, item } = cursor;
    elsewhere.set(here, { agent, attempt, item });
    Object.assign(cursor, elsewhere.get(lane) ?? { agent, attempt: null, item: null });
    here = lane;
  };
}

const HANDLERS: Handlers = {
  "run-start": ({ draft, cursor }, { at, workflow, agent, scope, head, goal, branch, workers, strict = false }) => {
    if (workers !== undefined) cursor.workers = workers;
    draft.base ??= head ?? null;
    draft.goal = goal ?? draft.goal;
    draft.branch = branch ?? draft.branch;
    draft.strict = strict;
    draft.work = null;
    draft.checked = null;
    draft.notices = []; // an earlier part's: the end of this one would replace them too
    openPart(cursor, { name: workflow, kind: "loop", scope: scope ?? null, at });
    sawAgent(cursor, agent);
  },
  "run-end": ({ draft, cursor }, { at, status, reasons, work, checked, notices = [] }) => {
    draft.work = work ?? null;
    draft.checked = checked ?? null;
    draft.notices = [...notices];
    closePart(cursor, { at, status, reasons });
  },
  "step-start": ({ draft, cursor }, { at, step }) => {
    if (cursor.part?.kind === "loop") draft.proved = []; // what ran before the final check proves nothing
    if (cursor.part?.kind !== "loop") openPart(cursor, { name: step, kind: "step", scope: null, at });
  },
  "step-end": ({ draft, cursor }, { at, step, status, message, unverified }) => {
    if (unverified !== undefined && status !== "aborted") reports.judge(draft, unverified);
    if (cursor.part?.kind === "loop") { // a step of the loop's own: the checks before the first turn
      const said = message === undefined ? "" : `, ${message}`;
      draft.notes.push({ at, item: null, message: `${step}: ${status}${said}` });
      return;
    }
    const part = partFor(cursor, at);
    if (part.kind === "turns") Object.assign(part, { name: step, kind: "step" });
    closePart(cursor, { at, status, reasons: message === undefined ? [] : [message] });
  },
  "landing-end": ({ draft, cursor }, { at, result, checkedAgain, paths, with: others }) => {
    const landings = landingsOf(draft);
    if (result === "landed") landings.landed += 1;
    if (checkedAgain) landings.checkedAgain += 1;
    if (result === "failed") landings.failedTogether += 1;
    const item = cursor.item?.id ?? null;
    if (others !== undefined) draft.notes.push({ at, item, message: `checked together with ${others.join(", ")}` });
    if (result !== "conflict") return;
    landings.conflicts += 1;
    draft.notes.push({ at, item, message: `conflicts with what was merged since: ${paths.join(", ")}` });
  },
  "items-reopened": ({ draft }, { ids, reason }) =>
    reports.sendBack(draft, ids, `sent back by the final check: ${reason}`),
  "iteration-start": ({ cursor }, event) => reports.beginAttempt(cursor, event, partFor(cursor, event.at)),
  "iteration-end": ({ cursor }, event) => {
    partFor(cursor, event.at);
    reports.endAttempt(cursor, event);
  },
  "turn-start": ({ cursor }, { at, agent, transcript }) => {
    sawAgent(cursor, agent);
    turnsOf(cursor, at).push({ agent, transcript, reason: null, message: null, durationMs: null, usage: null });
  },
  "turn-end": ({ draft, cursor }, { at, agent, reason, message, durationMs, usage }) => {
    const turns = turnsOf(cursor, at);
    const turn = turns.findLast((one) => one.reason === null);
    const end = { reason, message, durationMs, usage };
    if (turn === undefined) turns.push({ agent, transcript: "", ...end });
    else Object.assign(turn, end);
    draft.usage = addTurn(draft.usage, usage);
    if (cursor.item !== null) cursor.item.usage = addTurn(cursor.item.usage, usage);
  },
  "agent-start": ({ cursor }, { model }) => {
    if (model !== null) cursor.models.get(cursor.agent)?.add(model);
  },
  "check-end": ({ draft, cursor, onCheck }, { tail, beforeWork = false, failedBefore = false, ...end }) => {
    const { name, command = name, scope, ok, exitCode, durationMs, tests } = end;
    const id = end.id ?? checkId({ name, command });
    const kept = ok ? null : excerptLines(tail, TAIL_LINES).join("\n").slice(-TAIL_CHARACTERS);
    const counted = tests === undefined ? {} : { tests: { ...tests, failures: [...tests.failures] } };
    const ended = { ok, exitCode, durationMs, beforeTurn: beforeWork, failedBefore, tail: kept };
    const check = { id, name, command, scope, ...ended, ...counted };
    if (cursor.attempt === null) {
      if (ok && cursor.part?.kind === "loop") draft.proved.push(id);
      const same = draft.items.flatMap(({ attempts }) => attempts.at(-1)?.checks ?? [])
        .filter((one) => one.id === id && one.ok === ok && one.tests === undefined);
      for (const one of same) Object.assign(one, counted); // JUnit is read in the clean checkout
      return;
    }
    cursor.attempt.checks.push(check);
    onCheck(check, tail);
  },
  "commit": ({ draft, cursor }, { commit, subject, hook }) => {
    const list = hook !== undefined ? draft : cursor.attempt ?? draft; // a hook's come while others are at work
    list.commits.push({ commit, subject, filesChanged: null, by: "ralph" });
  },
  "hook-start": ({ draft }, { hook, iteration, parallel, log }) => {
    const end = { status: null, exitCode: null, durationMs: null, message: null };
    draft.hooks.push({ hook, iteration, parallel, log, ...end });
  },
  "hook-end": ({ draft }, { hook, iteration, status, exitCode, durationMs, message }) => {
    const end = { status, exitCode, durationMs, message };
    const begun = draft.hooks.findLast((one) => one.hook === hook && one.iteration === iteration);
    if (begun === undefined) draft.hooks.push({ hook, iteration, parallel: false, log: "", ...end });
    else Object.assign(begun, end);
  },
  "wait-start": ({ draft }, { at, agent, reason, until, message }) => {
    draft.waits.push({ at, agent, reason, until, message, waitedMs: null, interrupted: false });
  },
  "wait-end": ({ draft }, { waitedMs, interrupted }) => {
    const wait = draft.waits.findLast((one) => one.waitedMs === null);
    if (wait !== undefined) Object.assign(wait, { waitedMs, interrupted });
  },
  "sandbox": ({ draft }, { at, on, by, network }) => {
    const hosts = typeof network === "string" ? network : [...network];
    draft.sandbox = { on, by, network: hosts, refused: draft.sandbox?.refused ?? [] };
    const message = sandboxText({ type: "sandbox", on, by, network });
    (on ? draft.notes : draft.warnings).push({ at, item: null, message });
  },
  "host-refused": ({ draft, cursor }, { at, host, port, by }) => {
    draft.sandbox?.refused.push({ at, host, port, by });
    const message = refusedText({ type: "host-refused", host, port, by });
    draft.warnings.push({ at, item: cursor.item?.id ?? null, message });
  },
  "state-restored": ({ draft, cursor }, { at, paths }) => {
    draft.restored.push({ at, item: cursor.item?.id ?? null, paths: [...paths] });
  },
  "experiments": ({ draft }, { at, item, findings, tried, blocked }) => {
    draft.experiments.push({ at, item: item?.id ?? null, findings: [...findings], tried: [...tried], blocked });
  },
  "trespass": ({ draft, cursor }, { at, by, paths, diff }) => {
    draft.trespasses.push({ at, item: cursor.item?.id ?? null, by, paths: [...paths], diff });
  },
  "note": ({ draft, cursor }, { at, level, message, hook }) => {
    const item = hook !== undefined ? null : cursor.item?.id ?? null;
    (level === "warn" ? draft.warnings : draft.notes).push({ at, item, message });
  },
  "steered": ({ draft }, { action, origin, text, item }) => {
    const question = action === "tell" ? `told${item === null ? "" : ` for ${item}`}:` : "while it was at work:";
    draft.answers.push({ id: action, question, answer: text ?? action, source: origin });
  },
  "question": ({ cursor }, { id, message }) => {
    cursor.questions.set(id, message);
  },
  "answer": ({ draft, cursor }, { id, answer, source }) => {
    draft.answers.push({ id, question: cursor.questions.get(id) ?? null, answer, source });
  },
  "check-start": null,
  "landing-start": null,
  "wait-delta": null,
  "pause-start": null,
  "pause-end": null,
  "text": null,
};

function landingsOf(draft: reports.DraftReport): NonNullable<reports.DraftReport["landings"]> {
  return draft.landings ??= { lanes: 1, landed: 0, checkedAgain: 0, failedTogether: 0, conflicts: 0 };
}

type PartStart = Pick<reports.RunPart, "name" | "kind" | "scope"> & { readonly at: string };

function openPart(cursor: reports.Cursor, { at, ...named }: PartStart): reports.Draft<reports.RunPart> {
  const part = { ...named, startedAt: at, endedAt: null, status: null, reasons: [], turns: [] };
  cursor.draft.parts.push(part);
  cursor.item = null;
  cursor.attempt = null;
  return cursor.part = part;
}

/** The part that is open; events before a step is named, or between two loops, get one of their own. */
function partFor(cursor: reports.Cursor, at: string): reports.Draft<reports.RunPart> {
  return cursor.part ?? openPart(cursor, { name: "turns", kind: "turns", scope: null, at });
}

function closePart(
  cursor: reports.Cursor,
  { at, status, reasons }: { readonly at: string; readonly status: string; readonly reasons: readonly string[] },
): void {
  if (cursor.part !== null) Object.assign(cursor.part, { endedAt: at, status, reasons: [...reasons] });
  cursor.part = null;
  cursor.item = null;
  cursor.attempt = null;
}

function turnsOf(cursor: reports.Cursor, at: string): reports.Draft<reports.TurnReport>[] {
  return cursor.attempt?.turns ?? partFor(cursor, at).turns;
}

function sawAgent(cursor: reports.Cursor, name: string): void {
  cursor.agent = name;
  if (!cursor.models.has(name)) cursor.models.set(name, new Set());
}
