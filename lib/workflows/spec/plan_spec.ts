import { note, type RalphContext } from "../../context/context.ts";
import { requireSpec } from "./find_spec.ts";
import { beginSpec, planned, unfinishedOf } from "./mutations.ts";
import { parsePlan, pendingOf, tasksOf } from "./plan_file.ts";
import { planIn } from "./backlog.ts";
import { planStore } from "./store.ts";
import { PLAN_FILE, type Task } from "./types.ts";
import { askingEnds, planning } from "../planner_turn.ts";
import { type LoopOutcome, runLoop } from "../../loop/run/run_loop.ts";
import { type SpecFindings, tasksByHand, turnScope, withClaims } from "./turn_claims.ts";
import { blockedLine, describeTask, specPlace } from "./prompt.ts";
import { failureOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import { signalsOf } from "../../backlog/signals.ts";
import type { Attempt, Backlog, Claim, Item, Settlement, Turn, WorkContext } from "../../backlog/types.ts";
import { quoted, renderPrompt, windowed } from "../../prompts/render.ts";

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
  const store = planStore(ralph);
  const unfinished = unfinishedOf(await store.load(), spec);
  return await planning(ralph, "plan", async () => {
    const kept = unfinished.length > 0 ? await askAboutUnfinished(ralph, unfinished) : null;
    if (kept !== null) return kept;
    const { warnings } = await store.mutate((plan) => beginSpec(plan, spec));
    for (const message of warnings) note(ralph, "warn", message);

    const signal = options.signal === undefined ? {} : { signal: options.signal };
    const run = await runLoop(ralph, planBacklog(ralph, spec), { purpose: "plan", branch: "", ...signal });
    if (run.status !== "passed" && run.status !== "unverified") return run;
    const tasks = pendingOf(await store.load()).length;
    const message = `no task is pending: the code meets ${spec} already, as the agent says`;
    if (tasks === 0) note(ralph, "info", message);
    return { status: "approved", spec, tasks };
  });
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

/** The agent says this after `[RALPH] PLAN_COMPLETE:` when the code meets the whole spec already. */
const NOTHING_TO_DO = /^Added 0 tasks\b/;

const ITEM = { id: "PLAN", kind: "PLAN", exclusive: true, preparatory: true } as const;

/** An item of planning carries the spec, and how many tasks of it were pending. */
interface SpecPlanData {
  readonly spec: string;
  readonly pending: number;
}

/** The PLAN stage as a backlog of one item: the agent adds tasks by `ralph task add` and writes nothing else. */
export function planBacklog(ralph: RalphContext, spec: string): Backlog<SpecPlanData, SpecFindings> {
  let isPlanned = false;

  const { load, change } = planIn(ralph);

  return {
    name: "spec-plan",
    scope: spec,
    stateFiles: [PLAN_FILE],
    unverified: "accept",
    policy: { final: false },

    async overview() {
      return { total: 1, passed: isPlanned ? 1 : 0, open: isPlanned ? 0 : 1, parked: 0, unchecked: [] };
    },

    async next({ inFlight }) {
      if (isPlanned) return { status: "done", summary: `${pendingOf(await load()).length} tasks` };
      if (inFlight.length > 0) return { status: "waiting" };
      const pending = pendingOf(await load()).filter((task) => task.spec === spec).length;
      return { status: "item", item: { ...ITEM, title: `plan ${spec}`, data: { spec, pending } } };
    },

    async work(item, context) {
      const prompt = await planPrompt(ralph, item.data.spec, tasksOf(await load()).map(describeTask), context);
      return { prompt, checks: [], allow: [], environment: { RALPH_STAGE: "PLAN" } };
    },

    async judge(item, turn, context) {
      const [edit] = await ralph.state.edited([PLAN_FILE]);
      const byHand = edit === undefined ? [] : tasksByHand(parsePlan(edit.written, PLAN_FILE), edit.found);
      return claimOf(item, turn, { ...context, claims: [...context.claims, ...byHand] });
    },

    async receive(claims) {
      await change((plan) => withClaims(plan, null, claims));
    },

    async settle(_item, attempt) {
      isPlanned = attempt.status === "verified" || attempt.status === "unverified";
      const claims = attempt.status === "trespassed" ? [] : attempt.claim?.findings?.claims ?? [];
      await change((plan) => {
        const added = withClaims(plan, turnScope("PLAN", []), claims);
        return isPlanned ? planned(added) : added;
      });
      const settled: Settlement = isPlanned ? { status: "passed" } : unplanned(attempt);
      if (claims.length === 0 && !isPlanned) return settled;
      const added = claims.filter(({ command }) => command === "task add");
      const subject = `ralph: task add - ${added.length} task${added.length === 1 ? "" : "s"}`;
      return { ...settled, commit: { subject, paths: [PLAN_FILE], work: false } };
    },
  };
}

async function planPrompt(
  { root, config }: Pick<RalphContext, "config" | "root">,
  name: string,
  tasks: readonly string[],
  { attempt, nonce, previous }: Pick<WorkContext, "attempt" | "nonce" | "previous">,
): Promise<string> {
  const spec = await specPlace(root, name);
  const checks = config.verify.default.map((command) => `- \`${command}\``).join("\n");
  const known = windowed(tasks, { rest: "`ralph query tasks`", separator: "\n\n" });
  return await renderPrompt("spec_plan", {
    spec,
    item: tasks.length === 0 ? "No task yet." : quoted(known),
    attempt: String(attempt),
    nonce,
    failure: previous === null ? "" : failureOf(previous),
    checks: checks === "" ? "None." : checks,
    toEnd:
      `Plan the spec \`${spec}\`: add tasks by \`ralph task add\`, and end with the line \`[RALPH] PLAN_COMPLETE ${nonce}: Added N tasks\`. ` +
      `When the spec cannot be planned, end with ${blockedLine(nonce)}.`,
  }, { root });
}

/** Planned is a spec with tasks, or one of which the agent says that there is nothing to do. */
function claimOf(
  { data }: Item<SpecPlanData>,
  { lines }: Turn,
  { claims, nonce }: WorkContext<SpecFindings>,
): Claim<SpecFindings> {
  const findings = { claims };
  const hasTasks = data.pending > 0 || claims.some(({ command }) => command === "task add");
  const hasNothingToDo = signalsOf(lines, nonce).some(({ name, value, counts }) =>
    name === "PLAN_COMPLETE" && counts && NOTHING_TO_DO.test(value)
  );
  return hasTasks || hasNothingToDo
    ? { status: "done", findings }
    : { status: "not-done", reason: "no task was added by `ralph task add`", findings };
}

function unplanned(attempt: Attempt<SpecFindings>): Settlement {
  if (attempt.status === "interrupted") return { status: "open" };
  const reason = reasonOf(attempt);
  const as = attempt.claim?.status === "blocked" ? "blocked" : "failed";
  return isOver(attempt) ? { status: "stop", as, reason } : { status: "open", reason };
}
