import { type GsdAction, installedCommands, slashCommand } from "../slash_commands.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
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
  const found = ACTIONS.map((action) => commandOf(action, config.gsd.commands[action], installed));
  const problem = found.find(({ action, error }) => action === "plan" && error !== null)?.error ??
    found.find(({ isConfigured, error }) => isConfigured && error !== null)?.error;
  const detail = found.map(({ action, call }) => `${action} ${call ?? "–"}`).join(", ");
  return problem === undefined || problem === null ? [{ level: "ok", name: "gsd", detail }] : [{
    level: "note",
    name: "gsd",
    detail: `${problem.message}; plans that are there can be run`,
    hint: problem.hint,
  }];
}

interface Found {
  readonly action: GsdAction;
  readonly isConfigured: boolean;
  readonly call: string | null;
  readonly error: RalphError | null;
}

function commandOf(action: GsdAction, configured: string | undefined, installed: ReadonlyMap<string, string>): Found {
  const known = { action, isConfigured: configured !== undefined };
  try {
    return { ...known, call: slashCommand(action, { configured, installed }), error: null };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { ...known, call: null, error };
  }
}
