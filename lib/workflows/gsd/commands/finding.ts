import { type GsdAction, installedCommands, slashCommand } from "../slash_commands.ts";
import { readOrError } from "../../read_or_error.ts";
import type { RalphError } from "../../../errors/ralph_error.ts";
import type { Host } from "../../../host/types.ts";
import type { Finding } from "../../../cli/finding.ts";
import type { Place } from "../../../cli/workspace.ts";

const ACTIONS: readonly GsdAction[] = ["init", "roadmap", "discover", "plan"];

/**
 * GSD's commands, where its workflow is in use: which one each of Ralph's planning commands types. Plans that are there
 * run without any of them.
 */
export async function gsdFinding(
  { config, root }: Place,
  { environment }: Pick<Host, "environment">,
): Promise<readonly Finding[]> {
  const installed = await installedCommands(root, environment);
  const calls: string[] = [];
  const problems: RalphError[] = [];
  for (const action of ACTIONS) {
    const configured = config.gsd.commands[action];
    const { value: call, error } = await readOrError(() => slashCommand(action, { configured, installed }));
    calls.push(`${action} ${call ?? "–"}`);
    if (error !== null && action === "plan") problems.unshift(error);
    else if (error !== null && configured !== undefined) problems.push(error);
  }
  const [problem] = problems;
  if (problem === undefined) return [{ level: "ok", name: "gsd", detail: calls.join(", ") }];
  const detail = `${problem.message}; plans that are there can be run`;
  return [{ level: "note", name: "gsd", detail, hint: problem.hint }];
}
