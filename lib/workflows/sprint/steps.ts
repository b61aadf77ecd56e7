import type { Document, YAMLMap } from "yaml";
import type { ClaimLine } from "../../backlog/claims.ts";
import { maps, sequence } from "./document.ts";
import type { SprintProgress } from "./types.ts";

/** What a new step is marked with. */
export interface StepMark {
  readonly iteration: number;
  /** ISO time. */
  readonly now: string;
}

/** What became of completing a step. */
export type Completion = "completed" | "already" | "unknown";

/** Adds steps with ids of their own, highest + 1. @returns the ids */
export function addSteps(
  document: Document,
  prompts: readonly string[],
  { iteration, now }: StepMark,
): readonly string[] {
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
    const isThere = maps(document, "dynamic-steps").some((step) =>
      idOf(step) === id && String(step.get("prompt")) === text
    );
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
  const there = maps(document, "dynamic-steps").filter((step) => step.get("added-in-iteration") === mark.iteration)
    .map((step) => String(step.get("prompt")));
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
  const named = maps(document, "dynamic-steps").filter((step) =>
    idOf(step) === wanted.id && (wanted.prompt === undefined || String(step.get("prompt")) === wanted.prompt)
  );
  const pending = named.find(isPending);
  if (pending === undefined) return named.length > 0 ? "already" : "unknown";
  pending.set("status", "completed");
  pending.set("completed-at", now);
  return "completed";
}

/** Takes a step's completion back. @returns true when it was completed */
export function reopenStep(document: Document, wanted: { readonly id: string; readonly prompt: string }): boolean {
  const step = maps(document, "dynamic-steps").find((one) =>
    idOf(one) === wanted.id && String(one.get("prompt")) === wanted.prompt
  );
  if (step === undefined || isPending(step)) return false;
  step.set("status", "pending");
  step.delete("completed-at");
  return true;
}

/**
 * Gives every step an id of its own. A later step of an id gets the next free number; where it was completed in the same
 * instant as the first, one claim stamped them all, and it is pending again (the stamp is kept as `claimed-at`).
 *
 * Of a sprint that is completed nothing is pending again.
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

function isPending(step: YAMLMap): boolean {
  return String(step.get("status") ?? "pending") === "pending";
}

function idOf(step: YAMLMap): string {
  return String(step.get("id") ?? "");
}

/** The id that the next step gets: highest + 1. */
export function nextId(document: Document): string {
  return `step-${nextNumber(document)}`;
}

function nextNumber(document: Document): number {
  const numbers = maps(document, "dynamic-steps").map((step) => Number(/^step-(\d+)$/.exec(idOf(step))?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}
