/**
 * The `phases` of a PROGRESS.yaml in standard mode: what is carried out, in order, and where each part stands. Loads the
 * YAML library: import it when a sprint is at hand.
 *
 * @module
 */
import { type Document, isMap, isSeq, type YAMLMap, type YAMLSeq } from "yaml";
import { sprintInvalid } from "../../errors/ralph_error.ts";
import { idOf, isOver, lineOf, maps, nextNumber, sequence, setKeys, statusOf } from "./nodes.ts";
import { OVER, STUCK } from "./step_order.ts";
import type { SprintStep, StepMark } from "./types.ts";

/** One prompt of `phases`: a phase, a step, or a phase of a step. In a free loop, one of `dynamic-steps`. */
export interface Leaf {
  /** Its ids from the outside in, `development/step-0/implement`: no other leaf has the same. */
  readonly id: string;
  readonly map: YAMLMap;
  /** The maps that it is in, the outermost first. */
  readonly parents: readonly YAMLMap[];
  /** The list that it is an entry of. */
  readonly list: YAMLSeq;
  /** The part before its own id: `development/step-0/`. */
  readonly prefix: string;
}

const OPEN: readonly string[] = ["pending", "in-progress"];
const STATUSES: readonly string[] = [...OPEN, ...OVER, ...STUCK];

/** The phase that repairs what the last check of everything finds. */
const REPAIR = "fix-checks";
const REPAIR_PROMPT =
  "Every phase is done, and the checks of the whole sprint fail. Find the cause and fix it. Never weaken, skip or delete a test or a check to get there.";

/** `false`: a free loop over a goal. */
export function isStandard(document: Document): boolean {
  return document.get("mode") !== "ralph";
}

/** The leaves of a document, in order. */
export function leavesOf(document: Document): readonly Leaf[] {
  const found: Leaf[] = [];
  const ids = new Set<string>();
  walk(document.get("phases"), "", []);
  return found;

  function walk(list: unknown, prefix: string, parents: readonly YAMLMap[]): void {
    if (!isSeq(list)) return;
    for (const map of maps(list)) {
      const inner = innerOf(map);
      const wanted = `${prefix}${idOf(map)}`;
      let id = wanted; // tools add a second `fix-qa` beside the first
      for (let number = 2; ids.has(id); number += 1) id = `${wanted}-${number}`;
      ids.add(id);
      if (inner !== null) walk(inner, `${id}/`, [...parents, map]);
      else found.push({ id, map, parents, list, prefix });
    }
  }
}

/** A sprint's reader sees the leaves like this; `in-progress` is pending: its turn never came to an end. */
export function phaseSteps(document: Document): readonly SprintStep[] {
  return leavesOf(document).map(({ id, map, parents }) => {
    const status = statusOf(map);
    const prompt = map.get("prompt");
    const script = map.getIn(["gate", "script"]);
    const iteration = map.get("added-in-iteration");
    const step = parents[1];
    return {
      id,
      prompt: typeof prompt === "string" ? prompt : "",
      status: OPEN.includes(status) ? "pending" : status,
      addedIn: typeof iteration === "number" ? iteration : null,
      ...(step === undefined ? {} : { of: String(step.get("prompt") ?? "") }),
      ...(map.get("injected") === true ? { injected: true } : {}),
      ...(typeof script === "string" ? { gate: script } : {}),
    };
  });
}

/** @throws {RalphError} sprint-invalid with the line, where a part is not one that Ralph knows */
export function checkPhases(document: Document, text: string, path: string): void {
  const phases = document.get("phases");
  if (!isSeq(phases)) {
    const problem = `${at(document.contents)}expected a list of \`phases\`, or \`mode: ralph\``;
    const hint = "`ralph sprint compile DIR --force` sets the file aside and makes a new one from SPRINT.yaml";
    throw sprintInvalid(path, problem, hint);
  }
  for (const map of phases.items) check(map, 0);

  function check(map: unknown, depth: number): void {
    if (!isMap(map)) return wrong(map, "expected a phase with `id` and `prompt`");
    const id = map.get("id");
    if ((typeof id !== "string" || id === "") && typeof id !== "number") return wrong(map, "expected an `id`");
    const status = statusOf(map);
    if (!STATUSES.includes(status)) {
      wrong(map.get("status", true), `${id}: expected a status of ${STATUSES.join(", ")} (got: ${status})`);
    }
    const inner = innerOf(map);
    if (inner !== null) {
      if (depth === 2) wrong(map, `${id}: expected a \`prompt\`; the phases of a step have no parts`);
      for (const item of inner.items) check(item, depth + 1);
      return;
    }
    if (typeof map.get("prompt") === "string" || map.get("break") === true) return;
    wrong(map, `${id}: expected a \`prompt\`${[" or `steps`", " or `phases`"][depth] ?? ""}`);
  }

  function wrong(node: unknown, problem: string): void {
    throw sprintInvalid(path, `${at(node)}${problem}`);
  }

  function at(node: unknown): string {
    const line = lineOf(text, node);
    return line === null ? "" : `line ${line}: `;
  }
}

