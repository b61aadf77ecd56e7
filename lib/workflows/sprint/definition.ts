import { type Plain, plain, textOf } from "../plain.ts";
import { join } from "node:path";
import { sprintInvalid, stateMissing } from "../../errors/ralph_error.ts";
import { readText } from "../../host/files.ts";
import { isExternalWorkflow, readWorkflow, workflowPrompt } from "../../hooks/prompt.ts";
import { type MergedHooks, mergeHooks, type SprintProblem } from "./hook_definitions.ts";
import type { SprintPaths } from "./paths.ts";
import type { CompiledPhase } from "./standard.ts";
import type { SprintSettings } from "./types.ts";

const REVIEW =
  "Review changes from this iteration and update relevant documentation.\nFocus on API changes, new features, and breaking changes.";
const TRANSCRIPT = "The iteration's transcript is $ITERATION_TRANSCRIPT.\n";

/** Workflows that a project need not have: a free loop with the three hooks of old, all off, and each step as it is. */
const BUILT_IN: ReadonlyMap<string, Plain> = new Map([
  ["ralph", {
    mode: "ralph",
    "per-iteration-hooks": [
      { id: "learning", workflow: "m42-signs:learning-extraction", enabled: false },
      { id: "documentation", prompt: `${REVIEW}\n${TRANSCRIPT}`, enabled: false },
      { id: "tests", prompt: `Analyze code changes and suggest additional test cases.\n${TRANSCRIPT}`, enabled: false },
    ],
  }],
  ["standard", {}],
]);

/** A sprint as SPRINT.yaml and its workflow define it. */
export interface SprintDefinition extends SprintSettings {
  /** `standard`: phases and their steps in order. `ralph`: a free loop over the goal. */
  readonly mode: "standard" | "ralph";
  readonly workflow: string;
  /** The workflow's origin: a path, or `built-in`. */
  readonly workflowFrom: string;
  /** Standard mode: what is carried out, in order. */
  readonly phases: readonly CompiledPhase[];
  /** Keys that were hardly meant so, a line each. */
  readonly warnings: readonly string[];
}

const FROM_RALPH = "built-in";

/** Reads both files. @throws {RalphError} sprint-invalid with every problem, state-missing, state-invalid */
export async function readDefinition(root: string, paths: SprintPaths): Promise<SprintDefinition> {
  const files = await readFiles(root, paths);
  const { name, from, sprint, workflow, warnings, sources } = files;
  const problems: SprintProblem[] = [];
  const wrong = (code: string, message: string): void => void problems.push({ code, message });
  if (workflow === null) wrong("WORKFLOW_NOT_FOUND", `there is no .claude/workflows/${name}.yaml`);
  const given = workflow === null ? "unknown" : workflow["mode"] ?? "standard";
  const mode = given === "ralph" || given === "standard" ? given : null;
  if (mode === null && workflow !== null) {
    wrong("INVALID_MODE", `${from}: mode must be standard or ralph (got: ${String(given)})`);
  }
  const goal = textOf(sprint["goal"]);
  if (goal === null && (workflow === null || mode === "ralph")) {
    wrong("RALPH_MISSING_GOAL", "a sprint in ralph mode needs a goal");
  }
  const sprintId = textOf(sprint["sprint-id"]) ?? paths.name;
  const { expandPhases } = await import("./standard.ts");
  const expanded = mode === "standard" ? await expandPhases({ root, ...sources, sprintId }) : null;
  problems.push(...expanded?.problems ?? []);
  const merged = await hooksIn(root, files);
  problems.push(...merged.problems);
  const own = { ...plain(workflow?.["ralph"]), ...plain(sprint["ralph"]) };
  const count = (key: string, least: number, without: number): number => {
    const value = own[key] ?? without;
    if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
    wrong("INVALID_VALUE", `ralph.${key} must be a whole number of at least ${least} (got: ${JSON.stringify(value)})`);
    return without;
  };
  const prompt = (key: string): string | null => textOf(sprint[key]) ?? textOf(workflow?.[key]);
  const definition: SprintDefinition = {
    sprintId,
    mode: mode ?? "ralph",
    workflow: name,
    workflowFrom: from,
    goal: goal ?? (mode === "standard" ? textOf(sprint["name"]) ?? "" : ""),
    goalPrompt: prompt("goal-prompt"),
    stepPrompt: prompt("step-prompt"),
    reflectionPrompt: prompt("reflection-prompt"),
    idleThreshold: count("idle-threshold", 1, 3),
    minIterations: count("min-iterations", 0, 0),
    hooks: merged.hooks,
    phases: expanded?.phases ?? [],
    warnings,
  };
  if (problems.length === 0) return definition;
  const lines = [...problems.map(({ code, message }) => `${code}: ${message}`), ...warnings];
  const problem = [`${problems.length} problem${problems.length === 1 ? "" : "s"}`, ...lines].join("\n  ");
  throw sprintInvalid(paths.definition, problem);
}

/** A hook whose local workflow is missing is reported now, not after the first iteration. */
async function hooksIn(
  root: string,
  { from, sprint, workflow }: Pick<Awaited<ReturnType<typeof readFiles>>, "from" | "sprint" | "workflow">,
): Promise<MergedHooks> {
  if (workflow === null) return { hooks: [], problems: [] };
  const words = from === FROM_RALPH ? "the built-in workflow" : from;
  const merged = mergeHooks(workflow["per-iteration-hooks"], sprint["per-iteration-hooks"], words);
  const problems = [...merged.problems];
  for (const { id, workflow: local, enabled } of merged.hooks) {
    if (local === undefined || isExternalWorkflow(local) || !enabled) continue;
    if (await workflowPrompt(root, local) !== null) continue;
    const message = `the hook ${id}: there is no .claude/workflows/${local}.yaml with a prompt or phases`;
    problems.push({ code: "HOOK_WORKFLOW_NOT_FOUND", message });
  }
  return { hooks: merged.hooks, problems };
}

async function readFiles(root: string, { definition }: SprintPaths) {
  const text = await readText(join(root, definition));
  if (text === null) throw stateMissing(definition, "write it: `workflow: ralph` and a `goal`");
  const { parseYaml } = await import("./document.ts");
  const { mistypedKeys } = await import("./mistyped.ts");
  const document = parseYaml(text, definition);
  const sprint = plain(document.toJS());
  const hasSteps = sprint["steps"] !== undefined || sprint["collections"] !== undefined;
  const name = textOf(sprint["workflow"]) ?? (hasSteps && sprint["goal"] === undefined ? "standard" : "ralph");
  const warnings = mistypedKeys(document, text, definition);
  const file = await readWorkflow(root, name);
  const own = { path: definition, text, document };
  if (file === null) {
    const workflow = BUILT_IN.get(name) ?? null;
    const from = workflow === null ? "" : FROM_RALPH;
    return { name, from, sprint, workflow, warnings, sources: { sprint: own, workflow: null } };
  }
  const parsed = parseYaml(file.text, file.path);
  const all = [...warnings, ...mistypedKeys(parsed, file.text, file.path)];
  const sources = { sprint: own, workflow: { ...file, document: parsed } };
  return { name, from: file.path, sprint, workflow: plain(parsed.toJS()), warnings: all, sources };
}
