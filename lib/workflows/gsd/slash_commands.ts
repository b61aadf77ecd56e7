import { join } from "node:path";
import type { GsdConfig } from "../../config/load.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { listDirectory, pathExists } from "../../host/files.ts";
import type { Environment } from "../../host/types.ts";

/** Ralph asks GSD for these. */
export type GsdAction = keyof GsdConfig["commands"];

/** GSD's commands by action, the best first; what follows the name is added behind the phase. */
const NAMES: Readonly<Record<GsdAction, readonly (readonly [name: string, suffix: string])[]>> = {
  init: [["new-project", ""]],
  roadmap: [["create-roadmap", ""]],
  discover: [["research-phase", ""], ["plan-phase", " --research-phase"]],
  plan: [["plan-phase", ""]],
};

/** The advice if GSD has dropped a command. */
const INSTEAD: Readonly<Partial<Record<GsdAction, string>>> = {
  roadmap: "newer versions of GSD make the roadmap when the project begins (`ralph init --workflow gsd`)",
};

/** Folders in which versions of GSD put their commands, and the commands' names. */
const PLACES = [
  { path: "commands/gsd", regexp: /^([\w-]+)\.md$/, prefix: "/gsd:", file: "" },
  { path: "commands", regexp: /^gsd-([\w-]+)\.md$/, prefix: "/gsd-", file: "" },
  { path: "skills", regexp: /^gsd-([\w-]+)$/, prefix: "/gsd-", file: "SKILL.md" },
];

/**
 * The commands of GSD that are installed, name to how they are called: `plan-phase` to `/gsd:plan-phase` or
 * `/gsd-plan-phase`. The project's own folder is looked at first, then the user's.
 */
export async function installedCommands(
  root: string,
  { home, variables }: Pick<Environment, "home" | "variables">,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const folder of [join(root, ".claude"), variables["CLAUDE_CONFIG_DIR"] || join(home, ".claude")]) {
    for (const { path, regexp, prefix, file } of PLACES) {
      for (const entry of await listDirectory(join(folder, path))) {
        const name = regexp.exec(entry)?.[1];
        if (name === undefined || found.has(name)) continue;
        if (await pathExists(join(folder, path, entry, file))) found.set(name, `${prefix}${name}`);
      }
    }
  }
  return found;
}

/**
 * The slash command to type for an action: the configured one, else what is installed.
 *
 * @throws {RalphError} gsd-missing
 */
export function slashCommand(
  action: GsdAction,
  { phase, configured, installed }: {
    readonly phase?: string | undefined;
    readonly configured: string | undefined;
    readonly installed: ReadonlyMap<string, string>;
  },
): string {
  const argument = phase === undefined ? "" : ` ${phase}`;
  if (configured !== undefined) {
    const [, name] = /^\/gsd[:-]([\w-]+)/.exec(configured) ?? [];
    const call = name === undefined ? undefined : installed.get(name);
    if (name !== undefined && call === undefined) {
      throw missing(`gsd.commands.${action} is ${configured}, which is not installed`, installed);
    }
    // Its prefix is the installed one's: `/gsd:x` and `/gsd-x` have taken turns.
    return (call === undefined ? configured : configured.replace(/^\/gsd[:-][\w-]+/, call)) + argument;
  }
  for (const [name, suffix] of NAMES[action]) {
    const call = installed.get(name);
    if (call !== undefined) return call + argument + suffix;
  }
  const problem = installed.size === 0
    ? "GSD is not installed: no command of it was found for the agent"
    : `the GSD that is installed has no command ${NAMES[action][0]?.[0] ?? action}`;
  throw missing(problem, installed, INSTEAD[action]);
}

function missing(problem: string, installed: ReadonlyMap<string, string>, instead?: string): RalphError {
  if (installed.size === 0) return new RalphError("gsd-missing", { details: { problem } });
  const names = [...installed.values()].toSorted().join(", ");
  const others = `installed: ${names}; another name goes into \`gsd.commands\` of ralph.config.json`;
  const hint = instead === undefined ? others : `${instead}; ${others}`;
  return new RalphError("gsd-missing", { details: { problem }, hint });
}
