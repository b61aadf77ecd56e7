import { requireSpec } from "./find_spec.ts";
import { beginSpec, unfinishedOf } from "./mutations.ts";
import { pendingOf } from "./plan_file.ts";
import { planStore } from "./store.ts";
import type { Task } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { askingEnds } from "../planner_turn.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { type LoopOutcome, runLoop } from "../../loop/run/run_loop.ts";
import { planBacklog } from "./plan_backlog.ts";

/** The spec to plan, and how. */
export interface PlanSpecOptions {
  /** The spec's file: as given, or in `ralph/specs/` or `specs/`. */
  readonly spec: string;
  readonly signal?: AbortSignal;
}

/** How planning a spec ended. */
export type PlanSpecOutcome =
  /** `tasks`: how many are pending now. */
  | { readonly status: "approved"; readonly spec: string; readonly tasks: number }
  /** A person kept the tasks of another spec. */
  | { readonly status: "declined"; readonly next: readonly string[] }
  | { readonly status: "blocked"; readonly reasons: readonly string[] }
  | { readonly status: "aborted" }
  | Exclude<LoopOutcome, { readonly status: "passed" | "unverified" }>;

/**
 * Plans a spec: makes it the current one and lets the agent write the gap to the code as tasks. Unfinished tasks of another
 * spec are asked about; planning the same spec again brings its tasks up to date.
 *
 * @throws {RalphError} state-missing, state-invalid, not-a-repository, agent-missing, agent-not-found, run-locked,
 * git-identity-missing, git-operation-in-progress
 * @example Plan a spec
 * ```ts
 * import { planSpec } from "ralph/spec";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "specs/a.md": "# A" },
 *   agent: { turns: [{ say: "[RALPH] PLAN_COMPLETE: Added 0 tasks" }] },
 * });
 * console.log((await planSpec(ralph, { spec: "a.md" })).status); // approved
 * ```
 */
export async function planSpec(ralph: RalphContext, options: PlanSpecOptions): Promise<PlanSpecOutcome> {
  const spec = await requireSpec(ralph.root, options.spec, ralph.host.environment.cwd);
  const repository = requireRepository(ralph);
  const store = planStore(ralph);
  const unfinished = unfinishedOf(await store.load(), spec);
  await ralph.agent.ensureUsable();
  await using _lock = await ralph.lock.acquire("plan");
  await repository.ensureReady();
  await repository.tryCommit();
  if (unfinished.length > 0) {
    const kept = await askAboutUnfinished(ralph, unfinished);
    if (kept !== null) return kept;
  }
  const { warnings } = await store.mutate((plan) => beginSpec(plan, spec));
  for (const message of warnings) ralph.events.emit({ type: "note", level: "warn", message });

  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const run = await runLoop(ralph, planBacklog(ralph, spec), { purpose: "plan", branch: "", ...signal });
  if (run.status !== "passed" && run.status !== "unverified") return run;
  const tasks = pendingOf(await store.load()).length;
  const message = `no task is pending: the code meets ${spec} already, as the agent says`;
  if (tasks === 0) ralph.events.emit({ type: "note", level: "info", message });
  return { status: "approved", spec, tasks };
}

/** `null`: the old tasks may go. */
async function askAboutUnfinished(ralph: RalphContext, tasks: readonly Task[]): Promise<PlanSpecOutcome | null> {
  const specs = `spec ${[...new Set(tasks.map(({ spec }) => `'${spec}'`))].join(", ")}`;
  const lines = tasks.map(({ id, name, s }) => `  - [${s === "d" ? "done" : "pending"}] ${id}: ${name}`);
  return await askingEnds(async () => {
    const { value, source } = await ralph.prompter.ask({
      id: "plan.unfinished",
      kind: "select",
      message: "What would you like to do?",
      details: [`Found unfinished tasks from ${specs}:`, ...lines],
      initial: "a",
      choices: [
        { value: "c", label: "Cancel existing tasks and start fresh" },
        { value: "a", label: "Abort (keep current plan)" },
      ],
    });
    if (value === "c") return null;
    if (source !== "default") return { status: "declined", next: ["ralph build"] };
    const count = `${tasks.length} unfinished task${tasks.length === 1 ? "" : "s"}`;
    const reasons = [`${count} of ${specs}: answer plan.unfinished with c (cancel them) or a (keep them)`];
    return { status: "blocked", reasons };
  });
}
