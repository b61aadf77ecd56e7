import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import { changeSprint, readSprint, sprintBacklog } from "./backlog.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { compileSprint, sprintHooks } from "./compile.ts";
import { onlySprint, sprintDirectory, sprintPaths } from "./paths.ts";
import type { SprintFindings, SprintItemData } from "./types.ts";
import { pathExists, readText } from "../../host/files.ts";
import { isoNow } from "../../host/local_date.ts";
import { configuredHooks, type Hook } from "../../hooks/hook.ts";
import type { Backlog } from "../../backlog/types.ts";
import { isExternalWorkflow } from "../../hooks/prompt.ts";

/** Which sprint, and how it is taken up. */
export interface OpenSprintOptions {
  /** The sprint's folder, absolute or relative to the root. @default the only one below `.claude/sprints` */
  readonly directory?: string | undefined;
  /** Continue where the agent asked for a person. @default what the command line says */
  readonly retryBlocked?: boolean;
}

/** A sprint that is ready to run. */
export interface Sprint {
  /** Relative to the root. */
  readonly directory: string;
  readonly backlog: Backlog<SprintItemData, SprintFindings>;
  /** The configuration's and the sprint's own, which go before those of the same id. */
  readonly hooks: readonly Hook[];
}

/**
 * Opens a sprint for `runLoop()`: compiles it, so that PROGRESS.yaml has the goal, prompts and hooks of SPRINT.yaml.
 *
 * @throws {RalphError} sprint-missing, sprint-invalid, state-missing, state-invalid, path-outside-root
 * @example Run a sprint with a hook of your own
 * ```ts
 * import { runLoop } from "ralph";
 * import { openSprint } from "ralph/sprint";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "sprint/SPRINT.yaml": "workflow: ralph\ngoal: say hello\n" },
 *   agent: { turns: [{ say: "RALPH_COMPLETE: said hello" }] },
 * });
 * const { backlog, hooks } = await openSprint(ralph, { directory: "sprint" });
 * const count = { id: "count", run: async (): Promise<void> => console.log("an iteration ended") };
 * console.log((await runLoop(ralph, backlog, { hooks: [...hooks, count] })).status); // unverified
 * ```
 */
export async function openSprint(ralph: RalphContext, options: OpenSprintOptions = {}): Promise<Sprint> {
  const named = options.directory === undefined || options.directory === ""
    ? await onlySprint(ralph.root)
    : options.directory;
  const directory = await sprintDirectory(ralph.root, ralph.root, named);
  const { definition, progress } = sprintPaths(ralph.root, directory);
  if (!await pathExists(join(ralph.root, progress)) || await pathExists(join(ralph.root, definition))) {
    await bringUpToDate(ralph, directory);
  }
  const own = await sprintHooks(ralph, { directory });
  if (options.retryBlocked ?? ralph.loop.retryBlocked) await answered(ralph, progress);
  for (const message of await unknownPlugins(ralph, own)) note(ralph, "warn", message);
  const hooks = [...configuredHooks(ralph.config).filter(({ id }) => !own.some((hook) => hook.id === id)), ...own];
  return { directory, backlog: sprintBacklog(ralph, { directory }), hooks };
}

/** Compiles. A sprint in standard mode that has begun needs its SPRINT.yaml no more: what is wrong there is a warning. */
async function bringUpToDate(ralph: RalphContext, directory: string): Promise<void> {
  const { definition, progress } = sprintPaths(ralph.root, directory);
  try {
    const compiled = await compileSprint(ralph, { directory });
    const { workflow, workflowFrom, warnings } = compiled.definition;
    const message = compiled.status === "written"
      ? `compiled ${progress} from the workflow ${workflow} (${workflowFrom})`
      : `${progress} follows what has changed in ${definition} since: ${compiled.changed.join(", ")}`;
    if (compiled.status !== "unchanged") note(ralph, "info", message);
    for (const warning of warnings) note(ralph, "warn", warning);
  } catch (error) {
    if (!RalphError.isInstance(error) || error.details["path"] !== definition) throw error;
    if (await ralph.state.read(progress) === null || (await readSprint(ralph, progress)).kind === "ralph") throw error;
    note(ralph, "warn", `${error.message}; the sprint continues with ${progress} as it is`);
  }
}

/** The person that was asked for has been there. */
async function answered(ralph: RalphContext, file: string): Promise<void> {
  const { continueSprint } = await import("./changes.ts");
  await using _lock = await ralph.lock.acquire("sprint run");
  await changeSprint(ralph, file, (document) => continueSprint(document, isoNow(ralph.host)));
}

/** The agent that knows `/plugin:command`. */
const KNOWS_PLUGINS = "claude";

/**
 * Enabled hooks whose prompt is the command of a Claude Code plugin that the agent does not know, a line each: it would
 * take the command's name for its task, and the hook would be called completed.
 */
async function unknownPlugins({ agent, host, root }: RalphContext, hooks: readonly Hook[]): Promise<readonly string[]> {
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
async function isInstalled(plugin: string, root: string, { home, variables }: RalphContext["host"]["environment"]) {
  const own = variables["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  for (const folder of [own, join(root, ".claude")]) {
    for (const file of ["plugins/installed_plugins.json", "settings.json", "settings.local.json"]) {
      if ((await readText(join(folder, file)))?.includes(`"${plugin}@`) === true) return true;
    }
    for (const kind of ["commands", "skills"]) if (await pathExists(join(folder, kind, plugin))) return true;
  }
  return false;
}
