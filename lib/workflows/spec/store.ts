import { note, type RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { refuseOperations } from "../../git/open_repository.ts";
import { type CommitResult, type Repository, requireRepository, topLevelPaths } from "../../git/repository.ts";
import type { Host } from "../../host/types.ts";
import type { Change } from "./mutations.ts";
import { mergeConflict } from "./merge_plan.ts";
import { formatPlan, hasConflict, parsePlan } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

/** The part of the context that the store needs. */
export type PlanStoreContext = Pick<RalphContext, "config" | "host" | "repository" | "root" | "state">;

/** A change that was made. */
export interface Mutated {
  readonly before: Plan;
  /** The same as before where nothing was to be done. */
  readonly plan: Plan;
  readonly warnings: readonly string[];
}

/** Computes a change from the plan as it is under the lock; `null` changes nothing. */
export type Changing = (plan: Plan, place: { readonly head: string | null }) => Change | null | Promise<Change | null>;

/** The plan of one root. */
export interface PlanStore {
  /** @throws {RalphError} state-invalid for a merge conflict */
  load(): Promise<Plan>;
  /**
   * Read, change, write and commit, under one lock. Killed at any moment the file holds the old plan or the new one; what
   * was written and not committed goes with the next commit.
   *
   * @throws {RalphError} not-a-repository, git-identity-missing, git-operation-in-progress, git-locked, store-locked,
   * state-invalid, usage
   */
  mutate(change: Changing): Promise<Mutated>;
  /** Resolves the conflict that git's markers show, task by task. @returns warnings, or `null` where there are none */
  repair(): Promise<readonly string[] | null>;
}

const TRIES = 20;
const PAUSE_MS = 100;

/** Opens the plan of a root. Nothing is read before it is asked for. */
export function planStore(context: PlanStoreContext): PlanStore {
  const { root, state, repository, host, config } = context;

  /** The plan that both sides began with, as git's index has it while the conflict lasts. */
  async function baseOfConflict(): Promise<string | null> {
    if (repository === null) return null;
    const [path] = topLevelPaths(context, [PLAN_FILE]);
    const { exitCode, stdout } = await repository.git(["show", `:1:${path}`]);
    return exitCode === 0 ? stdout : null;
  }

  async function commit(git: Repository, subject: string): Promise<readonly string[]> {
    if (!config.commits.prdChanges) return [];
    const result = await patiently(host, () => git.commit({ paths: topLevelPaths(context, [PLAN_FILE]), subject }));
    const isIgnored = result.status === "nothing" && result.ignored.length > 0;
    return isIgnored ? [`${PLAN_FILE} is ignored by git and therefore not committed`] : [];
  }

  return {
    async load() {
      // inside of a run an agent's manual edit of the file is no state
      const [edit] = host.environment.variables["RALPH_ROOT"] === root ? await state.edited([PLAN_FILE]) : [];
      return parsePlan(edit?.written ?? await state.read(PLAN_FILE), PLAN_FILE);
    },

    async mutate(change) {
      const repository = requireRepository(context);
      if (config.commits.prdChanges) await repository.ensureReady();
      return await state.transact(PLAN_FILE, async (text, write) => {
        const before = parsePlan(text, PLAN_FILE);
        const head = await repository.git(["rev-parse", "--verify", "--quiet", "--short", "HEAD"]);
        const made = await change(before, { head: head.exitCode === 0 ? head.stdout.trim() : null });
        if (made === null) return { before, plan: before, warnings: [] };
        const after = formatPlan(made.plan);
        if (after !== (text ?? "")) await write(after);
        const warnings = [...made.warnings ?? [], ...await commit(repository, made.subject)];
        return { before, plan: parsePlan(after, PLAN_FILE, before), warnings };
      });
    },

    async repair() {
      return await state.transact(PLAN_FILE, async (text, write) => {
        if (text === null || !hasConflict(text)) return null;
        const merged = mergeConflict(text, await baseOfConflict(), PLAN_FILE);
        await write(merged.text);
        return [...merged.warnings, ...repository === null ? [] : await commitRepair(repository)];
      });
    },
  };

  async function commitRepair(git: Repository): Promise<readonly string[]> {
    try {
      await git.ensureReady();
    } catch (error) {
      if (!RalphError.isInstance(error) || error.code !== "git-operation-in-progress") throw error;
      const operation = String(error.details["operation"]);
      return [
        `repaired and not committed, since a ${operation} is in progress: \`git add ${PLAN_FILE}\`, then finish it`,
      ];
    }
    return await commit(git, "ralph: repair plan");
  }
}

/** Another git process may take the index between our look and our commit. */
async function patiently(host: Host, commit: () => Promise<CommitResult>): Promise<CommitResult> {
  for (let tries = 1;; tries++) {
    try {
      return await commit();
    } catch (error) {
      const isLock = RalphError.isInstance(error) && error.code === "git-failed" &&
        /\.lock\b|cannot lock ref/.test(error.message);
      if (!isLock || tries === TRIES) throw error;
      await host.clock.sleep(PAUSE_MS);
    }
  }
}

/** How the question of an uncommitted plan ended. */
export type CommitPlanOutcome =
  | { readonly status: "approved" }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "declined"; readonly next: readonly string[] }
  | { readonly status: "aborted" };

/**
 * Before the loop of the spec workflow: a plan with uncommitted changes is committed when a person agrees (the default).
 *
 * @throws {RalphError} not-a-repository, git-identity-missing, git-operation-in-progress
 * @example A plan that is committed already
 * ```ts
 * import { commitPlan } from "ralph/spec";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "ralph/plan.jsonl": '{"t": "spec", "spec": "a.md"}\n' } });
 * console.log((await commitPlan(ralph)).status); // skipped
 * ```
 */
export async function commitPlan(ralph: RalphContext): Promise<CommitPlanOutcome> {
  if (ralph.journal.interrupted("spec").length > 0) {
    return { status: "skipped", reason: "the run that was interrupted commits it" };
  }
  const [path] = topLevelPaths(ralph, [PLAN_FILE]);
  const repository = requireRepository(ralph);
  const { changed } = await repository.status();
  const isChanged = changed.some((one) =>
    one.path === path || (one.untracked && one.path.endsWith("/") && path?.startsWith(one.path))
  );
  if (!isChanged) return { status: "skipped", reason: "the plan is committed" };
  await refuseOperations(repository.topLevel, repository.gitDirectory); // before a question that leads nowhere
  try {
    const message = "plan.jsonl has uncommitted changes. Commit now?";
    const { value } = await ralph.prompter.ask({ id: "build.commit-plan", kind: "confirm", message, initial: true });
    if (value !== "yes") return { status: "declined", next: [`git commit ${PLAN_FILE}`, "ralph build"] };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "interrupted") return { status: "aborted" };
    throw error;
  }
  const { warnings } = await planStore(ralph).mutate((plan) => ({ plan, subject: "ralph: update plan" }));
  for (const message of warnings) note(ralph, "warn", message);
  return { status: "approved" };
}
