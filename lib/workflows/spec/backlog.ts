import { join, relative } from "node:path";
import type { Config } from "../../config/types.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { topLevelPaths } from "../../git/tree_paths.ts";
import type { Repository } from "../../git/types.ts";
import { readText } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, Backlog, Check, Next, SettleCommit, Settlement } from "../../backlog/types.ts";
import { isOver, isParked } from "../../backlog/attempts.ts";
import { verifyCommands } from "../../backlog/verify_commands.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import { blockedReasons, unreadableReasons } from "./blocked_reasons.ts";
import { readyTasks } from "./graph.ts";
import {
  buildItem,
  decomposeItem,
  investigateItem,
  type SpecItem,
  type SpecItemData,
  tasksIn,
  verifyItem,
} from "./item.ts";
import { scopeOf, withAdditions, withClaims } from "./claims.ts";
import { claimOf, claimsByHand, type SpecFindings } from "./judge.ts";
import { rejectionCounts, rejectionsOf } from "./mutations/reject_task.ts";
import { shortName } from "./mutations/change.ts";
import { SPEC_FOLDERS } from "./find_spec.ts";
import { doneOf, formatPlan, issuesOf, parsePlan, pendingOf, specOf, tasksOf } from "./plan_file.ts";
import {
  accepted,
  built,
  decomposed,
  failed,
  killed,
  notAccepted,
  notDecomposed,
  notInvestigated,
  reset,
  shortReason,
  shortReasonOf,
} from "./settle.ts";
import { acceptedLines, sentBack } from "./reopen.ts";
import { stagePrompt } from "./stage_prompt.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

