import { join } from "node:path";
import type { LoopDefaults, RalphContext } from "../../context/context.ts";
import { stateMissing } from "../../errors/ralph_error.ts";
import { readLeftText } from "../../host/files.ts";
import type { Backlog, Check } from "../../backlog/types.ts";
import { verifyCommands } from "../../backlog/verify_commands.ts";
import { isGivenUp, isTaskParked, offered, type OfferOptions, type SpecItemData, tasksIn } from "./item.ts";
import { claimOf, claimsByHand, parentId, type SpecFindings, specFindings, withClaims } from "./turn_claims.ts";
import { filesOf } from "./find_spec.ts";
import { doneOf, formatPlan, parsePlan, pendingOf, rejectionsOf, specOf, tasksOf } from "./plan_file.ts";
import { acceptedLast, committedAt, sentBack, settled, shortReason } from "./settle.ts";
import { linesInHistory } from "./ids.ts";
import { stagePrompt } from "./prompt.ts";
import { type Plan, PLAN_FILE, type Task } from "./types.ts";

/** The part of the context that the backlog needs. */
export interface SpecBacklogContext extends Pick<RalphContext, "config" | "host" | "repository" | "root" | "state"> {
  readonly loop: Pick<LoopDefaults, "retryBlocked">;
}

/** How the plan is worked off. */
export interface SpecBacklogOptions {
  /** Rejections after which a task is given up on. @default limits.rejections of the configuration */
  readonly rejections?: number;
}

/**
 * The staged plan of the spec workflow, `ralph/plan.jsonl`: tasks are built one an iteration, then verified together, then
 * issues are investigated, until nothing is left. The agent says by `ralph task done` what it has done; the checks decide.
 *
 * @throws {RalphError} state-missing, state-invalid from every call that reads the file
 * @example Work the plan off
 * ```ts
 * import { runLoop } from "ralph";
 * import { specBacklog } from "ralph/spec";
 * import { testContext } from "ralph/testing";
 *
 * const plan = ['{"t": "spec", "spec": "a.md"}', '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "s": "d"}'];
 * await using ralph = await testContext({
 *   files: { "ralph/plan.jsonl": `${plan.join("\n")}\n` },
 *   agent: { turns: [{ match: "t-1a2b", write: { "ralph/plan.jsonl": `${plan[0]}\n` } }] },
 * });
 * console.log((await runLoop(ralph, specBacklog(ralph))).status); // unverified
 * ```
 */
export function specBacklog(
  ralph: SpecBacklogContext,
  options: SpecBacklogOptions = {},
): Backlog<SpecItemData, SpecFindings> {
  const { load, change, lastRead, forgiven } = planIn(ralph);
  const rejections = { limit: options.rejections ?? ralph.config.limits.rejections, forgiven: forgiven() };
  return {
    name: "spec",
    scope: "",
    stateFiles: [PLAN_FILE],
    async brief() {
      const spec = specOf(await load());
      return spec === null ? {} : { goal: `what ${spec} asks for`, files: filesOf(spec) };
    },
    unverified: "accept",
    policy: { attempts: true },
    concurrent: true,

    async overview({ parked }) {
      const plan = await load();
      const [pending, passed] = [pendingOf(plan), doneOf(plan).length];
      const given = pending.filter((task) => isTaskParked(task, parked)).length;
      return { total: pending.length + passed, passed, open: pending.length - given, parked: given, unchecked: [] };
    },
    next: async (look) => offered(await load(), { ...look, ...rejections }),

    /**
     * Accepted tasks have left the file: the journal remembers the checks that they were accepted by. A plan without any
     * task is finished: those that were accepted last count once more.
     */
    async passed({ passed = [] }) {
      const plan = await load();
      const done = doneOf(plan).map((task) => ({ id: task.id, title: task.name, checks: checksOf([task], ralph) }));
      const here = new Set(tasksOf(plan).map(({ id }) => id));
      const accepted = passed.filter(({ id, kind, closed }) => kind === "BUILD" && closed !== true && !here.has(id))
        .map(({ id, checks }) => ({ id, title: id, checks }));
      return [...done, ...accepted, ...here.size + accepted.length > 0 ? [] : acceptedLast(passed)];
    },

    async work(item, { cwd, attempt, nonce, previous }) {
      const checks = item.kind === "BUILD" || item.kind === "VERIFY" ? checksOf(tasksIn(item), ralph) : [];
      const prompt = await stagePrompt(item, { root: ralph.root, cwd, attempt, nonce, previous, checks });
      const about: Record<string, string> = item.data.stage === "DECOMPOSE" ? { RALPH_ITEM: parentId(item) } : {};
      return { prompt, checks, checkFirst: item.kind === "VERIFY", environment: { RALPH_STAGE: item.kind, ...about } };
    },

    async judge(item, { lines }, { cwd, claims }) {
      const edited = claimsByHand(item, await readLeftText(join(cwd, PLAN_FILE)), lastRead());
      return claimOf(item, [...claims, ...edited], lines);
    },

    findings: specFindings,
    ...recorded(ralph, change, rejections),
  };
}

