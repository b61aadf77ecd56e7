import { join, relative, sep } from "node:path";
import type { Config } from "../../config/types.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { topLevelPaths } from "../../git/tree_paths.ts";
import type { Repository } from "../../git/types.ts";
import { readLeftText } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, Backlog, Check, Next, SettleCommit, Settlement } from "../../backlog/types.ts";
import { isOver } from "../../backlog/attempts.ts";
import { verifyCommands } from "../../backlog/verify_commands.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import { type SpecItem, type SpecItemData, tasksIn } from "./item.ts";
import { scopeOf, withClaims } from "./apply_claims.ts";
import { claimOf, claimsByHand, parentId, type SpecFindings, specFindings } from "./claim.ts";
import { shortName } from "./mutations.ts";
import { SPEC_FOLDERS } from "./find_spec.ts";
import { doneOf, formatPlan, parsePlan, pendingOf, rejectionsOf, specOf, tasksOf } from "./plan_file.ts";
import {
  accepted,
  built,
  committedAt,
  decomposed,
  failed,
  killed,
  notAccepted,
  notDecomposed,
  notInvestigated,
  reset,
  resumed,
  shortReason,
  shortReasonOf,
} from "./settle.ts";
import { acceptedLast, acceptedLines, sentBack } from "./reopen.ts";
import { stagePrompt } from "./prompt.ts";
import { isGivenUp, isTaskParked, offered } from "./next_item.ts";
import { MOST_PARTINGS } from "./stage.ts";
import { type Plan, PLAN_FILE, type Task } from "./types.ts";

/** The part of the context that the backlog needs. */
export interface SpecBacklogContext {
  readonly root: string;
  readonly config: Config;
  readonly state: StateFiles;
  readonly host: Host;
  readonly repository: Repository | null;
  readonly loop: { readonly retryBlocked: boolean };
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
  const limit = options.rejections ?? ralph.config.limits.rejections;
  const forgiven = new Map<string, number>();
  let wasLoaded = false;
  let last: { readonly text: string | null; readonly plan: Plan } | null = null;

  async function load(): Promise<Plan> {
    const text = await ralph.state.read(PLAN_FILE);
    if (text === null) {
      throw new RalphError("state-missing", {
        details: { path: PLAN_FILE },
        hint: "`ralph plan SPEC.md` makes the plan",
      });
    }
    const plan = planOf(text);
    if (ralph.loop.retryBlocked && !wasLoaded) { // what was rejected too often before this run is forgiven once
      for (const { id } of pendingOf(plan)) forgiven.set(id, rejectionsOf(plan, id));
    }
    wasLoaded = true;
    return plan;
  }

  async function change(to: (plan: Plan) => Plan): Promise<Plan> {
    const text = await ralph.state.update(
      PLAN_FILE,
      (before) => before === null ? null : formatPlan(to(planOf(before))),
    );
    return planOf(text);
  }

  /** Read once while it stays as it is. */
  function planOf(text: string | null): Plan {
    if (last === null || text !== last.text) last = { text, plan: parsePlan(text, PLAN_FILE, last?.plan) };
    return last.plan;
  }

  function checksOf(tasks: readonly Task[]): readonly Check[] {
    const common = ralph.config.verify.default.map((command): Check => ({ name: command, command, scope: "" }));
    const own = tasks.flatMap(({ id, accept }) =>
      verifyCommands(accept).map((command): Check => ({ name: command, command, scope: id, own: true }))
    );
    return [...common, ...own.filter(({ command }) => !ralph.config.verify.default.includes(command ?? ""))];
  }

  /** The commit holds the plan alone: it leaves out files of a turn that was to write nothing. */
  function commitOf(what: string, item: SpecItem): SettleCommit {
    return { subject: `ralph: ${what} - ${shortName(item.title)}`, paths: [PLAN_FILE], work: false };
  }

  async function settleDecompose(
    item: SpecItem,
    attempt: Attempt<SpecFindings>,
    isPassed: boolean,
  ): Promise<Settlement> {
    if (!isPassed) {
      await change((plan) => withIssues(notDecomposed(plan, item), item, attempt));
      return again(attempt, commitOf("task reset", item));
    }
    const asked = new Set(claimsOf(attempt).map(({ command }) => command));
    const isFinished = asked.has("task done") && !asked.has("task add");
    await change((plan) =>
      isFinished
        ? resumed(withIssues(plan, item, attempt), item)
        : decomposed(withClaims(plan, scopeOf(item), withoutDone(claimsOf(attempt))), item)
    );
    return { status: "passed", commit: commitOf(isFinished ? "task resume" : "task decompose", item) };
  }

