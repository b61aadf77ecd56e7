import { join, posix } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { stateMissing } from "../../errors/ralph_error.ts";
import { changesTests } from "../../backlog/changes_tests.ts";
import { fingerprintOf } from "../../backlog/attempts.ts";
import { shortened } from "../../host/data.ts";
import { resolveInside } from "../../host/files.ts";
import { isoNow } from "../../host/local_date.ts";
import { ensureRunsIgnored } from "../../events/known_runs.ts";
import type { Overview } from "../../backlog/overview.ts";
import type { Backlog, Check, Claim, Item, JudgeContext, Next, ParkedItem, Turn } from "../../backlog/types.ts";
import { readOrError } from "../read_or_error.ts";
import { findingsOf } from "./claim.ts";
import { type SprintPaths, sprintPaths, transcriptOf } from "./paths.ts";
import { firstOpen } from "./step_order.ts";
import { sprintPrompt } from "./prompt.ts";
import { type ChangeSprint, settleIteration } from "./settle.ts";
import type { SprintFindings, SprintItemData, SprintMode, SprintProgress, SprintStep } from "./types.ts";

/** `RALPH_STAGE` in a sprint's turns. */
export const SPRINT_STAGE = "SPRINT";

/** The id of the goal itself, beside those of steps. */
const GOAL = "goal";

/** The part of the context that the backlog needs. */
export type SprintContext = Pick<RalphContext, "config" | "host" | "root" | "state">;

/** Which sprint. */
export interface SprintBacklogOptions {
  /** The sprint's folder, relative to the root. */
  readonly directory: string;
}

/**
 * A free loop over a goal: planning, executing, reflecting, until the agent says that the goal is reached and the checks
 * agree. The state is `PROGRESS.yaml` in the sprint's folder.
 *
 * @throws {RalphError} state-missing, state-invalid, sprint-invalid from every call that reads the file
 * @example Run a compiled sprint
 * ```ts
 * import { runLoop } from "ralph";
 * import { compileSprint, sprintBacklog, sprintHooks } from "ralph/sprint";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "sprint/SPRINT.yaml": "workflow: ralph\ngoal: say hello\n" },
 *   agent: { turns: [{ write: { "hello.txt": "hello" }, say: "RALPH_COMPLETE: said hello" }] },
 *   config: { verify: { default: ["test -f hello.txt"] } },
 * });
 * await compileSprint(ralph, { directory: "sprint" });
 * const hooks = await sprintHooks(ralph, { directory: "sprint" });
 * const run = await runLoop(ralph, sprintBacklog(ralph, { directory: "sprint" }), { hooks });
 * console.log(run.status); // passed
 * ```
 */
