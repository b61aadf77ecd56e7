import { type Invocation, usage } from "../cli/command.ts";
import { findPlace, type Place } from "../cli/workspace.ts";
import { workflowRow, WORKFLOWS } from "../workflows/table.ts";
import type { Workflow, WorkflowRow } from "../workflows/workflow.ts";

/** The place, the workflow and the subject of a shared command. */
export interface Chosen {
  readonly place: Place;
  readonly workflow: Workflow;
  /** The argument; "" where there was none. */
  readonly scope: string;
}

/**
 * The workflow of a command that all share, loaded; a recipe's backlog where `--recipe` names one.
 *
 * @throws {RalphError} usage for an argument or a flag that it does not take
 */
export async function chosen(invocation: Invocation): Promise<Chosen> {
  const place = await unambiguous(invocation, await findPlace(invocation));
  const file = invocation.command.name === "run" ? undefined : invocation.flags.text("recipe");
  if (file !== undefined) {
    const { recipeViews } = await import("./recipe_views.ts");
    const recipe = { name: file, why: "`--recipe`" };
    return { place: { ...place, workflow: recipe }, workflow: await recipeViews(invocation, file), scope: "" };
  }
  const row = workflowRow(place.workflow.name);
  ensureScope(invocation, row);
  ensureFlags(invocation, place, row);
  return { place, workflow: row.workflow, scope: invocation.arguments[0] ?? "" };
}

/** If the state of several workflows exists, a person says which is meant; `ralph status` shows all of them. */
async function unambiguous(invocation: Invocation, place: Place): Promise<Place> {
  const { among } = place.workflow;
  const { command: { name }, flags } = invocation;
  if (among === undefined || ["", "status"].includes(name) || flags.has("recipe")) return place;
  const { setupPrompter } = await import("../cli/session.ts");
  const prompter = name === "run" ? await setupPrompter(invocation, place) : null;
  if (prompter === null) {
    throw usage(
      `several workflows are in use here, and nothing says which one is meant: ${among.join(", ")}`,
      `choose one: ${among.map((one) => `\`ralph ${name} --workflow ${one}\``).join(", ")}`,
    );
  }
  const choices = WORKFLOWS.filter((row) => among.includes(row.name))
    .map(({ name: value, hint }) => ({ value, label: value, hint }));
  const { value } = await prompter.ask({
    id: "run.workflow",
    kind: "select",
    message: "Several workflows are in use here. Which one?",
    initial: among[0]!,
    choices,
  });
  return { ...place, workflow: { name: value, why: "your answer" } };
}

/** @throws {RalphError} usage */
export function ensureScope({ arguments: [scope], command }: Invocation, { name, scope: takes }: WorkflowRow): void {
  if (scope === undefined || takes !== undefined) return;
  const other = WORKFLOWS.find((row) => row.scope !== undefined)?.name ?? "";
  throw usage(
    `\`ralph ${command.name}\` of the workflow ${name} takes no argument`,
    `\`ralph ${command.name} ${scope} --workflow ${other}\``,
  );
}

/** A flag of another workflow's `run`. */
function ensureFlags({ command, flags }: Invocation, { workflow: { why } }: Place, row: WorkflowRow): void {
  if (command.name !== "run") return;
  for (const { name, runFlags = {} } of WORKFLOWS.filter((other) => other !== row)) {
    for (const [flag, { value }] of Object.entries(runFlags)) {
      if (!flags.has(flag)) continue;
      const cap = flags.text(flag) ?? "";
      const instead = value === "N" && cap !== "" ? `\`--max-iterations ${cap}\`, or ` : "";
      throw usage(
        `--${flag} belongs to the workflow ${name}, not ${row.name} (${why})`,
        `${instead}\`--workflow ${name}\``,
      );
    }
  }
}
