import type { Document, YAMLMap } from "yaml";
import type { ClaimLine } from "../../backlog/claims.ts";
import { maps, sequence } from "./document.ts";
import { addLeaves, isStandard, type Leaf, leavesOf, nextLeafId, rollUp } from "./phases.ts";
import { OVER } from "./step_order.ts";
import type { SprintProgress, StepMark } from "./types.ts";

/** A step in its document, with its place where it is one of `phases`. */
interface FoundStep {
  readonly id: string;
  readonly map: YAMLMap;
  readonly leaf?: Leaf;
}

function stepsIn(document: Document): readonly FoundStep[] {
  if (isStandard(document)) return leavesOf(document).map((leaf) => ({ id: leaf.id, map: leaf.map, leaf }));
  return maps(document, "dynamic-steps").map((map) => ({ id: idOf(map), map }));
}

/** The result of completing a step. */
export type Completion = "completed" | "already" | "unknown";

/** Adds steps with ids of their own, highest + 1. @returns the ids */
export function addSteps(
  document: Document,
  prompts: readonly string[],
  mark: StepMark,
): readonly string[] {
  if (isStandard(document)) return addLeaves(document, prompts, mark);
  const { iteration, now } = mark;
  const steps = sequence(document, "dynamic-steps");
  const first = nextNumber(document);
  return prompts.map((prompt, index) => {
    const id = `step-${first + index}`;
    steps.add(document.createNode({ id, prompt, status: "pending", "added-at": now, "added-in-iteration": iteration }));
    return id;
  });
}

/** Applies claims of `ralph step`; the same claims twice change nothing more. @returns true when it changed something */
export function applyStepClaims(document: Document, claims: readonly ClaimLine[], mark: StepMark): boolean {
  let changed = false;
  for (const { command, id = "", text = "" } of claims) {
    if (command === "step done") changed = completeStep(document, { id }, mark.now) === "completed" || changed;
    if (command !== "step add" || text.trim() === "") continue;
    const isThere = stepsIn(document).some((step) => step.id === id && String(step.map.get("prompt")) === text);
    if (!isThere) changed = addSteps(document, [text], mark).length > 0 || changed;
  }
  return changed;
}

/** A sprint as it will be with these claims; the document is left alone. Pure. */
export function claimedSteps(
  progress: SprintProgress,
  claims: readonly ClaimLine[],
  iteration: number,
): SprintProgress {
  const steps = [...progress.steps];
  for (const { command, id = "", text = "" } of claims) {
    const at = steps.findIndex((step) => step.id === id && step.status === "pending");
    const found = steps[at];
    if (command === "step done" && found !== undefined) steps[at] = { ...found, status: "completed" };
    const isThere = steps.some((step) => step.id === id && step.prompt === text);
    if (command === "step add" && text.trim() !== "" && !isThere) {
      steps.push({ id, prompt: text, status: "pending", addedIn: iteration });
    }
  }
  return { ...progress, steps };
}

/** Adds those of the prompts that this iteration has not added yet: called twice, it adds nothing more. @returns true when it added */
export function addMissingSteps(document: Document, prompts: readonly string[], mark: StepMark): boolean {
  const there = stepsIn(document).filter(({ map }) => map.get("added-in-iteration") === mark.iteration)
    .map(({ map }) => String(map.get("prompt")));
  const missing = prompts.filter((prompt) => {
    const at = there.indexOf(prompt);
    if (at !== -1) there.splice(at, 1);
    return at === -1;
  });
  return addSteps(document, missing, mark).length > 0;
}

/** Completes one step: the first pending one of this id (and prompt, where given). */
export function completeStep(
  document: Document,
  wanted: { readonly id: string; readonly prompt?: string },
  now: string,
): Completion {
  const named = stepsIn(document).filter(({ id, map }) =>
    id === wanted.id && (wanted.prompt === undefined || String(map.get("prompt")) === wanted.prompt)
  );
  const open = named.find(({ map, leaf }) => leaf === undefined ? isPending(map) : !OVER.includes(statusOf(map)));
  if (open === undefined) return named.length > 0 ? "already" : "unknown";
  open.map.set("status", "completed");
  open.map.set("completed-at", now);
  if (open.leaf !== undefined) rollUp(document, open.leaf, now);
  return "completed";
}

/** Takes a step's completion back. @returns true when it was completed */
export function reopenStep(
  document: Document,
  wanted: { readonly id: string; readonly prompt: string },
  now: string,
): boolean {
  const step = stepsIn(document).find(({ id, map }) => id === wanted.id && String(map.get("prompt")) === wanted.prompt);
  if (step === undefined || isPending(step.map)) return false;
  step.map.set("status", "pending");
  step.map.delete("completed-at");
  if (step.leaf !== undefined) rollUp(document, step.leaf, now);
  return true;
}

/**
 * Gives every step an id of its own. A later step of an id gets the next free number; where it was completed in the same
 * instant as the first, one claim stamped them all, and it is pending again (the stamp is kept as `claimed-at`).
 *
 * In a completed sprint nothing is pending again.
 *
 * @returns the ids that were given
 */
export function normalizeSteps(document: Document): readonly string[] {
  const isFinished = document.get("status") === "completed" ||
    (document.getIn(["ralph-exit", "detected-at"]) ?? null) !== null;
  const first = new Map<string, YAMLMap>();
  const given: string[] = [];
  for (const step of maps(document, "dynamic-steps")) {
    const id = idOf(step);
    const same = first.get(id);
    if (id !== "" && same === undefined) {
      first.set(id, step);
      if (step.get("status") === undefined) step.set("status", "pending");
      continue;
    }
    const stamp = step.get("completed-at");
    if (
      !isFinished && same !== undefined && !isPending(step) && stamp !== undefined &&
      String(stamp) === String(same.get("completed-at"))
    ) {
      step.set("claimed-at", step.get("completed-at", true));
      step.delete("completed-at");
      step.set("status", "pending");
    }
    const free = nextId(document);
    step.set("id", free);
    first.set(free, step);
    given.push(free);
  }
  return given;
}

function statusOf(step: YAMLMap): string {
  return String(step.get("status") ?? "pending");
}

function isPending(step: YAMLMap): boolean {
  return statusOf(step) === "pending";
}

function idOf(step: YAMLMap): string {
  return String(step.get("id") ?? "");
}

/** The id that the next step gets: highest + 1. */
export function nextId(document: Document, after?: string): string {
  return isStandard(document) ? nextLeafId(document, after) : `step-${nextNumber(document)}`;
}

function nextNumber(document: Document): number {
  const numbers = maps(document, "dynamic-steps").map((step) => Number(/^step-(\d+)$/.exec(idOf(step))?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}