export function sprintBacklog(
  ralph: SprintContext,
  { directory }: SprintBacklogOptions,
): Backlog<SprintItemData, SprintFindings> {
  const paths = sprintPaths(ralph.root, directory);
  const checks = [...new Set(ralph.config.verify.default)].map((command): Check => ({ name: command, command }));

  const load = (): Promise<SprintProgress> => readSprint(ralph, paths.progress);

  const change: ChangeSprint = (to) => changeSprint(ralph, paths.progress, to);

  return {
    name: "sprint",
    scope: directory,
    stateFiles: [paths.progress],
    brief: async () => ({ goal: (await load()).goal, files: [paths.definition] }),
    unverified: "accept",
    runsDirectory: paths.logs,

    overview: async ({ parked }) => counted(await load(), parked),

    async next({ inFlight, parked }) {
      const { WAITS_FOR_A_PERSON } = await import("./changes.ts");
      const progress = await load();
      if (WAITS_FOR_A_PERSON.has(progress.status)) {
        return { status: "blocked", reasons: [humanReason(progress, paths)] };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      return (progress.kind === "standard" ? nextPhase : nextStep)(progress, parked, paths);
    },

    /** Steps and the goal have the checks that hold for everything. */
    async passed() {
      const { steps, exit } = await load();
      const done = steps.filter(({ status }) => status === "completed");
      const goal = exit.detectedAt === null ? [] : [{ id: GOAL, title: exit.summary ?? "", checks }];
      return [...done.map((step) => ({ id: step.id, title: stepTitle(step), checks })), ...goal];
    },

    ...recorded(ralph, paths, { load, change }),

    async work({ data: { step, ...data } }, { nonce, previous, last }) {
      const progress = await load();
      return {
        prompt: await sprintPrompt({
          ...data,
          step,
          root: ralph.root,
          progress,
          file: paths.progress,
          checks,
          nonce,
          previous: previous ?? (step === null ? last : null), // planning has another id each time
          parked: step === null ? progress.steps.filter(isPending).map(({ id }) => id) : [],
        }),
        checks: step?.gate === undefined ? [] : [{ name: step.gate, command: step.gate }],
        environment: { RALPH_SPRINT: join(ralph.root, directory), RALPH_STAGE: SPRINT_STAGE },
      };
    },

    judge: (item, turn, context) => judgeIteration(ralph, paths.progress, { ...context, item, turn }),
    settle: (item, attempt) =>
      settleIteration({ item, attempt, change, now: isoNow(ralph.host), load, file: paths.progress }),
  };
}

function counted({ steps }: SprintProgress, parked: readonly ParkedItem[]): Overview {
  const open = steps.filter(isPending);
  const given = open.filter((step) => isGivenUp(step, parked)).length;
  const passed = steps.filter(({ status }) => status === "completed").length;
  return { total: null, passed, open: open.length - given, parked: given, unchecked: [] };
}

/** Reads PROGRESS.yaml. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
export async function readSprint(context: Pick<SprintContext, "state">, file: string): Promise<SprintProgress> {
  const { readProgress } = await import("./document.ts");
  return readProgress(await textOf(context, file), file);
}

/** Changes PROGRESS.yaml where it is there; `to` says whether it did anything. */
export async function changeSprint(
  { state }: Pick<SprintContext, "state">,
  file: string,
  to: Parameters<ChangeSprint>[0],
): Promise<void> {
  const { changeYaml } = await import("./document.ts");
  await state.update(file, (text) => text === null ? null : changeYaml(text, file, to));
}

/** The text of a sprint's PROGRESS.yaml. @throws {RalphError} state-missing */
export async function textOf({ state }: Pick<SprintContext, "state">, file: string): Promise<string> {
  const text = await state.read(file);
  if (text !== null) return text;
  throw stateMissing(file, `\`ralph sprint compile ${posix.dirname(file)}\` writes it`);
}

/** The sprint's file keeps this record of a run. */
function recorded(
  ralph: SprintContext,
  paths: SprintPaths,
  { load, change }: { readonly load: () => Promise<SprintProgress>; readonly change: ChangeSprint },
): Required<Pick<Backlog<SprintItemData, SprintFindings>, "receive" | "record" | "reopen">> {
  const now = (): string => isoNow(ralph.host);
  return {
    /** Whatever fails at the end, the goal is not reached: the agent plans on with the reason. */
    async reopen(_ids, reason) {
      const { refuseExit } = await import("./changes.ts");
      await change((document) => refuseExit(document, reason, now()));
      return { status: "open", reason };
    },

    async record(milestone) {
      const { beginIteration, confirmExit, resumeSprint } = await import("./changes.ts");
      if (milestone.type === "run-began") await change((document) => resumeSprint(document, now()));
      if (milestone.type === "run-passed") {
        await change((document) => confirmExit(document, milestone.verdict === "verified", now()));
      }
      if (milestone.type !== "item-began") return;
      await ensureRunsIgnored(await resolveInside(ralph.root, paths.transcripts));
      const { iteration, step } = milestone.item.data;
      await change((document) => beginIteration(document, { iteration, step: step?.id ?? null, now: now() }));
    },

    async receive(claims) {
      const { applyStepClaims } = await import("./steps.ts");
      const { currentIteration } = await load();
      await change((document) => applyStepClaims(document, claims, { iteration: currentIteration, now: now() }));
    },
  };
}

type Judged = JudgeContext<SprintFindings> & { readonly item: Item<SprintItemData>; readonly turn: Turn };

async function judgeIteration(
  { host, state }: SprintContext,
  file: string,
  { item: { data: { step, iteration } }, turn, claims, nonce }: Judged,
): Promise<Claim<SprintFindings>> {
  const [edit] = await state.edited([file]);
  const { changeYaml, readProgress } = await import("./document.ts");
  const { applyStepClaims } = await import("./steps.ts");
  const mark = { iteration, now: isoNow(host) };
  const withClaims = (text: string): SprintProgress =>
    readProgress(changeYaml(text, file, (document) => applyStepClaims(document, claims, mark)), file);
  const written = withClaims(edit?.written ?? await textOf({ state }, file));
  // where it is no sprint any more, the agent claims nothing by it
  const { value: found } = await readOrError(() => edit === undefined ? written : withClaims(edit.found ?? ""));
  const findings = findingsOf({ turn, written, found, step, claims, nonce });
  if (findings.needsHuman !== null) return { status: "blocked", reason: findings.needsHuman, findings };
  if (findings.complete !== null || findings.completed !== null) return { status: "done", findings };
  const isDone = step === null
    ? findings.added.length > 0 || written.steps.some(({ addedIn }) => addedIn === iteration) ||
      turn.changedFiles.some((path) => path !== file)
    : written.steps.find(({ id, prompt }) => id === step.id && prompt === step.prompt)?.status !== "pending";
  if (isDone) return { status: "done", findings };
  const reason = step === null
    ? "no step was added, and the goal was not said to be reached"
    : `${step.id} is still pending`;
  return { status: "not-done", reason, findings };
}

/** A free loop: a pending step, planning, or the end. */
function nextStep(progress: SprintProgress, parked: readonly ParkedItem[], paths: SprintPaths): Next<SprintItemData> {
  const { exit, status, steps } = progress;
  const pending = steps.filter(isPending);
  const step = pending.find((one) => !isGivenUp(one, parked)) ?? null;
  const isReached = exit.detectedAt !== null || status === "completed";
  if (step !== null || !isReached) return { status: "item", item: iterationItem(progress, step, paths.transcripts) };
  if (pending.length === 0) return { status: "done", summary: exit.summary ?? "" };
  return { status: "blocked", reasons: pending.map((one) => givenUpReason(one, parked)) };
}

function isPending({ status }: SprintStep): boolean {
  return status === "pending";
}

/** Phases and their steps come in their order: what cannot be done holds up all that follows. */
function nextPhase(progress: SprintProgress, parked: readonly ParkedItem[], paths: SprintPaths): Next<SprintItemData> {
  const step = firstOpen(progress.steps);
  if (step === null) return { status: "done" };
  if (isGivenUp(step, parked)) return { status: "blocked", reasons: [givenUpReason(step, parked)] };
  if (isPending(step)) return { status: "item", item: iterationItem(progress, step, paths.transcripts) };
  const reason = `${step.id} is \`status: ${step.status}\` in ${paths.progress}; ` +
    `\`ralph sprint run ${paths.directory} --retry-blocked\` tries it again`;
  return { status: "blocked", reasons: [reason] };
}

function iterationItem(progress: SprintProgress, step: SprintStep | null, transcripts: string): Item<SprintItemData> {
  const { completedIterations: completed, idleIterations: idle, goal } = progress;
  const iteration = progress.currentIteration + 1;
  const free = idle + 1 >= progress.idleThreshold ? "reflecting" : "planning";
  const mode: SprintMode = step === null ? free : "executing";
  const known = { kind: mode, exclusive: true, iteration, transcript: transcriptOf(transcripts, iteration) } as const;
  const data = { mode, iteration, completed, idle, step };
  if (step === null) return { ...known, id: `${mode}-${completed + 1}`, title: titleOf(goal), preparatory: true, data };
  const isAdded = progress.kind === "ralph" || step.injected === true;
  return {
    ...known,
    id: step.id,
    title: stepTitle(step),
    criteria: [step.prompt],
    changesTests: changesTests(isAdded ? [goal] : [goal, step.prompt]),
    ...(isAdded ? { isAdded } : {}),
    fingerprint: fingerprintOf(step.prompt),
    data,
  };
}

function isGivenUp({ id, prompt }: SprintStep, parked: readonly ParkedItem[]): boolean {
  return parked.some((one) => one.id === id && one.fingerprint === fingerprintOf(prompt));
}

/** A phase of a step begins as all the others of its workflow: the step's own text says more. Pure. */
function stepTitle({ id, of, prompt }: SprintStep): string {
  return titleOf(of === undefined ? prompt : `${id.split("/").at(-1)}: ${of}`);
}

/** The first line of a text, cut. Pure. */
function titleOf(text: string): string {
  return shortened(text.trim().split("\n")[0] ?? "", 72);
}

function humanReason({ humanNeeded, status }: SprintProgress, { directory, progress }: SprintPaths): string {
  const why = humanNeeded === null ? "" : `: ${humanNeeded}`;
  const what = status === "needs-human"
    ? `the agent asked for a person${why}`
    : `the sprint is ${status === "blocked" ? "blocked" : "paused"} (\`status: ${status}\` in ${progress})`;
  return `${what}; \`ralph sprint run ${directory} --retry-blocked\` continues it`;
}

/** The goal is said to be reached, and a step is left that could not be done. */
function givenUpReason(step: SprintStep, parked: readonly ParkedItem[]): string {
  const reason = parked.find(({ id }) => id === step.id)?.reason.split("\n")[0] ?? "was given up on";
  return `${step.id} (${stepTitle(step)}): ${reason}; \`ralph step done ${step.id}\` if it is not needed`;
}
