import { join, relative, sep } from "node:path";
import { type Document, YAMLMap } from "yaml";
import type { HookRecord } from "../../hooks/hook.ts";
import { maps, sequence, setKeys } from "./nodes.ts";
import { beginLeaf, isStandard, openRepair, retryLeaves } from "./phases.ts";
import { normalizeSteps } from "./steps.ts";

/** No claim that the goal is reached. */
const NO_EXIT = { "detected-at": null, iteration: null, "final-summary": null } as const;

/** `true` if Ralph's own change of PROGRESS.yaml changed anything. */
export function changed(...parts: readonly boolean[]): boolean {
  return parts.includes(true);
}

/** A run begins: every step has an id of its own, and no hook of an earlier run is at work any more. */
export function resumeSprint(document: Document, now: string): boolean {
  const given = normalizeSteps(document);
  const left = maps(document.get("hook-tasks")).filter((task) => task.get("status") === "in-progress");
  for (const task of left) {
    task.set("status", "interrupted");
    task.set("completed-at", now);
  }
  return given.length > 0 || left.length > 0;
}

/** An iteration begins. Recording it twice changes nothing. */
export function beginIteration(
  document: Document,
  { iteration, step, now }: { readonly iteration: number; readonly step: string | null; readonly now: string },
): boolean {
  const started = document.getIn(["stats", "started-at"]) ?? now;
  return changed(
    step !== null && isStandard(document) && beginLeaf(document, step, now),
    setKeys(document, { status: "in-progress", stats: { "started-at": started, "current-iteration": iteration } }),
  );
}

/** Counts iterations that ended, and those in a row without a pending step. */
export function countIteration(document: Document, completed: number, idle: number): boolean {
  return setKeys(document, { stats: { "completed-iterations": completed, "idle-iterations": idle } });
}

/** Records the claim that the goal is reached; a claim of the same iteration is recorded once. */
export function claimExit(
  document: Document,
  { iteration, summary, now }: { readonly iteration: number; readonly summary: string; readonly now: string },
): boolean {
  const isSame = document.getIn(["ralph-exit", "iteration"]) === iteration;
  if (isSame && document.getIn(["ralph-exit", "detected-at"])) return false;
  const exit = { "detected-at": now, iteration, "final-summary": summary, "last-failure": undefined };
  setKeys(document, { "ralph-exit": exit });
  return true;
}

/** The claim counts, or every phase is done. `verified`: by checks, or on the agent's word alone. */
export function confirmExit(document: Document, verified: boolean, now: string): boolean {
  const ends = isStandard(document) && document.get("status") !== "completed";
  return changed(
    ends && setKeys(document, { stats: { "completed-at": now } }),
    setKeys(document, { "ralph-exit": { verified }, status: "completed" }),
  );
}

/** The claim does not count; in standard mode a phase that repairs comes next. */
export function refuseExit(document: Document, reason: string, now: string): boolean {
  const forgotten = isStandard(document) ? {} : { ...NO_EXIT, verified: undefined };
  return changed(
    isStandard(document) && openRepair(document, now),
    setKeys(document, { "ralph-exit": { ...forgotten, "last-failure": reason }, status: "in-progress" }),
  );
}

/** A person has looked at what waited for one: it goes on, and what failed or was blocked is tried again. */
export function continueSprint(document: Document, now: string): boolean {
  const waits = WAITS_FOR_A_PERSON.has(String(document.get("status")));
  return changed(
    isStandard(document) && retryLeaves(document, now),
    waits && setKeys(document, { status: "in-progress", "human-needed": undefined }),
  );
}

/** No iteration begins by itself while `status` is one of these; `--retry-blocked` is the person's word that it may. */
export const WAITS_FOR_A_PERSON: ReadonlySet<string> = new Set([
  "needs-human",
  "paused",
  "paused-at-breakpoint",
  "blocked",
]);

/** A person is needed. */
export function needHuman(document: Document, reason: string): boolean {
  return setKeys(document, { status: "needs-human", "human-needed": reason });
}

/** Records the start or the end of a hook: one entry for each iteration and hook. `folder` is the sprint's, absolute. */
export function recordHook(document: Document, record: HookRecord, folder: string): boolean {
  const { iteration, hookId, status, pid, exitCode, startedAt, endedAt, log, transcript, message } = record;
  const tasks = sequence(document, "hook-tasks");
  let task = maps(tasks).find((one) => one.get("iteration") === iteration && one.get("hook-id") === hookId);
  if (task === undefined) {
    task = new YAMLMap();
    tasks.add(task);
  }
  const file = (path: string): string => relative(folder, join(path)).replaceAll(sep, "/");
  const values: Readonly<Record<string, unknown>> = {
    iteration,
    "hook-id": hookId,
    status,
    pid,
    "spawned-at": new Date(startedAt).toISOString(),
    "completed-at": endedAt === null ? null : new Date(endedAt).toISOString(),
    "exit-code": exitCode,
    log: file(log),
    transcript: file(transcript),
    ...(message === null ? {} : { message }),
  };
  for (const [key, value] of Object.entries(values)) task.set(key, value);
  return true;
}

/** A claim of this iteration never was. */
export function setBackExit(document: Document, iteration: number): boolean {
  return document.getIn(["ralph-exit", "iteration"]) === iteration && setKeys(document, { "ralph-exit": NO_EXIT });
}
