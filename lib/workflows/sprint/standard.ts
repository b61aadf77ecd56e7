/**
 * The phases of a workflow in standard mode, with the steps of SPRINT.yaml put in. Loads the YAML library: import it when
 * a sprint is at hand.
 *
 * @module
 */
import { type Plain, plain, textOf } from "../plain.ts";
import { isNode } from "yaml";
import { readWorkflow } from "../../hooks/prompt.ts";
import { parseYaml, type ProgressDocument } from "./document.ts";
import type { SprintProblem } from "./hook_definitions.ts";

/** A file that phases or steps are read from. */
export interface Source {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  readonly document: ProgressDocument;
}

/** The sources of a sprint in standard mode. */
export interface ToExpand {
  readonly root: string;
  readonly sprint: Source;
  /** `null`: SPRINT.yaml names none, each step is carried out as it is. */
  readonly workflow: Source | null;
  readonly sprintId: string;
}

/** As PROGRESS.yaml has it. */
export interface CompiledPhase {
  readonly id: string;
  readonly status: "pending";
  readonly prompt?: string;
  readonly steps?: readonly CompiledPhase[];
  readonly phases?: readonly CompiledPhase[];
  readonly break?: true;
  readonly gate?: unknown;
}

type Place = readonly (string | number)[];

/** The values of a template, by name: `step.prompt`. */
type Values = Readonly<Record<string, string>>;

interface Step {
  readonly id: string;
  readonly prompt: string;
  readonly workflow: string | null;
  readonly values: Values;
  readonly place: Place;
}

const TEMPLATE_REGEXP = /\{\{\s*([\w-]+\.[\w.-]+)\s*\}\}/g;
const MOST_DEPTH = 5;
const EACH_STEP: Plain = { id: "steps", "for-each": "step" };

/** The functions below share this. */
interface Expansion {
  readonly root: string;
  readonly sprint: Source;
  /** SPRINT.yaml. */
  readonly all: Plain;
  /** Every template may name these. */
  readonly base: Values;
  readonly problems: SprintProblem[];
}

/** A place in a file. */
interface At {
  readonly source: Source;
  readonly place: Place;
}

/** The step that phases are for, `null` for none, and the workflows on the way. */
interface Within {
  readonly step: string | null;
  readonly chain: readonly string[];
}

/** Expands the phases, and says all that is wrong with them. */
export async function expandPhases(
  { root, sprint, workflow, sprintId }: ToExpand,
): Promise<{ readonly phases: readonly CompiledPhase[]; readonly problems: readonly SprintProblem[] }> {
  const all = plain(sprint.document.toJS());
  const base: Values = { "sprint.id": sprintId, "sprint.name": textOf(all["name"]) ?? sprintId };
  const to: Expansion = { root, sprint, all, base, problems: [] };
  const given = workflow === null ? [] : phasesIn(to, workflow);
  if (workflow === null || (!given.some((phase) => "for-each" in phase) && namesItem(given))) {
    const each = await eachStep(to, EACH_STEP, {
      source: workflow ?? sprint,
      place: ["steps"],
      own: workflow,
      index: 0,
    });
    return { phases: [each], problems: to.problems };
  }
  const phases: CompiledPhase[] = [];
  for (const [index, phase] of given.entries()) {
    const at = { source: workflow, place: ["phases", index] };
    if (isSound(to, phase, at)) phases.push(await topPhase(to, phase, { ...at, index }));
  }
  return { phases, problems: to.problems };
}

async function topPhase(to: Expansion, phase: Plain, at: At & { readonly index: number }): Promise<CompiledPhase> {
  if (phase["for-each"] !== undefined) return await eachStep(to, phase, { ...at, own: null });
  const values = { ...to.base, ...phaseValues(phase, at.index) };
  const named = textOf(phase["workflow"]);
  if (named === null) return leafOf(phase, values);
  const steps = await inWorkflow(to, named, { ...at, values, within: { step: null, chain: [] } });
  return { id: idOf(phase), status: "pending", steps, ...kept(phase) };
}

