import { turnScope, withClaims } from "./turn_claims.ts";
import { type SpecFindings, tasksByHand } from "./claim.ts";
import { planned } from "./mutations.ts";
import { formatPlan, parsePlan, pendingOf, tasksOf } from "./plan_file.ts";
import { blockedLine, describeTask, specPlace } from "./prompt.ts";
import { type Plan, PLAN_FILE } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { failureOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import { signalsOf } from "../../backlog/signals.ts";
import type { Attempt, Backlog, Claim, Item, Settlement, Turn, WorkContext } from "../../backlog/types.ts";
import { quoted, windowed } from "../../prompts/parts.ts";
import { renderPrompt } from "../../prompts/render.ts";

/** The agent says this after `[RALPH] PLAN_COMPLETE:` when the code meets the whole spec already. */
const NOTHING_TO_DO = /^Added 0 tasks\b/;

const ITEM = { id: "PLAN", kind: "PLAN", exclusive: true, preparatory: true } as const;

/** An item of planning carries the spec, and how many tasks of it were pending. */
export interface SpecPlanData {
  readonly spec: string;
  readonly pending: number;
}

/** The PLAN stage as a backlog of one item: the agent adds tasks by `ralph task add` and writes nothing else. */
export function planBacklog(ralph: RalphContext, spec: string): Backlog<SpecPlanData, SpecFindings> {
  let isPlanned = false;

  async function load(): Promise<Plan> {
    return parsePlan(await ralph.state.read(PLAN_FILE), PLAN_FILE);
  }

  async function change(to: (plan: Plan) => Plan): Promise<void> {
    await ralph.state.update(PLAN_FILE, (text) => formatPlan(to(parsePlan(text, PLAN_FILE))));
  }

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
