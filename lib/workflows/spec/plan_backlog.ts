import { parsePlan, pendingOf, tasksOf } from "./plan_file.ts";
import { describeTask, specPlace } from "./stage_prompt.ts";
import { STAGE_ITEMS } from "./turn_context.ts";
import { type Plan, PLAN_FILE } from "./types.ts";
import type { RalphContext } from "../../context/context.ts";
import { failureOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import type { Backlog } from "../../backlog/types.ts";
import { renderPrompt } from "../../prompts/render.ts";

/** What the agent says when the code meets the whole spec already. */
const NOTHING_TO_DO = /^\[RALPH\] PLAN_COMPLETE: Added 0 tasks\b/;

/** The PLAN stage as a backlog of one item: the agent adds tasks by `ralph task add` and writes nothing else. */
export function planBacklog(ralph: RalphContext, spec: string): Backlog<{ readonly spec: string }> {
  let isPlanned = false;

  async function load(): Promise<Plan> {
    return parsePlan(await ralph.state.read(PLAN_FILE), PLAN_FILE);
  }

  return {
    name: "spec-plan",
    scope: spec,
    turnsWriteState: true,
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
      return {
        status: "item",
        item: { id: STAGE_ITEMS.plan, kind: "PLAN", title, exclusive: true, preparatory: true, data: { spec } },
      };
    },

    async work(item, { attempt, previous }) {
      const tasks = tasksOf(await load());
      const prompt = await renderPrompt("spec_plan", {
        spec: await specPlace(ralph.root, item.data.spec),
        item: tasks.length === 0 ? "No task yet." : tasks.map(describeTask).join("\n\n"),
        attempt: String(attempt),
        failure: failureOf(previous),
      }, { root: ralph.root });
      return { prompt, checks: [], allow: [], environment: { RALPH_STAGE: "PLAN" } };
    },

    async judge(item, turn) {
      const [edit] = await ralph.state.edited([PLAN_FILE]);
      const plan = edit === undefined ? await load() : parsePlan(edit.written, PLAN_FILE);
      if (pendingOf(plan).some((task) => task.spec === item.data.spec)) return { status: "done" };
      if (turn.lines.some((line) => NOTHING_TO_DO.test(line))) return { status: "done" };
      return { status: "not-done", reason: "no task was added by `ralph task add`" };
    },

    settle(_item, attempt) {
      if (attempt.status === "verified" || attempt.status === "unverified") {
        isPlanned = true;
        return Promise.resolve({ status: "passed" });
      }
      isPlanned = false;
      if (attempt.status === "interrupted") return Promise.resolve({ status: "open" });
      const reason = reasonOf(attempt);
      return Promise.resolve(isOver(attempt) ? { status: "stop", as: "failed", reason } : { status: "open", reason });
    },
  };
}