/** A phase with a part for each step of a collection; `own`: the workflow whose phases they get. */
async function eachStep(
  to: Expansion,
  phase: Plain,
  at: At & { readonly own: Source | null; readonly index: number },
): Promise<CompiledPhase> {
  const steps: CompiledPhase[] = [];
  for (const step of stepsOf(to, String(phase["for-each"]), at)) {
    const values = { ...to.base, ...phaseValues(phase, at.index), ...step.values };
    const phases = await phasesOfStep(to, { phase, step, values, at });
    steps.push({ id: step.id, status: "pending", prompt: step.prompt, phases });
  }
  return { id: idOf(phase), status: "pending", steps, ...kept(phase) };
}

async function phasesOfStep(
  to: Expansion,
  { phase, step, values, at }: {
    readonly phase: Plain;
    readonly step: Step;
    readonly values: Values;
    readonly at: At & { readonly own: Source | null };
  },
): Promise<readonly CompiledPhase[]> {
  const within = { step: step.prompt, chain: [] };
  if (step.workflow !== null) {
    const place = [...step.place, "workflow"];
    return await inWorkflow(to, step.workflow, { source: to.sprint, place, values, within });
  }
  if (at.own !== null) return await fromPhases(to, at.own, { values, within });
  const named = textOf(phase["workflow"]);
  if (named !== null) return await inWorkflow(to, named, { ...at, values, within });
  const prompt = textOf(phase["prompt"]);
  return [{ id: "execute", status: "pending", prompt: prompt === null ? step.prompt : fill(prompt, values) }];
}

/** The phases of another workflow. */
async function inWorkflow(
  to: Expansion,
  name: string,
  at: At & { readonly values: Values; readonly within: Within },
): Promise<readonly CompiledPhase[]> {
  const { step, chain: before } = at.within;
  const chain = [...before, name];
  if (before.includes(name) || chain.length > MOST_DEPTH) {
    addProblem(to, at, ["CYCLE_DETECTED", `the workflows name each other: ${chain.join(" → ")}`]);
    return [];
  }
  const file = await readWorkflow(to.root, name.replace(/\.ya?ml$/, ""));
  if (file === null) {
    addProblem(to, at, ["WORKFLOW_NOT_FOUND", `there is no .claude/workflows/${name}.yaml`]);
    return [];
  }
  const source = { ...file, document: parseYaml(file.text, file.path) };
  return await fromPhases(to, source, { values: at.values, within: { step, chain } });
}

async function fromPhases(
  to: Expansion,
  source: Source,
  { values, within }: { readonly values: Values; readonly within: Within },
): Promise<readonly CompiledPhase[]> {
  const done: CompiledPhase[] = [];
  for (const [index, phase] of phasesIn(to, source).entries()) {
    const at = { source, place: ["phases", index] };
    if (!isSound(to, phase, at)) continue;
    const own = { ...values, ...phaseValues(phase, index) };
    const named = textOf(phase["workflow"]);
    if (named !== null) {
      const inner = await inWorkflow(to, named, { ...at, values: own, within });
      done.push(...inner.map((part) => ({ ...part, id: `${idOf(phase)}-${part.id}` })));
    } else if (phase["for-each"] !== undefined && textOf(phase["prompt"]) === null) {
      // within one step, `for-each` is for this one
      done.push({ id: idOf(phase), status: "pending", prompt: within.step ?? "", ...kept(phase) });
    } else done.push(leafOf(phase, own));
  }
  return done;
}

function phasesIn(to: Expansion, source: Source): readonly Plain[] {
  const phases = plain(source.document.toJS())["phases"];
  if (Array.isArray(phases) && phases.length > 0) return phases.map(plain);
  const message = "a workflow in standard mode needs phases; a free loop needs `mode: ralph`";
  addProblem(to, { source, place: ["phases"] }, ["MISSING_PHASES", message]);
  return [];
}