/** A turn at a leaf begins. @returns false where it had begun */
export function beginLeaf(document: Document, id: string, now: string): boolean {
  const leaf = leavesOf(document).find((one) => one.id === id);
  if (leaf === undefined || leaf.map.get("status") === "in-progress") return false;
  leaf.map.set("status", "in-progress");
  if ((leaf.map.get("started-at") ?? null) === null) leaf.map.set("started-at", now);
  rollUp(document, leaf, now);
  return true;
}

/** A leaf's status has changed: what it is in, the pointer and the counters follow. A free loop has none of them. */
function rollUp(document: Document, leaf: Leaf, now: string): void {
  if (!isStandard(document)) return;
  let pauses = leaf.map.get("break") === true && isOver(leaf.map);
  for (const parent of leaf.parents.toReversed()) {
    const parts = maps(innerOf(parent));
    const begun = parts.some((part) => statusOf(part) !== "pending") ? "in-progress" : "pending";
    const status = parts.every(isOver) ? "completed" : begun;
    if (parent.get("status") === status) continue;
    parent.set("status", status);
    if (status === "in-progress" && (parent.get("started-at") ?? null) === null) parent.set("started-at", now);
    if (status === "completed") parent.set("completed-at", now);
    else parent.delete("completed-at");
    pauses ||= parent.get("break") === true && status === "completed";
  }
  const leaves = leavesOf(document);
  const next = leaves.find(({ map }) => !isOver(map));
  if (next !== undefined && next.map.get("break") === true && !next.map.has("prompt") && isOver(leaf.map)) {
    return complete(document, next, now);
  }
  if (pauses && next !== undefined) document.set("status", "paused-at-breakpoint");
  if (next !== undefined) {
    const lists = [document.get("phases"), ...next.parents.map(innerOf)];
    const [phase = null, step = null, part = null] = [...next.parents, next.map].map((one, depth) =>
      maps(lists[depth]).indexOf(one)
    );
    setKeys(document, { current: { phase, step, "sub-phase": part } });
  }
  count(document);
}

/** A leaf is done. */
export function complete(document: Document, leaf: Leaf, now: string): void {
  leaf.map.set("status", "completed");
  leaf.map.set("completed-at", now);
  rollUp(document, leaf, now);
}

/** A leaf that was done is to be done again. */
export function reopen(document: Document, leaf: Leaf, now: string): void {
  leaf.map.set("status", "pending");
  leaf.map.delete("completed-at");
  rollUp(document, leaf, now);
}

/**
 * New leaves behind the one at hand (`mark.after`), in the order of the calls, else as phases at the end.
 *
 * @returns their ids
 */
export function addLeaves(document: Document, prompts: readonly string[], mark: StepMark): readonly string[] {
  const leaf = leavesOf(document).find(({ id }) => id === mark.after);
  const list = leaf?.list ?? sequence(document, "phases");
  let at = leaf === undefined ? list.items.length : list.items.indexOf(leaf.map) + 1;
  const isAdded = (item: unknown): boolean =>
    isMap(item) && item.get("injected") === true && item.get("added-in-iteration") === mark.iteration;
  while (leaf !== undefined && isAdded(list.items[at])) at += 1;
  const first = nextNumber(list, "added");
  const made = prompts.map((prompt, index) =>
    document.createNode({
      id: `added-${first + index}`,
      status: "pending",
      prompt,
      injected: true,
      "injected-at": mark.now,
      "added-in-iteration": mark.iteration,
    })
  );
  list.items.splice(at, 0, ...made);
  if (leaf !== undefined && made.length > 0) rollUp(document, leaf, mark.now);
  return prompts.map((_, index) => `${leaf?.prefix ?? ""}added-${first + index}`);
}

/** The last check of everything failed: a phase at the end repairs it. */
export function openRepair(document: Document, now: string): boolean {
  const list = sequence(document, "phases");
  let repair = maps(list).find((map) => map.get("id") === REPAIR);
  if (repair === undefined) {
    repair = document.createNode({ id: REPAIR, status: "pending", prompt: REPAIR_PROMPT, injected: true }) as YAMLMap;
    list.add(repair);
  }
  const leaf = leavesOf(document).find(({ map }) => map === repair);
  if (leaf !== undefined) reopen(document, leaf, now);
  return true;
}

/** Makes each leaf that failed or was blocked pending again. */
export function retryLeaves(document: Document, now: string): boolean {
  const stuck = leavesOf(document).filter(({ map }) => STUCK.includes(statusOf(map)));
  for (const leaf of stuck) {
    leaf.map.set("status", "pending");
    rollUp(document, leaf, now);
  }
  return stuck.length > 0;
}

/** The parts of a phase or a step; `null` if its own prompt is carried out. */
function innerOf(map: YAMLMap): YAMLSeq | null {
  const steps = map.get("steps") ?? map.get("phases");
  return isSeq(steps) && (steps.items.length > 0 || !map.has("prompt")) ? steps : null;
}

/** Updates those counters that the file has. */
function count(document: Document): void {
  const phases = maps(document.get("phases"));
  const steps = phases.flatMap((phase) => maps(phase.get("steps")));
  for (const [name, list] of [["phases", phases], ["steps", steps]] as const) {
    if (!document.hasIn(["stats", `completed-${name}`])) continue;
    document.setIn(["stats", `completed-${name}`], list.filter(isOver).length);
    if (document.hasIn(["stats", `total-${name}`])) document.setIn(["stats", `total-${name}`], list.length);
  }
}
