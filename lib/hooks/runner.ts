import { join } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Backlog, Item } from "../backlog/types.ts";
import { hookProblems } from "./hook.ts";
import type { HookIteration, HookRunner, HookRunnerOptions } from "./runner_types.ts";

/** Which iteration it is, and where its transcript will be. `folder` is the run's. */
export function hookIterationOf({ root }: RalphContext, folder: string, item: Item, count: number): HookIteration {
  const transcript = item.transcript === undefined
    ? join(folder, `iteration-${count}.log`)
    : join(root, item.transcript);
  return { iteration: item.iteration ?? count, item, transcript };
}

/** @returns `null` where there is none to run @throws {RalphError} hook-invalid, git-failed */
export async function createHookRunner<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: HookRunnerOptions,
): Promise<HookRunner | null> {
  const problems = hookProblems(options.hooks);
  if (problems.length > 0) {
    throw new RalphError("hook-invalid", { details: { hook: "", problem: problems.join("; ") } });
  }
  if (!options.hooks.some(({ enabled }) => enabled !== false)) return null;
  return await (await import("./run_hooks.ts")).startHooks(ralph, backlog, options);
}
