import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import { nearest } from "./suggest.ts";
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
  { name: "feature", state: ".ralph/<date>-<feature>", isUsed: hasFeatures },
  { name: "spec", state: "ralph/plan.jsonl" },
];
const DEFAULT = "exec";

/** The chosen workflow, and why it was. */
export interface ChosenWorkflow {
  readonly name: string;
  readonly why: string;
}

/**
 * Which workflow a command works on: the flag, the configuration, the only one whose state exists, `exec`.
 *
 * @throws {RalphError} usage when the flag names none
 */
export async function chooseWorkflow(
  root: string,
  asked: { readonly flag?: string | undefined; readonly config?: string | undefined },
): Promise<ChosenWorkflow> {
  if (asked.flag !== undefined) return { name: known(asked.flag), why: "`--workflow`" };
  if (asked.config !== undefined) return { name: known(asked.config), why: "the configuration" };
  const found: WorkflowRow[] = [];
  for (const workflow of WORKFLOWS) {
    if (await isUsed(workflow, root)) found.push(workflow);
  }
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return { name: only.name, why: `${only.state} exists` };
  return { name: DEFAULT, why: "the default" };
}

function known(name: string): string {
  const names = WORKFLOWS.map((workflow) => workflow.name);
  if (names.includes(name)) return name;
  const near = nearest(name, names);
  throw usage(
    `there is no workflow named ${name}`,
    near === null ? `workflows: ${names.join(", ")}` : `did you mean \`--workflow ${near}\`?`,
  );
}

async function isUsed({ state, isUsed }: WorkflowRow, root: string): Promise<boolean> {
  return isUsed === undefined ? await pathExists(join(root, state)) : await isUsed(root);
}

async function hasFeatures(root: string): Promise<boolean> {
  if (!await pathExists(join(root, ".ralph"))) return false;
  const { listFeatures } = await import("../backlogs/feature/directories.ts");
  return (await listFeatures(root)).length > 0;
}
