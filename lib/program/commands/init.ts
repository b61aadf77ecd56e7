import type { Invocation } from "../../cli/command.ts";
import { findPlace, type Place } from "../../cli/workspace.ts";
import { createPrompter } from "../../ui/create_prompter.ts";
import { workflowRow, WORKFLOWS } from "../../workflows/table.ts";

/** `ralph init`: makes what is missing, lists it, overwrites nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const place = await askedPlace(invocation, await findPlace(invocation));
  return await (await workflowRow(place.workflow.name).load()).init(invocation, place);
}

/** Where nothing says which workflow, a person at a terminal does. */
async function askedPlace({ host, signal }: Invocation, place: Place): Promise<Place> {
  if (!place.workflow.byDefault || !host.terminal.interactive) return place;
  const prompter = createPrompter({ mode: "rich", terminal: host.terminal, approvals: new Set(), signal });
  const answer = await prompter.ask({
    id: "init.workflow",
    kind: "select",
    message: "Which workflow?",
    initial: place.workflow.name,
    choices: WORKFLOWS.map(({ name, hint }) => ({ value: name, label: name, hint })),
  });
  return { ...place, workflow: { name: answer.value, why: "your answer" } };
}
