import { join } from "node:path";
import { changesTests } from "../../backlog/changes_tests.ts";
import { fingerprintOf } from "../../backlog/attempts.ts";
import { stateInvalid } from "../../errors/ralph_error.ts";
import { readText } from "../../host/files.ts";
import type { Backlog, Check, Item } from "../../backlog/types.ts";
import { type GsdBacklogContext, type GsdItemData, itemDataOf } from "./item_data.ts";
import { planChecks, uncheckedPlans } from "./checks.ts";
import { claimOf, type GsdFindings, gsdFindings } from "./claim.ts";
import * as gsd from "./types.ts";
import { circleLine, findPlan, type Position, positionOf } from "./position.ts";
import { sameNumber } from "./numbers.ts";
import { list } from "./front_matter.ts";
import { planPrompt, summaryPrompt } from "./prompt.ts";
import { type PlanningSource, readPlanning } from "./read_planning.ts";
import { moveAside, movedCommit, PlanSettler, policyOf, waitsForSummary } from "./settle.ts";
import { withSectionOf, withTicksOf } from "./rewrite.ts";

export type { GsdFindings } from "./claim.ts";
export type { GsdBacklogContext } from "./item_data.ts";

/** The plans to run, and how. */
export interface GsdBacklogOptions {
  /** This plan alone: `01-02`. @default every plan from STATE.md's position on */
  readonly plan?: string;
  /**
   * Treatment of checkpoints: left out and listed in the SUMMARY, done with a person at the terminal, or a plan that
   * has some is not begun.
   * @default "skip"
   */
  readonly checkpoints?: "skip" | "interactive" | "block";
}

/** The folder as it is now. */
interface Loaded {
  readonly planning: gsd.Planning;
  readonly position: Position;
}

/** A session at the terminal ends when the person ends it. */
export const SESSION_MS: number = 24 * 60 * 60 * 1000;

/**
 * The plans of a GSD project, one an iteration. A plan passes when every `<command>` and `<automated>` of it passed,
 * run by Ralph; then STATE.md, ROADMAP.md and the SUMMARY are brought up to date. A task that fails is tried once more,
 * then the loop stops; a plan whose own verification fails stops it at once.
 *
 * @throws {RalphError} state-missing, state-invalid from every call that reads the folder
 * @example Work off the plans of .planning/
 * ```ts
 * import { runLoop } from "ralph";
 * import { gsdBacklog } from "ralph/gsd";
 * import { testContext } from "ralph/testing";
 *
 * const plan = "<task type=\"auto\"><name>a</name><verify><automated>test -f a.txt</automated></verify></task>\n";
 * await using ralph = await testContext({
 *   files: { ".planning/phases/01-base/01-01-PLAN.md": plan.replaceAll("><", ">\n<") },
 *   agent: { turns: [{ write: { "a.txt": "a", ".planning/phases/01-base/01-01-SUMMARY.md": "Done" }, say: "###PLAN_COMPLETE###" }] },
 * });
 * console.log((await runLoop(ralph, gsdBacklog(ralph))).status); // passed
 * ```
 */
export function gsdBacklog(
  ralph: GsdBacklogContext,
  options: GsdBacklogOptions = {},
): Backlog<GsdItemData, GsdFindings> {
  const chosen: ChosenOptions = { ...options, checkpoints: options.checkpoints ?? "skip" };
  const folder = planningIn(ralph);
  ralph.state.parts.set(gsd.STATE_FILE, ({ found, written }) => withSectionOf(found, written));
  ralph.state.parts.set(gsd.ROADMAP_FILE, ({ found, written }) => withTicksOf(found, written));
  const settler = new PlanSettler(ralph, { skip: chosen.checkpoints === "skip", load: folder.load });
  return {
    name: gsd.GSD_JOURNAL.backlog,
    scope: gsd.GSD_JOURNAL.scope,
    stateFiles: [gsd.STATE_FILE, gsd.ROADMAP_FILE],
    brief: async () => ({ files: await folder.begin() }),
    unverified: "block",
    concurrent: options.plan === undefined,
    policy: { squash: false, attempts: true, retries: (attempt) => policyOf(attempt).attempts },
    runsDirectory: gsd.GSD_RUNS,

    /** Work of an attempt that failed is continued without its SUMMARY. */
    async record(milestone) {
      if (milestone.type !== "work-returned") return;
      const { item, root, attemptId } = milestone;
      return movedCommit(await moveAside({ ...ralph, root }, item.data.summaryFile, attemptId));
    },

    ...offered(ralph, chosen, { folder, settler }),
    ...checked(ralph, chosen, folder),
    findings: gsdFindings,
    reopen: (ids, reason) => settler.reopen(ids, reason),
    settle(item, attempt) {
      folder.taken = null;
      return settler.settle(item, attempt);
    },
  };
}

