/**
 * The phases of a workflow in standard mode, with the steps of SPRINT.yaml put in. Loads the YAML library: import it when
 * a sprint is at hand.
 *
 * @module
 */
import { type Plain, plain, textOf } from "../plain.ts";
import { readWorkflow } from "../../hooks/prompt.ts";
import { parseYaml, type ProgressDocument } from "./document.ts";
import type { SprintProblem } from "./hook_definitions.ts";
import { lineOf } from "./nodes.ts";

/** A file that phases or steps are read from. */
export interface Source {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  readonly document: ProgressDocument;
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

const TEMPLATE_REGEXP = /\{\{\s*([\w-]+\.[\w.-]+)\s*\}\}/g;
const MOST_DEPTH = 5;
const EACH_STEP: Plain = { id: "steps", "for-each": "step" };

/** The functions below share this. */
interface Expansion {
  readonly root: string;
  readonly sprint: Source;
  /** SPRINT.yaml. */
  readonly all: Plain;
  readonly problems: SprintProblem[];
}

/** A place in a file. */
interface At {
  readonly source: Source;
  readonly place: Place;
}

/** Values that phases may name, the step that they are for, `null` for none, and the workflows on the way. */
interface Scope {
  readonly values: Values;
  readonly step: string | null;
  readonly chain: readonly string[];
}

/** Expands the phases, and says all that is wrong with them. */
export async function expandPhases(
  { root, sprint, workflow, sprintId }: Pick<Expansion, "root" | "sprint"> & {
    /** `null`: SPRINT.yaml names none, each step is carried out as it is. */
    readonly workflow: Source | null;
    readonly sprintId: string;
  },
): Promise<{ readonly phases: readonly CompiledPhase[]; readonly problems: readonly SprintProblem[] }> {
  const all = plain(sprint.document.toJS());
  const values = { "sprint.id": sprintId, "sprint.name": textOf(all["name"]) ?? sprintId };
  const scope: Scope = { values, step: null, chain: [] };
  const to: Expansion = { root, sprint, all, problems: [] };
  const given = workflow === null ? [] : phasesIn(to, workflow);
  // a workflow for one step, named for a whole sprint, is meant for each of them
  const namesItem = given.some((phase) => /\{\{\s*(?:step|item)\./.test(textOf(phase["prompt"]) ?? ""));
  if (workflow === null || (namesItem && !given.some((phase) => "for-each" in phase))) {
    const each = await eachStep(to, EACH_STEP, { source: workflow ?? sprint, place: ["steps"], own: workflow }, scope);
    return { phases: [each], problems: to.problems };
  }
  const phases: CompiledPhase[] = [];
  for (const { phase, ...at } of sound(to, workflow, given)) {
    const named = textOf(phase["workflow"]);
    const inner = { ...scope, values: valuesIn(scope, phase, at) };
    if (phase["for-each"] !== undefined) phases.push(await eachStep(to, phase, { ...at, own: null }, scope));
    else if (named === null) phases.push(leafOf(phase, inner));
    else phases.push(partOf(phase, { steps: await inWorkflow(to, named, at, inner) }));
  }
  return { phases, problems: to.problems };
}

/** A phase with a part for each step of a collection; `own`: the workflow whose phases they get. */
async function eachStep(to: Expansion, phase: Plain, at: At & { readonly own: Source | null }, scope: Scope) {
  const steps: CompiledPhase[] = [];
  for (const { id, prompt, workflow, place, values } of stepsOf(to, String(phase["for-each"]), at)) {
    const inner = { ...scope, step: prompt, values: { ...valuesIn(scope, phase, at), ...values } };
    const named = workflow ?? (at.own === null ? textOf(phase["workflow"]) : null);
    const from = workflow === null ? at : { source: to.sprint, place: [...place, "workflow"] };
    let phases: readonly CompiledPhase[];
    if (named !== null) phases = await inWorkflow(to, named, from, inner);
    else if (at.own !== null) phases = await fromPhases(to, at.own, inner);
    else phases = [{ id: "execute", status: "pending", prompt: fill(textOf(phase["prompt"]), inner) ?? prompt }];
    steps.push({ id, status: "pending", prompt, phases });
  }
  return partOf(phase, { steps });
}

/** The phases of another workflow. */
async function inWorkflow(to: Expansion, name: string, at: At, scope: Scope): Promise<readonly CompiledPhase[]> {
  const chain = [...scope.chain, name];
  if (scope.chain.includes(name) || chain.length > MOST_DEPTH) {
    return addProblem(to, at, "CYCLE_DETECTED", `the workflows name each other: ${chain.join(" → ")}`);
  }
  const file = await readWorkflow(to.root, name.replace(/\.ya?ml$/, ""));
  if (file === null) return addProblem(to, at, "WORKFLOW_NOT_FOUND", `there is no .claude/workflows/${name}.yaml`);
  return await fromPhases(to, { ...file, document: parseYaml(file.text, file.path) }, { ...scope, chain });
}

async function fromPhases(to: Expansion, source: Source, scope: Scope): Promise<readonly CompiledPhase[]> {
  const done: CompiledPhase[] = [];
  for (const { phase, ...at } of sound(to, source, phasesIn(to, source))) {
    const own = { ...scope, values: valuesIn(scope, phase, at) };
    const named = textOf(phase["workflow"]);
    if (named !== null) {
      const inner = await inWorkflow(to, named, at, own);
      done.push(...inner.map((part) => ({ ...part, id: `${idOf(phase)}-${part.id}` })));
    } else if (phase["for-each"] !== undefined && textOf(phase["prompt"]) === null) {
      done.push(partOf(phase, { prompt: scope.step ?? "" })); // within one step, `for-each` is for this one
    } else done.push(leafOf(phase, own));
  }
  return done;
}

function phasesIn(to: Expansion, source: Source): readonly Plain[] {
  const phases = plain(source.document.toJS())["phases"];
  if (Array.isArray(phases) && phases.length > 0) return phases.map(plain);
  const message = "a workflow in standard mode needs phases; a free loop needs `mode: ralph`";
  return addProblem(to, { source, place: ["phases"] }, "MISSING_PHASES", message);
}

/** The phases that can be carried out, with their places; the others are reported. */
function* sound(to: Expansion, source: Source, phases: readonly Plain[]): Generator<At & { readonly phase: Plain }> {
  for (const [index, phase] of phases.entries()) {
    const at = { source, place: ["phases", index] };
    const id = idOf(phase);
    const acts = ["prompt", "workflow", "for-each"].some((key) => textOf(phase[key]) !== null) ||
      phase["break"] === true;
    if (id === "") addProblem(to, at, "MISSING_PHASE_ID", "a phase needs an `id`");
    const message = `the phase ${id} needs \`prompt\`, \`for-each\`, \`workflow\` or \`break: true\``;
    if (!acts) addProblem(to, at, "PHASE_MISSING_ACTION", message);
    if (id !== "" && acts) yield { phase, ...at };
  }
}

/** `collections: { NAME: … }`, or the list `steps`. */
function stepsOf(to: Expansion, name: string, at: At) {
  const named = plain(to.all["collections"])[name];
  const list = named ?? to.all["steps"];
  if (!Array.isArray(list) || list.length === 0) {
    const message = `\`for-each: ${name}\` needs \`collections.${name}\` or \`steps\` in ${to.sprint.path}`;
    return addProblem(to, at, "MISSING_STEPS", message);
  }
  return list.flatMap((item: unknown, index) => {
    const place = [...(named === undefined ? ["steps"] : ["collections", name]), index];
    const fields = typeof item === "string" ? { prompt: item } : plain(item);
    const prompt = textOf(fields["prompt"]) ?? textOf(fields["description"]) ?? textOf(fields["name"]);
    if (prompt === null) {
      return addProblem(to, { source: to.sprint, place }, "INVALID_STEP", "a step is a text, or has a `prompt`");
    }
    const id = scalar(fields["id"]) ?? `${name}-${index}`;
    const values = Object.entries({ ...fields, prompt, id, index }).flatMap(([key, value]) => {
      const text = scalar(value);
      return text === null ? [] : [`item.${key}`, `step.${key}`, `${name}.${key}`].map((full) => [full, text] as const);
    });
    return { id, prompt, workflow: textOf(fields["workflow"]), values: Object.fromEntries(values), place };
  });
}

/** @returns nothing, which stands for what is wrong */
function addProblem({ problems }: Expansion, { source, place }: At, code: string, message: string): readonly never[] {
  const line = lineOf(source.text, source.document.getIn(place, true));
  problems.push({ code, message: `${source.path}${line === null ? "" : `:${line}`}: ${message}` });
  return [];
}

function leafOf(phase: Plain, scope: Scope): CompiledPhase {
  const prompt = fill(textOf(phase["prompt"]), scope);
  return partOf(phase, prompt === null ? {} : { prompt });
}

/** A phase may have `break` and `gate` beside its prompt or its parts, as they are. */
function partOf(phase: Plain, content: Pick<CompiledPhase, "prompt" | "steps">): CompiledPhase {
  return {
    id: idOf(phase),
    status: "pending",
    ...content,
    ...(phase["break"] === true ? { break: true } : {}),
    ...(phase["gate"] === undefined ? {} : { gate: phase["gate"] }),
  };
}

/** Filled once: a step's text may hold `{{…}}` itself. */
function fill(template: string | null, { values }: Scope): string | null {
  return template?.replaceAll(TEMPLATE_REGEXP, (place, name: string) => values[name] ?? place) ?? null;
}

function valuesIn({ values }: Scope, phase: Plain, { place }: At): Values {
  const index = place.at(-1);
  return { ...values, "phase.id": idOf(phase), "phase.index": typeof index === "number" ? String(index) : "0" };
}

function idOf(phase: Plain): string {
  return scalar(phase["id"]) ?? "";
}

function scalar(value: unknown): string | null {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : null;
}
