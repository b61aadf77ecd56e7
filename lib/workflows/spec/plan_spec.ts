import { findSpec, SPEC_FOLDERS } from "./find_spec.ts";
import { beginSpec, unfinishedOf } from "./mutations.ts";
import { pendingOf } from "./plan_file.ts";
import { planStore } from "./store.ts";
import type { Task } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
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
  const found = await findSpec(ralph.root, options.spec, ralph.host.environment.cwd);
  if (found === null) {
    const hint = `specs are looked for here, then in ${SPEC_FOLDERS.slice(1).join(" and ")}`;
    throw new RalphError("state-missing", { details: { path: options.spec }, hint });
  }
  const spec = found.name;
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
  if (tasks === 0) {
    ralph.events.emit({
      type: "note",
      level: "info",
      message: `no task is pending: the code meets ${spec} already, as the agent says`,
    });
  }
  return { status: "approved", spec, tasks };
}

/** `null`: the old tasks may go. */
async function askAboutUnfinished(ralph: RalphContext, tasks: readonly Task[]): Promise<PlanSpecOutcome | null> {
  const next = ["ralph build"];
  try {
    const { value, source } = await ralph.prompter.ask({
      id: "plan.unfinished",
      kind: "select",
      message: "What would you like to do?",
      details: unfinishedLines(tasks),
      initial: "a",
      choices: [
        { value: "c", label: "Cancel existing tasks and start fresh" },
        { value: "a", label: "Abort (keep current plan)" },
      ],
    });
    if (value === "c") return null;
    if (source !== "default") return { status: "declined", next };
    return {
      status: "blocked",
      reasons: [`${unfinished(tasks)}: answer plan.unfinished with c (cancel them) or a (keep them)`],
    };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "interrupted") return { status: "aborted" };
    throw error;
  }
}

function unfinishedLines(tasks: readonly Task[]): readonly string[] {
  const lines = tasks.map(({ id, name, s }) => `  - [${s === "d" ? "done" : "pending"}] ${id}: ${name}`);
  return [`Found unfinished tasks from ${specsOf(tasks)}:`, ...lines];
}

function unfinished(tasks: readonly Task[]): string {
  return `${tasks.length} unfinished task${tasks.length === 1 ? "" : "s"} of ${specsOf(tasks)}`;
}

function specsOf(tasks: readonly Task[]): string {
  const specs = [...new Set(tasks.map(({ spec }) => `'${spec}'`))];
  return `spec ${specs.join(", ")}`;
}