type ChosenOptions = GsdBacklogOptions & Required<Pick<GsdBacklogOptions, "checkpoints">>;

/** The folder of a project, as far as a run is about it. */
function planningIn({ root, state }: GsdBacklogContext) {
  const source = { root, memo: new Map(), read: state.read } satisfies PlanningSource;
  let planIds: ReadonlySet<string> | null = null;
  const isOwn = ({ file }: gsd.Plan): boolean => planIds?.has(file) !== false;
  const plans = async (): Promise<readonly gsd.Plan[]> =>
    (await readPlanning(source)).phases.flatMap((phase) => phase.plans);
  return {
    /** As it was when the next item was taken: an overview that follows at once is of the same moment. */
    taken: null as Loaded | null,
    async load(): Promise<Loaded> {
      const read = await readPlanning(source);
      const phases = read.phases.map((phase) => ({ ...phase, plans: phase.plans.filter(isOwn) }));
      const planning = planIds === null ? read : { ...read, phases };
      return { planning, position: positionOf(planning) };
    },
    /** A run begins with these plan files: those that turns write are not its own, since no one has seen them. */
    async begin(): Promise<readonly string[]> {
      const files = (await plans()).map(({ file }) => file);
      planIds = new Set(files);
      return files;
    },
    /** Plan files that were written since. */
    added: async (): Promise<readonly string[]> =>
      (await plans()).filter((plan) => !isOwn(plan)).map(({ file }) => file),
  };
}

type PlanningFolder = ReturnType<typeof planningIn>;