  async function settleBuild(item: SpecItem, attempt: Attempt<SpecFindings>): Promise<Settlement> {
    const settled = (to: (plan: Plan) => Plan): Promise<Plan> => change((plan) => to(withIssues(plan, item, attempt)));
    if (attempt.status === "verified" || attempt.status === "unverified") {
      await settled((plan) => built(plan, item));
      const stateSubject = `ralph: task done - ${shortName(item.title)}`;
      return {
        status: "passed",
        commit: { subject: `feat: ${item.id} - ${item.title}`, stateSubject, paths: [PLAN_FILE], work: true },
      };
    }
    if (attempt.status === "interrupted") {
      await settled((plan) => reset(plan, item));
      return { status: "open" }; // the next commit takes the plan along
    }
    const kill = killOf(attempt);
    const task = tasksIn(item)[0];
    if (kill !== null && task !== undefined && task.depth >= MOST_PARTINGS) {
      await settled((plan) => reset(plan, item));
      const reason = `${shortReasonOf(attempt)}; it came of ${task.depth} decompositions and is not cut again`;
      return { status: "parked", reason, commit: commitOf("task reset", item) };
    }
    if (kill !== null) {
      const log = attempt.turn === null ? null : relative(ralph.root, attempt.turn.transcript).replaceAll(sep, "/");
      await settled((plan) => killed(plan, item, kill, log));
      return { status: "open", reason: shortReasonOf(attempt), commit: commitOf("task kill", item) };
    }
    const plan = await settled((before) => failed(before, item, attempt));
    const reason = shortReasonOf(attempt);
    const commit = commitOf("task reject", item);
    return isOver(attempt) || isGivenUp(plan, item.id, { limit, forgiven })
      ? { status: "parked", reason, commit }
      : { status: "open", reason, commit };
  }

  /** VERIFY, DECOMPOSE, INVESTIGATE: tried again some times, then a person is needed. */
  function again(attempt: Attempt, commit: SettleCommit): Settlement {
    if (attempt.status === "interrupted") return { status: "open", commit };
    const reason = shortReasonOf(attempt);
    return { status: isOver(attempt) ? "parked" : "open", reason, commit };
  }

