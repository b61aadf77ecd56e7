import { join } from "node:path";
import { readSprint, sprintBacklog } from "./backlog.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { compileSprint, sprintHooks } from "./compile.ts";
import { onlySprint, sprintDirectory, sprintPaths } from "./paths.ts";
import type { SprintFindings, SprintItemData } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { pathExists } from "../../host/files.ts";
import { isoNow } from "../../host/local_date.ts";
import { unknownPlugins } from "./plugins.ts";
import { configuredHooks, type Hook } from "../../hooks/hook.ts";
import type { Backlog } from "../../backlog/types.ts";

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
  for (const message of await unknownPlugins(ralph, own)) ralph.events.emit({ type: "note", level: "warn", message });
  const hooks = [...configuredHooks(ralph.config).filter(({ id }) => !own.some((hook) => hook.id === id)), ...own];
  return { directory, backlog: sprintBacklog(ralph, { directory }), hooks };
}

/** Compiles. A sprint in standard mode that has begun needs its SPRINT.yaml no more: what is wrong there is a warning. */
async function bringUpToDate(ralph: RalphContext, directory: string): Promise<void> {
  const { definition, progress } = sprintPaths(ralph.root, directory);
  const note = (level: "info" | "warn", message: string): void => ralph.events.emit({ type: "note", level, message });
  try {
    const compiled = await compileSprint(ralph, { directory });
    const { workflow, workflowFrom, warnings } = compiled.definition;
    const message = compiled.status === "written"
      ? `compiled ${progress} from the workflow ${workflow} (${workflowFrom})`
      : `${progress} follows what has changed in ${definition} since: ${compiled.changed.join(", ")}`;
    if (compiled.status !== "unchanged") note("info", message);
    for (const warning of warnings) note("warn", warning);
  } catch (error) {
    if (!RalphError.isInstance(error) || error.details["path"] !== definition) throw error;
    if (await ralph.state.read(progress) === null || (await readSprint(ralph, progress)).kind === "ralph") throw error;
    note("warn", `${error.message}; the sprint continues with ${progress} as it is`);
  }
}

/** The person that was asked for has been there. */
async function answered(ralph: RalphContext, file: string): Promise<void> {
  const { changeYaml } = await import("./document.ts");
  const { continueSprint } = await import("./changes.ts");
  await using _lock = await ralph.lock.acquire("sprint run");
  const continued = (text: string): string =>
    changeYaml(text, file, (document) => continueSprint(document, isoNow(ralph.host)));
  await ralph.state.update(file, (text) => text === null ? null : continued(text));
}