/** The plan in its file. */
export function planIn({ loop, state }: Pick<SpecBacklogContext, "loop" | "state">) {
  // With `--retry-blocked` the rejections before this run do not count.
  const forgiven = new Map<string, number>();
  let wasLoaded = false;
  let last: { readonly text: string | null; readonly plan: Plan } | null = null;

  /** Read once while it stays as it is. */
  function planOf(text: string | null): Plan {
    if (last === null || text !== last.text) last = { text, plan: parsePlan(text, PLAN_FILE, last?.plan) };
    return last.plan;
  }

  return {
    forgiven: (): ReadonlyMap<string, number> => forgiven,
    lastRead: (): Plan | undefined => last?.plan,
    async load(): Promise<Plan> {
      const text = await state.read(PLAN_FILE);
      if (text === null) throw stateMissing(PLAN_FILE, "`ralph plan SPEC.md` makes the plan");
      const plan = planOf(text);
      if (loop.retryBlocked && !wasLoaded) {
        for (const { id } of pendingOf(plan)) forgiven.set(id, rejectionsOf(plan, id));
      }
      wasLoaded = true;
      return plan;
    },
    change: async (to: (plan: Plan) => Plan): Promise<Plan> =>
      planOf(await state.update(PLAN_FILE, (text) => text === null ? null : formatPlan(to(planOf(text))))),
  };
}

/** The plan keeps this record of a run. */
function recorded(
  ralph: SpecBacklogContext,
  change: ReturnType<typeof planIn>["change"],
  rejections: Required<Pick<OfferOptions, "forgiven" | "limit">>,
): Pick<Backlog<SpecItemData, SpecFindings>, "receive" | "record" | "reopen" | "settle"> {
  return {
    async reopen(ids, reason) {
      const lines = await linesInHistory(ralph, ids, "HEAD");
      await change((plan) => sentBack(plan, ids, lines, shortReason(reason)));
      const subject = `ralph: ${ids.join(", ")} sent back by the final check`;
      return { status: "open", reason, commit: { subject, paths: [PLAN_FILE], work: false } };
    },

    async receive(claims) {
      await change((plan) => withClaims(plan, null, claims));
    },

    async record(milestone) {
      if (milestone.type !== "item-committed" || milestone.item.data.stage !== "BUILD") return;
      await change((plan) => committedAt(plan, milestone.item.id, milestone.commit));
    },

    async settle(item, attempt) {
      const isOften = (plan: Plan, id: string): boolean => isGivenUp(plan, id, rejections);
      const { to, end } = settled(item, attempt, { root: ralph.root, isGivenUp: isOften });
      return end(await change(to));
    },
  };
}

function checksOf(tasks: readonly Task[], { config: { verify } }: SpecBacklogContext): readonly Check[] {
  const common = verify.default.map((command): Check => ({ name: command, command, scope: "" }));
  const own = tasks.flatMap(({ id, accept }) =>
    verifyCommands(accept).map((command): Check => ({ name: command, command, scope: id, own: true }))
  );
  return [...common, ...own.filter(({ name }) => !verify.default.includes(name))];
}
