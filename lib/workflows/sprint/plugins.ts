import { join } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import type { Hook } from "../../hooks/hook.ts";
import { isExternalWorkflow } from "../../hooks/prompt.ts";
import { pathExists, readText } from "../../host/files.ts";

/** The agent that knows `/plugin:command`. */
const KNOWS_PLUGINS = "claude";

/**
 * Enabled hooks whose prompt is the command of a Claude Code plugin that the agent does not know, a line each: it would
 * take the command's name for its task, and the hook would be called completed.
 */
export async function unknownPlugins(
  { agent, host, root }: Pick<RalphContext, "agent" | "host" | "root">,
  hooks: readonly Hook[],
): Promise<readonly string[]> {
  const messages: string[] = [];
  for (const hook of hooks) {
    if (hook.enabled === false || !("workflow" in hook) || !isExternalWorkflow(hook.workflow)) continue;
    const [plugin = ""] = hook.workflow.replace(/^\//, "").split(":");
    const name = nameOf(hook.agent) ?? agent.name;
    if (name === "scripted" || name === "replay") continue; // their turns say what they answer
    const what = `the hook ${hook.id} is \`/${hook.workflow}\`, a command of the Claude Code plugin ${plugin}`;
    if (!name.split(/\W/).includes(KNOWS_PLUGINS)) {
      const instead = "a `prompt` in SPRINT.yaml says the same to any agent";
      messages.push(`${what}: the agent ${name} does not know it; ${instead}`);
    } else if (!await isInstalled(plugin, root, host.environment)) {
      const install = `\`claude plugin install ${plugin}\``;
      messages.push(`${what}, which is not installed: ${install}, or give the hook a \`prompt\``);
    }
  }
  return messages;
}

function nameOf(agent: Hook["agent"]): string | undefined {
  if (agent === undefined || typeof agent === "string") return agent;
  return "runTurn" in agent ? agent.name : agent.command;
}

/** Installed, switched on by the settings, or a folder of commands of that name. */
async function isInstalled(
  plugin: string,
  root: string,
  { home, variables }: RalphContext["host"]["environment"],
): Promise<boolean> {
  const own = variables["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  for (const folder of [own, join(root, ".claude")]) {
    for (const file of ["plugins/installed_plugins.json", "settings.json", "settings.local.json"]) {
      if ((await readText(join(folder, file)))?.includes(`"${plugin}@`) === true) return true;
    }
    for (const kind of ["commands", "skills"]) {
      if (await pathExists(join(folder, kind, plugin))) return true;
    }
  }
  return false;
}
