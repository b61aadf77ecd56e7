import { withAdditions, withClaims } from "./claims.ts";
import type { SpecFindings } from "./judge.ts";
import { formatPlan, parsePlan, pendingOf, tasksOf } from "./plan_file.ts";
import { describeTask, specPlace } from "./stage_prompt.ts";
import { STAGE_ITEMS } from "./turn_context.ts";
import { type Plan, PLAN_FILE } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { failureOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import { signalsOf } from "../../backlog/signals.ts";
import type { Attempt, Backlog, Claim, Item, Settlement, Turn, WorkContext } from "../../backlog/types.ts";
import { renderPrompt } from "../../prompts/render.ts";

/** What the agent says when the code meets the whole spec already, after `[RALPH] PLAN_COMPLETE:`. */
const NOTHING_TO_DO = /^Added 0 tasks\b/;

/** What an item of planning carries: the spec, and how many tasks of it were pending. */
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
    final: false,

    async overview() {
      return { total: 1, passed: isPlanned ? 1 : 0, open: isPlanned ? 0 : 1, parked: 0, unchecked: [] };
    },

    async next({ inFlight }) {
      if (isPlanned) return { status: "done", summary: `${pendingOf(await load()).length} tasks` };
      if (inFlight.length > 0) return { status: "waiting" };
      const title = `plan ${spec}`;
      const pending = pendingOf(await load()).filter((task) => task.spec === spec).length;
      return {
        status: "item",
        item: {
          id: STAGE_ITEMS.plan,
          kind: "PLAN",
          title,
          exclusive: true,
          preparatory: true,
          data: { spec, pending },
        },
      };
    },

    async work(item, { attempt, nonce, previous }) {
      const tasks = tasksOf(await load());
      const prompt = await renderPrompt("spec_plan", {
        spec: await specPlace(ralph.root, item.data.spec),
        item: tasks.length === 0 ? "No task yet." : tasks.map(describeTask).join("\n\n"),
        attempt: String(attempt),
        nonce,
        failure: failureOf(previous),
      }, { root: ralph.root });
      return { prompt, checks: [], allow: [], environment: { RALPH_STAGE: "PLAN" } };
    },

    judge: (item, turn, context) => Promise.resolve(claimOf(item, turn, context)),

    async receive(claims) {
      await change((plan) => withAdditions(plan, claims));
    },

    async settle(_item, attempt) {
      isPlanned = attempt.status === "verified" || attempt.status === "unverified";
      const claims = attempt.status === "trespassed" ? [] : attempt.claim?.findings?.claims ?? [];
      const added = claims.filter(({ command }) => command === "task add").length;
      await change((plan) => withClaims(plan, { stage: "PLAN", given: [] }, claims));
      const subject = `ralph: task add - ${added} task${added === 1 ? "" : "s"}`;
      const commit = claims.length === 0 ? {} : { commit: { subject, paths: [PLAN_FILE], work: false } };
      return { ...(isPlanned ? { status: "passed" } : unplanned(attempt)), ...commit };
    },
  };
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
