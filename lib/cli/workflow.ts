import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import type { Invocation } from "./command.ts";
import { nearest } from "../errors/nearest.ts";
import { usage } from "./parse.ts";

/** A workflow as the command line knows it. */
interface WorkflowRow {
  readonly name: string;
  /** A path below the root whose existence means that the workflow is in use. */
  readonly state: string;
  /** Where a path alone does not tell. */
  readonly isUsed?: (root: string) => Promise<boolean>;
}

const WORKFLOWS: readonly WorkflowRow[] = [
  { name: "exec", state: "scripts/ralph" },
  { name: "sprint", state: ".claude/sprints" },
  { name: "feature", state: ".ralph/<date>-<feature>", isUsed: hasFeatures },
  { name: "spec", state: "ralph/plan.jsonl" },
  { name: "gsd", state: ".planning" },
];
const DEFAULT = "exec";

/** Every workflow's name. */
export const WORKFLOW_NAMES: readonly string[] = WORKFLOWS.map(({ name }) => name);

/** The chosen workflow, and why it was. */
export interface ChosenWorkflow {
  readonly name: string;
  readonly why: string;
  /** Nothing said which: no flag, no configuration, no state of only one. */
  readonly byDefault?: true;
}

/** A phase of GSD as an argument: `3`, `02.1`, `12A`. */
const PHASE_REGEXP = /^\d+[A-Za-z]?(\.\d+)*$/;

/** The workflow that a command line is only understood in, whatever stands on disk; `null` where it says nothing. Pure. */
export function workflowOfGrammar(
  { command, arguments: [first = ""] = [], flags }:
    & Pick<Invocation, "flags">
    & Partial<Pick<Invocation, "arguments" | "command">>,
): ChosenWorkflow | null {
  if (command === undefined) return null;
  const gsd = (why: string): ChosenWorkflow => ({ name: "gsd", why });
  if (command.name === "exec" || command.name === "understand") {
    return { name: "exec", why: `\`ralph ${command.name}\`` };
  }
  if (command.name === "roadmap" || command.name === "discover") return gsd(`\`ralph ${command.name}\``);
  if (command.name === "run" && flags.has("loop")) return gsd("`--loop`");
  if (command.name === "run" && flags.has("plan")) return gsd("`--plan`");
  if (command.name === "plan" && PHASE_REGEXP.test(first)) return gsd(`${first} is a phase`);
  return null;
}

/**
 * Which workflow a command works on: the flag, the configuration, the command's own grammar, the only one whose state
 * exists, `exec`.
 *
 * @throws {RalphError} usage when the flag names none
 */
export async function chooseWorkflow(
  root: string,
  asked: {
    readonly flag?: string | undefined;
    readonly config?: string | undefined;
    readonly grammar?: ChosenWorkflow | null;
  },
): Promise<ChosenWorkflow> {
  if (asked.flag !== undefined) return { name: known(asked.flag), why: "`--workflow`" };
  if (asked.config !== undefined) return { name: known(asked.config), why: "the configuration" };
  if (asked.grammar !== undefined && asked.grammar !== null) return asked.grammar;
  const found: WorkflowRow[] = [];
  for (const workflow of WORKFLOWS) {
    if (await isUsed(workflow, root)) found.push(workflow);
  }
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return { name: only.name, why: `${only.state} exists` };
  return { name: DEFAULT, why: "the default", byDefault: true };
}

function known(name: string): string {
  if (WORKFLOW_NAMES.includes(name)) return name;
  const near = nearest(name, WORKFLOW_NAMES);
  throw usage(
    `there is no workflow named ${name}`,
    near === null ? `workflows: ${WORKFLOW_NAMES.join(", ")}` : `did you mean \`--workflow ${near}\`?`,
  );
}

async function isUsed({ state, isUsed }: WorkflowRow, root: string): Promise<boolean> {
  return isUsed === undefined ? await pathExists(join(root, state)) : await isUsed(root);
}

async function hasFeatures(root: string): Promise<boolean> {
  if (!await pathExists(join(root, ".ralph"))) return false;
  const { listFeatures } = await import("../workflows/feature/directories.ts");
  return (await listFeatures(root)).length > 0;
}
