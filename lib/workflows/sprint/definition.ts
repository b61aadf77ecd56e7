import { type Plain, plain, textOf } from "../plain.ts";
import { join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { readText } from "../../host/files.ts";
import { isExternalWorkflow, readWorkflow, workflowPrompt } from "../../hooks/prompt.ts";
import { mergeHooks, type SprintProblem } from "./hook_definitions.ts";
import type { SprintPaths } from "./paths.ts";
import type { CompiledPhase, ToExpand } from "./standard.ts";
import type { HookEntry } from "./types.ts";

/** The workflow `ralph`, where the project has none of that name: the three hooks of old, all off. */
const RALPH_WORKFLOW = `name: Ralph Mode Workflow
description: Autonomous goal-driven execution with configurable per-iteration hooks

mode: ralph

per-iteration-hooks:
  - id: learning
    workflow: "m42-signs:learning-extraction"
    parallel: true
    enabled: false

  - id: documentation
    prompt: |
      Review changes from this iteration and update relevant documentation.
      Focus on API changes, new features, and breaking changes.
      The iteration's transcript is $ITERATION_TRANSCRIPT.
    parallel: true
    enabled: false

  - id: tests
    prompt: |
      Analyze code changes and suggest additional test cases.
      The iteration's transcript is $ITERATION_TRANSCRIPT.
    parallel: true
    enabled: false
`;

/** A sprint as SPRINT.yaml and its workflow define it. */
export interface SprintDefinition {
  readonly sprintId: string;
  /** `standard`: phases and their steps in order. `ralph`: a free loop over the goal. */
  readonly mode: "standard" | "ralph";
  readonly workflow: string;
  /** The workflow's origin: a path, or `built-in`. */
  readonly workflowFrom: string;
  readonly goal: string;
  readonly goalPrompt: string | null;
  readonly stepPrompt: string | null;
  readonly reflectionPrompt: string | null;
  readonly idleThreshold: number;
  readonly minIterations: number;
  readonly hooks: readonly HookEntry[];
  /** Standard mode: what is carried out, in order. */
  readonly phases: readonly CompiledPhase[];
  /** Keys that were hardly meant so, a line each. */
  readonly warnings: readonly string[];
}

const IDLE_THRESHOLD = 3;
const BUILT_IN = "built-in";
const NO_PHASES = { phases: [], problems: [] } as const;

/** Reads both files. @throws {RalphError} sprint-invalid with every problem, state-missing, state-invalid */
export async function readDefinition(root: string, paths: SprintPaths): Promise<SprintDefinition> {
  const { name, from, sprint, workflow, warnings, sources } = await readFiles(root, paths);
  const problems: SprintProblem[] = [];
  if (from === null) {
    problems.push({ code: "WORKFLOW_NOT_FOUND", message: `there is no .claude/workflows/${name}.yaml` });
  }
  const mode = workflow === null ? null : modeOf(workflow, from ?? name, problems);
  const goal = textOf(sprint["goal"]);
  if (goal === null && (workflow === null || mode === "ralph")) {
    problems.push({ code: "RALPH_MISSING_GOAL", message: "a sprint in ralph mode needs a goal" });
  }
  const sprintId = textOf(sprint["sprint-id"]) ?? paths.name;
  const { expandPhases } = await import("./standard.ts");
  const expanded = mode === "standard" ? await expandPhases({ root, ...sources, sprintId }) : NO_PHASES;
  problems.push(...expanded.problems);
  const merged = workflow === null ? { hooks: [], problems: [] } : mergeHooks(
    workflow["per-iteration-hooks"],
    sprint["per-iteration-hooks"],
    from === BUILT_IN ? "the built-in workflow" : from ?? name,
  );
  problems.push(...merged.problems, ...await workflowProblems(root, merged.hooks));
  const own = { ...plain(workflow?.["ralph"]), ...plain(sprint["ralph"]) };
  const count = (key: string, least: number, without: number): number => {
    const value = own[key];
    if (value === undefined || value === null) return without;
    if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
    problems.push({
      code: "INVALID_VALUE",
      message: `ralph.${key} must be a whole number of at least ${least} (got: ${JSON.stringify(value)})`,
    });
    return without;
  };
  const definition: SprintDefinition = {
    sprintId,
    mode: mode ?? "ralph",
    workflow: name,
    workflowFrom: from ?? "",
    goal: goal ?? (mode === "standard" ? textOf(sprint["name"]) ?? "" : ""),
    goalPrompt: textOf(sprint["goal-prompt"]) ?? textOf(workflow?.["goal-prompt"]),
    stepPrompt: textOf(sprint["step-prompt"]) ?? textOf(workflow?.["step-prompt"]),
    reflectionPrompt: textOf(sprint["reflection-prompt"]) ?? textOf(workflow?.["reflection-prompt"]),
    idleThreshold: count("idle-threshold", 1, IDLE_THRESHOLD),
    minIterations: count("min-iterations", 0, 0),
    hooks: merged.hooks,
    phases: expanded.phases,
    warnings,
  };
  if (problems.length === 0) return definition;
  const lines = [...problems.map(({ code, message }) => `${code}: ${message}`), ...warnings];
  const problem = [`${problems.length} problem${problems.length === 1 ? "" : "s"}`, ...lines].join("\n  ");
  throw new RalphError("sprint-invalid", { details: { path: paths.definition, problem } });
}

/** The content of both files. */
interface Files {
  /** The workflow's name. */
  readonly name: string;
  /** The workflow's path; `null`: none. */
  readonly from: string | null;
  readonly sprint: Plain;
  readonly workflow: Plain | null;
  readonly warnings: readonly string[];
  readonly sources: Pick<ToExpand, "sprint" | "workflow">;
}

async function readFiles(root: string, { definition }: SprintPaths): Promise<Files> {
  const text = await readText(join(root, definition));
  if (text === null) {
    throw new RalphError("state-missing", {
      details: { path: definition },
      hint: "write it: `workflow: ralph` and a `goal`",
    });
  }
  const { parseYaml } = await import("./document.ts");
  const { mistypedKeys } = await import("./mistyped.ts");
  const document = parseYaml(text, definition);
  const sprint = plain(document.toJS());
  const own = { path: definition, text, document };
  const hasSteps = sprint["steps"] !== undefined || sprint["collections"] !== undefined;
  const name = textOf(sprint["workflow"]) ?? (hasSteps && sprint["goal"] === undefined ? "standard" : "ralph");
  const warnings = mistypedKeys(document, text, definition);
  const file = await readWorkflow(root, name);
  if (file !== null) {
    const workflow = parseYaml(file.text, file.path);
    const all = [...warnings, ...mistypedKeys(workflow, file.text, file.path)];
    const sources = { sprint: own, workflow: { ...file, document: workflow } };
    return { name, from: file.path, sprint, workflow: plain(workflow.toJS()), warnings: all, sources };
  }
  const sources = { sprint: own, workflow: null };
  if (name === "standard") return { name, from: BUILT_IN, sprint, workflow: {}, warnings, sources };
  if (name !== "ralph") return { name, from: null, sprint, workflow: null, warnings, sources };
  const workflow = plain(parseYaml(RALPH_WORKFLOW, "the built-in workflow").toJS());
  return { name, from: BUILT_IN, sprint, workflow, warnings, sources };
}

function modeOf(workflow: Plain, from: string, problems: SprintProblem[]): SprintDefinition["mode"] | null {
  const mode = workflow["mode"] ?? "standard";
  if (mode === "ralph" || mode === "standard") return mode;
  const message = `${from}: mode must be standard or ralph (got: ${String(mode)})`;
  problems.push({ code: "INVALID_MODE", message });
  return null;
}

/** A hook whose local workflow is missing is reported now, not after the first iteration. */
async function workflowProblems(root: string, hooks: readonly HookEntry[]): Promise<readonly SprintProblem[]> {
  const problems: SprintProblem[] = [];
  for (const { id, workflow, enabled } of hooks) {
    if (workflow === undefined || isExternalWorkflow(workflow) || !enabled) continue;
    if (await workflowPrompt(root, workflow) !== null) continue;
    const message = `the hook ${id}: there is no .claude/workflows/${workflow}.yaml with a prompt or phases`;
    problems.push({ code: "HOOK_WORKFLOW_NOT_FOUND", message });
  }
  return problems;
}