/** The plans as the loop takes them up. */
function offered(
  ralph: GsdBacklogContext,
  options: ChosenOptions,
  { folder, settler }: { readonly folder: PlanningFolder; readonly settler: PlanSettler },
): Pick<Backlog<GsdItemData, GsdFindings>, "next" | "overview"> {
  const { plan: only } = options;
  const always = ralph.config.verify.default;
  return {
    async overview() {
      const loaded = folder.taken ?? await folder.load();
      folder.taken = null;
      if (only === undefined) refuseCircles(loaded);
      const plans = wanted(loaded, only, "open");
      return {
        total: only === undefined ? loaded.position.total : 1,
        ids: loaded.planning.phases.flatMap((phase) => phase.plans.map(({ id }) => id)),
        passed: only === undefined ? loaded.position.complete : 1 - plans.length,
        open: plans.length,
        parked: 0,
        checkForm: gsd.CHECK_FORM,
        unchecked: uncheckedPlans(plans, always),
      };
    },

    async next({ inFlight }) {
      const loaded = await folder.load();
      folder.taken = loaded;
      const { position } = loaded;
      const plan = wanted(loaded, only, "ready").find(({ id }) => !inFlight.includes(id));
      if (plan !== undefined) {
        const reason = obstacle(plan, options);
        if (reason !== null) return { status: "blocked", reasons: [reason] };
        const text = await readText(join(ralph.root, plan.file)) ?? "";
        return { status: "item", item: itemOf(plan, text, loaded, options) };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      // where nothing was left to begin with, a run has not passed: the next phase is to be planned
      const unplanned = position.status === "unplanned" && !settler.hasPassed;
      if (only === undefined && (position.status === "blocked" || unplanned)) {
        return { status: "blocked", reasons: position.reasons };
      }
      const added = await folder.added();
      const lines = [...doneLines(position, options), ...settler.skippedLines()];
      if (added.length > 0) lines.push(`new plans, not in the scope of this run: ${added.join(", ")}`);
      return { status: "done", summary: lines.join("; ") };
    },
  };
}

/** The plans that a run is about. @param among those of a position that count where no plan is named */
function wanted({ planning, position }: Loaded, only: string | undefined, among: "open" | "ready") {
  if (only === undefined) return position.status === "plan" ? position[among] : [];
  const plan = findPlan(planning, only);
  return plan === null || plan.summarized ? [] : [plan];
}

function obstacle({ file, id, empty, tasks }: gsd.Plan, { checkpoints }: ChosenOptions): string | null {
  if (empty) return `${file} has no task and no text: there is nothing to carry out`;
  const names = tasks.filter(({ checkpoint }) => checkpoint).map(({ name }) => name);
  if (checkpoints !== "block" || names.length === 0) return null;
  const what = `${id} has checkpoints for a person (${names.join("; ")})`;
  return `${what}: run it in a terminal, or leave them out with \`ralph run --loop\``;
}

function itemOf(plan: gsd.Plan, text: string, { planning, position }: Loaded, { checkpoints }: ChosenOptions) {
  const data = itemDataOf(plan, planning, position);
  const touches = touchesOf(plan);
  return {
    id: plan.id,
    kind: waitsForSummary(planning.state, plan.id) ? "summary" : "plan",
    title: data.title,
    criteria: data.tasks.map(({ name }) => name),
    ...(checkpoints === "skip" && data.checkpointsOnly ? { checksOnly: true } : {}),
    ...(touches.length > 0 ? { touches } : {}),
    changesTests: changesTests([text]),
    fingerprint: fingerprintOf(text),
    data,
  };
}

/** A turn at a plan, and what plans are checked by. */
function checked(
  { config }: GsdBacklogContext,
  options: ChosenOptions,
  folder: PlanningFolder,
): Pick<Backlog<GsdItemData, GsdFindings>, "judge" | "passed" | "work"> {
  const skip = options.checkpoints === "skip";
  const checksOf = (plan: Pick<GsdItemData, "tasks" | "verification">): readonly Check[] =>
    planChecks(plan, config.verify.default, { skip });
  const isInteractive = ({ tasks }: GsdItemData): boolean =>
    options.checkpoints === "interactive" && tasks.some(({ checkpoint }) => checkpoint);
  return {
    /** The plans of the phases that are worked on: older ones are history, whose checks may have been overtaken. */
    async passed({ passed = [] }) {
      const { planning } = await folder.load();
      const complete = planning.phases.flatMap(({ plans }) => plans).filter(({ completion }) =>
        completion.done && completion.by !== "skipped" && completion.by !== "superseded"
      );
      const { state } = planning;
      const isCurrent = ({ id, phase }: gsd.Plan): boolean =>
        (typeof state?.phase === "string" && sameNumber(phase, state.phase)) ||
        passed.some((one) => one.id === id && one.closed !== true);
      const phases = new Set(complete.filter(isCurrent).map(({ phase }) => phase));
      const chosen = options.plan === undefined
        ? complete.filter(({ phase }) => phases.has(phase))
        : complete.filter(({ id }) => id === findPlan(planning, options.plan ?? "")?.id);
      return chosen.map((plan) => ({ id: plan.id, title: plan.title ?? plan.id, checks: checksOf(plan) }));
    },

    async work(item, { attempt, nonce, previous, cwd }) {
      const { data } = item;
      const checks = checksOf(data);
      if (skip && data.checkpointsOnly) {
        const run = () => Promise.resolve({ ok: true, exitCode: null, tail: "" });
        const none = { name: `${data.id}: only checkpoints, nothing for an agent`, scope: "plan", run };
        return { prompt: null, checks: checks.length > 0 ? checks : [none] };
      }
      if (asksForSummary(item, previous)) return { prompt: await summaryPrompt(data, { root: cwd, nonce }), checks };
      const interactive = isInteractive(data);
      const prompt = await planPrompt(data, { root: cwd, attempt, nonce, previous, checks, interactive });
      return interactive ? { prompt, checks, interactive, timeoutMs: SESSION_MS } : { prompt, checks };
    },

    judge: async (item, turn, { nonce, previous }) =>
      claimOf(turn, { nonce, interactive: isInteractive(item.data), summaryOnly: asksForSummary(item, previous) }),
  };
}

/** The paths in a plan's `files_modified`, as globs. */
function touchesOf(plan: gsd.Plan): readonly string[] {
  return list(plan.frontMatter, "files_modified")
    .map((path) => path.replace(/\s+\(.*\)$/, "").replace(/^\.\//, "").replace(/\/$/, "/**"))
    .filter((path) => path !== "");
}

/** @throws {RalphError} state-invalid */
function refuseCircles({ planning, position: { circles } }: Loaded): void {
  const [circle] = circles;
  if (circle === undefined) return;
  const path = findPlan(planning, circle[0] ?? "")?.file ?? gsd.PLANNING_DIRECTORY;
  const hint = "take one of them out of `depends_on`; `ralph run --plan ID` runs a plan whatever it depends on";
  throw stateInvalid(path, circleLine(circle), hint);
}

/** The plan was verified and left no SUMMARY. */
function asksForSummary(item: Item<GsdItemData>, previous: { readonly status: string } | null): boolean {
  return item.kind === "summary" || previous?.status === "verified" || previous?.status === "unverified";
}

function doneLines(position: Position, { plan }: GsdBacklogOptions): readonly string[] {
  if (plan === undefined) return position.reasons;
  return [`${plan} is complete`, ...(position.next === null ? position.reasons : [`next: ${position.next.id}`])];
}