/** What the backlog needs of the context. */
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
  const ignored = new Map<string, number>();
  let wasLoaded = false;

  async function load(): Promise<Plan> {
    const text = await ralph.state.read(PLAN_FILE);
    if (text === null) {
      throw new RalphError("state-missing", {
        details: { path: PLAN_FILE },
        hint: "`ralph plan SPEC.md` makes the plan",
      });
    }
    const plan = parsePlan(text, PLAN_FILE);
    if (ralph.loop.retryBlocked && !wasLoaded) { // what was rejected too often before this run is forgiven once
      const counts = rejectionCounts(plan);
      for (const { id } of pendingOf(plan)) ignored.set(id, counts.get(id) ?? 0);
    }
    wasLoaded = true;
    return plan;
  }

  async function change(to: (plan: Plan) => Plan): Promise<Plan> {
    const text = await ralph.state.update(
      PLAN_FILE,
      (before) => before === null ? null : formatPlan(to(parsePlan(before, PLAN_FILE))),
    );
    return parsePlan(text, PLAN_FILE);
  }

  const isGivenUp = (plan: Plan, id: string): boolean => rejectionsOf(plan, id) - (ignored.get(id) ?? 0) >= limit;

  function checksOf(item: SpecItem): readonly Check[] {
    const common = ralph.config.verify.default.map((command): Check => ({ name: command, command, scope: "" }));
    const own = tasksIn(item).flatMap(({ id, accept }) =>
      verifyCommands(accept).map((command): Check => ({ name: command, command, scope: id, own: true }))
    );
    return [...common, ...own.filter(({ command }) => !ralph.config.verify.default.includes(command ?? ""))];
  }

  function commitOf(what: string, item: SpecItem, work = false): SettleCommit {
    return { subject: `ralph: ${what} - ${shortName(item.title)}`, paths: [PLAN_FILE], work };
  }

  async function settleBuild(item: SpecItem, attempt: Attempt<SpecFindings>): Promise<Settlement> {
    await change((plan) => withIssues(plan, item, attempt));
    if (attempt.status === "verified" || attempt.status === "unverified") {
      await change((plan) => built(plan, item, attempt));
      const stateSubject = `ralph: task done - ${shortName(item.title)}`;
      return {
        status: "passed",
        commit: { subject: `feat: ${item.id} - ${item.title}`, stateSubject, paths: [PLAN_FILE], work: true },
      };
    }
    if (attempt.status === "interrupted") {
      await change((plan) => reset(plan, item));
      return { status: "open", commit: commitOf("task reset", item) };
    }
    const kill = killOf(attempt);
    if (kill !== null) {
      const log = attempt.turn === null ? null : relative(ralph.root, attempt.turn.transcript).replaceAll("\\", "/");
      await change((plan) => killed(plan, item, kill, log));
      return { status: "open", reason: shortReasonOf(attempt), commit: commitOf("task kill", item) };
    }
    const plan = await change((before) => failed(before, item, attempt));
    const reason = shortReasonOf(attempt);
    const commit = commitOf("task reject", item);
    return isOver(attempt) || isGivenUp(plan, item.id)
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
    stateFiles: [PLAN_FILE],
    async briefFiles() {
      const spec = specOf(await load());
      return spec === null ? [] : SPEC_FOLDERS.map((folder) => folder === "" ? spec : `${folder}/${spec}`);
    },
    unverified: "accept",

    async overview({ parked }) {
      const plan = await load();
      const [pending, done] = [pendingOf(plan), doneOf(plan)];
      const given = pending.filter((task) => isParked(buildItem(plan, task), parked));
      return {
        total: pending.length + done.length,
        passed: done.length,
        open: pending.length - given.length,
        parked: given.length,
        unchecked: [],
      };
    },

    async next({ inFlight, parked }): Promise<Next<SpecItemData>> {
      const plan = await load();
      if (specOf(plan) === null) {
        return { status: "blocked", reasons: ["no spec is set: `ralph plan SPEC.md` plans one"] };
      }
      const [pending, done] = [pendingOf(plan), doneOf(plan)];
      const large = pending.filter(({ kill }) => kill !== null);
      const stage = large.length > 0
        ? large.map((task) => decomposeItem(plan, task)).find((item) => !isParked(item, parked))
        : pending.length > 0
        ? undefined
        : done.length > 0
        ? verifyItem(plan)
        : issuesOf(plan).length > 0
        ? investigateItem(plan)
        : undefined;
      if (stage !== undefined && inFlight.length > 0) return { status: "waiting" };
      if (stage !== undefined && !isParked(stage, parked)) return { status: "item", item: stage };

      const free = readyTasks(tasksOf(plan)).filter(({ id, kill }) =>
        kill === null && !inFlight.includes(id) && !isGivenUp(plan, id)
      );
      const item = free.map((task) => buildItem(plan, task)).find((one) => !isParked(one, parked));
      if (item !== undefined) return { status: "item", item };
      if (inFlight.length > 0) return { status: "waiting" };
      const reasons = [...blockedReasons(plan, limit, parked, stage), ...unreadableReasons(plan)];
      return reasons.length > 0 ? { status: "blocked", reasons } : { status: "done", summary: "COMPLETE" };
    },

    /** Accepted tasks have left the file: the journal remembers the checks that they were accepted by. */
    async passed({ passed = [] }) {
      const plan = await load();
      const done = doneOf(plan).map((task) => ({
        id: task.id,
        title: task.name,
        checks: checksOf(buildItem(plan, task)),
      }));
      const here = new Set(tasksOf(plan).map(({ id }) => id));
      const accepted = passed.filter(({ id, kind, closed }) => kind === "BUILD" && closed !== true && !here.has(id));
      return [...done, ...accepted.map(({ id, checks }) => ({ id, title: id, checks }))];
    },

    async reopen(ids, reason) {
      const [file = PLAN_FILE] = topLevelPaths(ralph, [PLAN_FILE]);
      const lines = await acceptedLines(ralph.repository, file, ids);
      await change((plan) => sentBack(plan, ids, lines, shortReason(reason)));
      const subject = `ralph: ${ids.join(", ")} sent back by the final check`;
      return { status: "open", reason, commit: { subject, paths: [PLAN_FILE], work: false } };
    },

    async work(item, { cwd, attempt, nonce, previous }) {
      const checks = item.kind === "BUILD" || item.kind === "VERIFY" ? checksOf(item) : [];
      const prompt = await stagePrompt(item, { root: ralph.root, cwd, attempt, nonce, previous, checks });
      return { prompt, checks, checkFirst: item.kind === "VERIFY", environment: { RALPH_STAGE: item.kind } };
    },

    async judge(item, _turn, { cwd, claims }) {
      return claimOf(item, [...claims, ...claimsByHand(item, await readText(join(cwd, PLAN_FILE)))]);
    },

    async receive(claims) {
      await change((plan) => withAdditions(plan, claims));
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
            return { status: "passed", commit: commitOf("task accept", { ...item, title }, true) };
          }
          return {
            ...again(attempt, commitOf("task reject", item)),
            ...rejectedOf(
              item,
              await change((plan) => notAccepted(withRejections(plan, item, attempt), item, attempt)),
            ),
          };
        case "DECOMPOSE":
          await change((plan) =>
            isPassed
              ? decomposed(withClaims(plan, scopeOf(item), claimsOf(attempt)), item)
              : withIssues(notDecomposed(plan, item), item, attempt)
          );
          return isPassed
            ? { status: "passed", commit: commitOf("task decompose", item) }
            : again(attempt, commitOf("task reset", item));
        case "INVESTIGATE":
          await change((plan) =>
            isPassed
              ? withClaims(plan, scopeOf(item), claimsOf(attempt))
              : withIssues(notInvestigated(plan, item, claimsOf(attempt)), item, attempt)
          );
          return isPassed
            ? { status: "passed", commit: commitOf("investigate", item, true) }
            : again(attempt, commitOf("task reset", item));
      }
    },
  };
}

function claimsOf({ claim }: Attempt<SpecFindings>): readonly ClaimLine[] {
  return claim?.findings?.claims ?? [];
}

/** What any turn may add, however it ended. */
function withIssues(plan: Plan, item: SpecItem, attempt: Attempt<SpecFindings>): Plan {
  return withClaims(plan, scopeOf(item), claimsOf(attempt).filter(({ command }) => command === "issue add"));
}

/** What a VERIFY turn that did not pass asks for: all but the acceptance. */
function withRejections(plan: Plan, item: SpecItem, attempt: Attempt<SpecFindings>): Plan {
  return withClaims(plan, scopeOf(item), claimsOf(attempt).filter(({ command }) => command !== "task accept"));
}

function killOf(attempt: Attempt): "timeout" | "context" | null {
  if (attempt.status !== "failed") return null;
  if (attempt.reason === "timed-out" || attempt.reason === "idle") return "timeout";
  return attempt.reason === "context-exhausted" ? "context" : null;
}

/** The tasks of a VERIFY stage that are to be built again. */
function rejectedOf(item: SpecItem, plan: Plan): Pick<Settlement, "reopened"> {
  const given = new Set(tasksIn(item).map(({ id }) => id));
  const reopened = pendingOf(plan).map(({ id }) => id).filter((id) => given.has(id));
  return reopened.length === 0 ? {} : { reopened };
}
