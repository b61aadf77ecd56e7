import { type Document, isSeq, type YAMLMap } from "yaml";
import type { ClaimLine } from "../../backlog/claims.ts";
import { idOf, isOver, maps, nextNumber, sequence, statusOf } from "./nodes.ts";
import { addLeaves, complete, isStandard, type Leaf, leavesOf, reopen } from "./phases.ts";
import type { StepMark } from "./types.ts";

const KEY = "dynamic-steps";

function stepsIn(document: Document): readonly Leaf[] {
  if (isStandard(document)) return leavesOf(document);
  const list = document.get(KEY);
  return isSeq(list) ? maps(list).map((map) => ({ id: idOf(map), map, parents: [], list, prefix: "" })) : [];
}

/** The result of completing a step. */
export type Completion = "completed" | "already" | "unknown";

/** Adds steps with ids of their own, highest + 1. @returns the ids */
export function addSteps(document: Document, prompts: readonly string[], mark: StepMark): readonly string[] {
  if (isStandard(document)) return addLeaves(document, prompts, mark);
  const { iteration, now } = mark;
  const steps = sequence(document, KEY);
  const first = nextNumber(steps, "step");
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

/**
 * Completes one step: the first pending one of this id (and prompt, where given); without an id, that of the first one of
 * its prompt in a free loop.
 */
export function completeStep(
  document: Document,
  { id, prompt }: { readonly id: string; readonly prompt?: string },
  now: string,
): Completion {
  const same = stepsIn(document).filter(({ map }) => prompt === undefined || String(map.get("prompt")) === prompt);
  const wanted = id === "" && !isStandard(document) ? same[0]?.id : id;
  const named = same.filter((one) => one.id === wanted);
  const open = named.find(({ map }) => isStandard(document) ? !isOver(map) : isPending(map));
  if (open === undefined) return named.length > 0 ? "already" : "unknown";
  complete(document, open, now);
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
  reopen(document, step, now);
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
  for (const step of maps(document.get(KEY))) {
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
    const free = `step-${nextNumber(document.get(KEY), "step")}`;
    step.set("id", free);
    first.set(free, step);
    given.push(free);
  }
  return given;
}

function isPending(step: YAMLMap): boolean {
  return statusOf(step) === "pending";
}