  return {
    name: "spec",
    scope: "",
    stateFiles: [PLAN_FILE],
    async brief() {
      const spec = specOf(await load());
      if (spec === null) return {};
      const files = SPEC_FOLDERS.map((folder) => folder === "" ? spec : `${folder}/${spec}`);
      return { goal: `what ${spec} asks for`, files };
    },
    unverified: "accept",
    policy: { attempts: true },
    concurrent: true,

    async overview({ parked }) {
      const plan = await load();
      const [pending, done] = [pendingOf(plan), doneOf(plan)];
      const given = pending.filter((task) => isTaskParked(task, parked));
      return {
        total: pending.length + done.length,
        passed: done.length,
        open: pending.length - given.length,
        parked: given.length,
        unchecked: [],
      };
    },

    async next(look): Promise<Next<SpecItemData>> {
      return offered(await load(), { ...look, limit, forgiven });
    },

    /**
     * Accepted tasks have left the file: the journal remembers the checks that they were accepted by. A plan without any
     * task is finished: those that were accepted last count once more.
     */
    async passed({ passed = [] }) {
      const plan = await load();
      const done = doneOf(plan).map((task) => ({ id: task.id, title: task.name, checks: checksOf([task]) }));
      const here = new Set(tasksOf(plan).map(({ id }) => id));
      const accepted = passed.filter(({ id, kind, closed }) => kind === "BUILD" && closed !== true && !here.has(id))
        .map(({ id, checks }) => ({ id, title: id, checks }));
      return [...done, ...accepted, ...here.size + accepted.length > 0 ? [] : acceptedLast(passed)];
    },

    async reopen(ids, reason) {
      const [file = PLAN_FILE] = topLevelPaths(ralph, [PLAN_FILE]);
      const lines = await acceptedLines(ralph.repository, file, ids);
      await change((plan) => sentBack(plan, ids, lines, shortReason(reason)));
      const subject = `ralph: ${ids.join(", ")} sent back by the final check`;
      return { status: "open", reason, commit: { subject, paths: [PLAN_FILE], work: false } };
    },

    async work(item, { cwd, attempt, nonce, previous }) {
      const checks = item.kind === "BUILD" || item.kind === "VERIFY" ? checksOf(tasksIn(item)) : [];
      const prompt = await stagePrompt(item, { root: ralph.root, cwd, attempt, nonce, previous, checks });
      const about: Readonly<Record<string, string>> = item.data.stage === "DECOMPOSE"
        ? { RALPH_ITEM: parentId(item) }
        : {};
      const environment = { RALPH_STAGE: item.kind, ...about };
      return { prompt, checks, checkFirst: item.kind === "VERIFY", environment };
    },

    async judge(item, { lines }, { cwd, claims }) {
      const edited = claimsByHand(item, await readLeftText(join(cwd, PLAN_FILE)), last?.plan);
      return claimOf(item, [...claims, ...edited], lines);
    },

    findings: specFindings,

    async receive(claims) {
      await change((plan) => withClaims(plan, null, claims));
    },

    async record(milestone) {
      if (milestone.type !== "item-committed" || milestone.item.data.stage !== "BUILD") return;
      const { commit, item } = milestone;
      await change((plan) => committedAt(plan, item.id, commit));
    },

    async settle(item, attempt) {
      const isPassed = attempt.status === "verified" || attempt.status === "unverified";
      switch (item.data.stage) {
        case "BUILD":
          return await settleBuild(item, attempt);
        case "VERIFY":
          if (isPassed) {
            await change((plan) => accepted(withIssues(plan, item, attempt), item));
            const [only, another] = tasksIn(item);
            const title = only === undefined || another !== undefined ? `${item.data.lines.length} tasks` : only.name;
            return { status: "passed", commit: commitOf("task accept", { ...item, title }) };
          }
          return {
            ...again(attempt, commitOf("task reject", item)),
            ...rejectedOf(
              item,
              await change((plan) => notAccepted(withRejections(plan, item, attempt), item, attempt)),
            ),
          };
        case "DECOMPOSE":
          return await settleDecompose(item, attempt, isPassed);
        case "INVESTIGATE":
          await change((plan) =>
            isPassed
              ? withClaims(plan, scopeOf(item), claimsOf(attempt))
              : withIssues(notInvestigated(plan, item, claimsOf(attempt)), item, attempt)
          );
          return isPassed
            ? { status: "passed", commit: commitOf("investigate", item) }
            : again(attempt, commitOf("task reset", item));
      }
    },
  };
}

/** A BUILD turn finds out if a task is done already: its checks decide. */
function withoutDone(claims: readonly ClaimLine[]): readonly ClaimLine[] {
  return claims.filter(({ command }) => command !== "task done");
}

function claimsOf({ claim }: Attempt<SpecFindings>): readonly ClaimLine[] {
  return claim?.findings?.claims ?? [];
}

/** Any turn may add issues, however it ended. */
function withIssues(plan: Plan, item: SpecItem, attempt: Attempt<SpecFindings>): Plan {
  return withClaims(plan, scopeOf(item), claimsOf(attempt).filter(({ command }) => command === "issue add"));
}

/** Ralph takes every claim but the acceptance from a VERIFY turn that did not pass. */
function withRejections(plan: Plan, item: SpecItem, attempt: Attempt<SpecFindings>): Plan {
  return withClaims(plan, scopeOf(item), claimsOf(attempt).filter(({ command }) => command !== "task accept"));
}

function killOf(attempt: Attempt): "timeout" | "context" | null {
  if (attempt.status !== "failed") return null;
  if (attempt.reason === "timed-out" || attempt.reason === "idle") return "timeout";
  return attempt.reason === "context-exhausted" ? "context" : null;
}

/** The tasks of a VERIFY stage that are to be built again, or were replaced. */
function rejectedOf(item: SpecItem, plan: Plan): Pick<Settlement, "reopened"> {
  const done = new Set(doneOf(plan).map(({ id }) => id));
  const reopened = tasksIn(item).map(({ id }) => id).filter((id) => !done.has(id));
  return reopened.length === 0 ? {} : { reopened };
}