function isSound(to: Expansion, phase: Plain, at: At): boolean {
  const before = to.problems.length;
  const id = idOf(phase);
  if (id === "") addProblem(to, at, ["MISSING_PHASE_ID", "a phase needs an `id`"]);
  if (!["prompt", "workflow", "for-each"].some((key) => textOf(phase[key]) !== null) && phase["break"] !== true) {
    const message = `the phase ${id} needs \`prompt\`, \`for-each\`, \`workflow\` or \`break: true\``;
    addProblem(to, at, ["PHASE_MISSING_ACTION", message]);
  }
  return to.problems.length === before;
}

/** `collections: { NAME: … }`, or the list `steps`. */
function stepsOf(to: Expansion, name: string, at: At): readonly Step[] {
  const named = plain(to.all["collections"])[name];
  const list = named ?? to.all["steps"];
  const place = named === undefined ? ["steps"] : ["collections", name];
  if (!Array.isArray(list) || list.length === 0) {
    const message = `\`for-each: ${name}\` needs \`collections.${name}\` or \`steps\` in ${to.sprint.path}`;
    addProblem(to, at, ["MISSING_STEPS", message]);
    return [];
  }
  return list.flatMap((item: unknown, index) => {
    const step = stepOf(item, { name, index, place: [...place, index] });
    if (step === null) {
      const where = { source: to.sprint, place: [...place, index] };
      addProblem(to, where, ["INVALID_STEP", "a step is a text, or has a `prompt`"]);
    }
    return step ?? [];
  });
}

function stepOf(
  item: unknown,
  { name, index, place }: { readonly name: string; readonly index: number; readonly place: Place },
): Step | null {
  const fields = typeof item === "string" ? { prompt: item } : plain(item);
  const prompt = textOf(fields["prompt"]) ?? textOf(fields["description"]) ?? textOf(fields["name"]);
  if (prompt === null) return null;
  const id = scalar(fields["id"]) ?? `${name}-${index}`;
  const values = Object.entries({ ...fields, prompt, id, index }).flatMap(([key, value]) => {
    const text = scalar(value);
    return text === null ? [] : [`item.${key}`, `step.${key}`, `${name}.${key}`].map((full) => [full, text] as const);
  });
  return { id, prompt, workflow: textOf(fields["workflow"]), values: Object.fromEntries(values), place };
}

function addProblem(
  { problems }: Expansion,
  { source, place }: At,
  [code, message]: readonly [code: string, message: string],
): void {
  const node = source.document.getIn(place, true);
  const start = isNode(node) ? node.range?.[0] : undefined;
  const line = start === undefined ? "" : `:${source.text.slice(0, start).split("\n").length}`;
  problems.push({ code, message: `${source.path}${line}: ${message}` });
}

function leafOf(phase: Plain, values: Values): CompiledPhase {
  const prompt = textOf(phase["prompt"]);
  const filled = prompt === null ? {} : { prompt: fill(prompt, values) };
  return { id: idOf(phase), status: "pending", ...filled, ...kept(phase) };
}

/** A phase may have these beside its prompt, as they are. */
function kept(phase: Plain): Pick<CompiledPhase, "break" | "gate"> {
  return {
    ...(phase["break"] === true ? { break: true } : {}),
    ...(phase["gate"] === undefined ? {} : { gate: phase["gate"] }),
  };
}

/** Filled once: a step's text may hold `{{…}}` itself. */
function fill(template: string, values: Values): string {
  return template.replaceAll(TEMPLATE_REGEXP, (place, name: string) => values[name] ?? place);
}

/** A workflow for one step, named for a whole sprint: it is meant for each of them. */
function namesItem(phases: readonly Plain[]): boolean {
  return phases.some((phase) => /\{\{\s*(?:step|item)\./.test(textOf(phase["prompt"]) ?? ""));
}

function phaseValues(phase: Plain, index: number): Values {
  return { "phase.id": idOf(phase), "phase.index": String(index) };
}

function idOf(phase: Plain): string {
  return scalar(phase["id"]) ?? "";
}

function scalar(value: unknown): string | null {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : null;
}
