import { join, posix } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { changesTests } from "../../backlog/changes_tests.ts";
import { fingerprintOf, isParked } from "../../backlog/attempts.ts";
import { resolveInside } from "../../host/files.ts";
import { ensureRunsIgnored } from "../../events/run_folders.ts";
import type { Backlog, Check, Item, ParkedItem } from "../../backlog/types.ts";
import { findingsOf } from "./claim.ts";
import { createHookRecorder } from "./hook_recorder.ts";
import { type SprintPaths, sprintPaths } from "./paths.ts";
import { sprintPrompt } from "./prompt.ts";
import { settleIteration } from "./settle.ts";
import type { SprintFindings, SprintItemData, SprintMode, SprintProgress, SprintStep } from "./types.ts";

/** `RALPH_STAGE` in a sprint's turns. */
export const SPRINT_STAGE = "SPRINT";

/** The id of the goal itself, beside those of steps. */
const GOAL = "goal";

/** What the backlog needs of the context. */
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
  const folder = join(ralph.root, directory);
  const checks: readonly Check[] = [...new Set(ralph.config.verify.default)].map((command) => ({
    name: command,
    command,
  }));
  const recorder = createHookRecorder(ralph, paths.progress, folder);
  const now = (): string => new Date(ralph.host.clock.now()).toISOString();

  async function load(): Promise<SprintProgress> {
    return await readSprint(ralph, paths.progress);
  }

  const change = async (to: (document: never) => boolean): Promise<void> => {
    const { changeYaml } = await import("./document.ts");
    await ralph.state.update(
      paths.progress,
      (text) => text === null ? null : changeYaml(text, paths.progress, to as never),
    );
  };

  return {
    name: "sprint",
    scope: directory,
    stateFiles: [paths.progress],
    briefFiles: () => Promise.resolve([paths.definition]),
    goal: async () => (await load()).goal,
    unverified: "accept",
    runsDirectory: paths.logs,
    logsDirectory: paths.logs,

    async overview({ parked }) {
      const { steps } = await load();
      const open = steps.filter(({ status }) => status === "pending");
      const given = open.filter((step) => isGivenUp(step, parked)).length;
      const passed = steps.filter(({ status }) => status === "completed").length;
      return { total: null, passed, open: open.length - given, parked: given, unchecked: [] };
    },

    async next({ inFlight, parked }) {
      const progress = await load();
      const { exit, status, steps } = progress;
      if (WAITS_FOR_A_PERSON.has(status)) return { status: "blocked", reasons: [humanReason(progress, paths)] };
      if (inFlight.length > 0) return { status: "waiting" };
      const pending = steps.filter((one) => one.status === "pending");
      const step = pending.find((one) => !isGivenUp(one, parked)) ?? null;
      const isReached = exit.detectedAt !== null || status === "completed";
      if (step === null && isReached && pending.length > 0) {
        return { status: "blocked", reasons: pending.map((one) => givenUpReason(one, parked)) };
      }
      if (step === null && isReached) return { status: "done", summary: exit.summary ?? "" };
      return { status: "item", item: iterationItem(progress, step, paths.transcripts) };
    },

    /** Steps and the goal have the checks that hold for everything. */
    async passed() {
      const { steps, exit } = await load();
      const done = steps.filter(({ status }) => status === "completed");
      const goal = exit.detectedAt === null ? [] : [{ id: GOAL, title: exit.summary ?? "", checks }];
      return [...done.map((step) => ({ id: step.id, title: titleOf(step.prompt), checks })), ...goal];
    },

    /** Whatever fails at the end, the goal is not reached: the agent plans on with the reason. */
    async reopen(_ids, reason) {
      const { refuseExit } = await import("./changes.ts");
      await change((document) => refuseExit(document, reason));
      return { status: "open", reason };
    },

    async ended(verdict) {
      const { confirmExit } = await import("./changes.ts");
      await change((document) => confirmExit(document, verdict === "verified"));
    },

    async begin(item) {
      await ensureRunsIgnored(await resolveInside(ralph.root, paths.transcripts));
      const { beginIteration } = await import("./changes.ts");
      await change((document) => beginIteration(document, item.data.iteration, now()));
    },

    async work(item, { nonce, previous: own, last }) {
      const { mode, step, iteration } = item.data;
      const progress = await load();
      const previous = own ?? (step === null ? last : null); // planning has another id each time
      const parked = step === null
        ? progress.steps.filter(({ status }) => status === "pending").map(({ id }) => id)
        : [];
      const context = {
        root: ralph.root,
        mode,
        progress,
        step,
        iteration,
        file: paths.progress,
        checks,
        nonce,
        previous,
        parked,
      };
      return {
        prompt: await sprintPrompt(context),
        checks: [],
        environment: { RALPH_SPRINT: folder, RALPH_STAGE: SPRINT_STAGE },
      };
    },

    async judge(item, turn, { claims, nonce }) {
      const { step, iteration } = item.data;
      const [edit] = await ralph.state.edited([paths.progress]);
      const { readProgress } = await import("./document.ts");
      const { claimedSteps } = await import("./steps.ts");
      const withSteps = (text: string): SprintProgress =>
        claimedSteps(readProgress(text, paths.progress), claims, iteration);
      const written = withSteps(edit?.written ?? await textOf(ralph, paths.progress));
      const found = edit === undefined ? written : readable(() => withSteps(edit.found ?? ""));
      const findings = findingsOf({ turn, written, found, step, claims, nonce });
      if (findings.needsHuman !== null) return { status: "blocked", reason: findings.needsHuman, findings };
      if (findings.complete !== null || findings.completed !== null) return { status: "done", findings };
      if (step !== null) {
        const there = written.steps.find(({ id, prompt }) => id === step.id && prompt === step.prompt);
        if (there?.status !== "pending") return { status: "done", findings };
        return { status: "not-done", reason: `${step.id} is still pending`, findings };
      }
      const moved = findings.added.length > 0 || written.steps.some(({ addedIn }) => addedIn === iteration) ||
        turn.changedFiles.some((path) => path !== paths.progress);
      if (moved) return { status: "done", findings };
      return { status: "not-done", reason: "no step was added, and the goal was not said to be reached", findings };
    },

    settle: (item, attempt) => settleIteration({ item, attempt, change, now: now(), load, file: paths.progress }),

    async resume() {
      const { resumeSprint } = await import("./changes.ts");
      await change((document) => resumeSprint(document, now()));
    },

    async receive(claims) {
      const { applyStepClaims } = await import("./steps.ts");
      const { currentIteration } = await load();
      await change((document) => applyStepClaims(document, claims, { iteration: currentIteration, now: now() }));
    },

    hookRan: (record) => recorder.record(record),

    async hooksLeft() {
      const { hookTasks } = await load();
      return hookTasks.filter(({ status }) => status === "interrupted").map(({ hookId, iteration }) => ({
        hookId,
        iteration,
        transcript: join(ralph.root, transcriptOf(paths.transcripts, iteration)),
      }));
    },
  };
}

/** What PROGRESS.yaml says. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
export async function readSprint(context: Pick<SprintContext, "state">, file: string): Promise<SprintProgress> {
  const { readProgress } = await import("./document.ts");
  return readProgress(await textOf(context, file), file);
}

/** The text of a sprint's PROGRESS.yaml. @throws {RalphError} state-missing */
export async function textOf({ state }: Pick<SprintContext, "state">, file: string): Promise<string> {
  const text = await state.read(file);
  if (text !== null) return text;
  const hint = `\`ralph sprint compile ${posix.dirname(file)}\` writes it`;
  throw new RalphError("state-missing", { details: { path: file }, hint });
}

function iterationItem(progress: SprintProgress, step: SprintStep | null, transcripts: string): Item<SprintItemData> {
  const { completedIterations: completed, idleIterations, currentIteration, idleThreshold, goal } = progress;
  const idle = step === null ? idleIterations + 1 : 0;
  const mode: SprintMode = step !== null ? "executing" : idle >= idleThreshold ? "reflecting" : "planning";
  const iteration = currentIteration + 1;
  const known = {
    kind: mode,
    exclusive: true,
    iteration,
    transcript: transcriptOf(transcripts, iteration),
  } as const;
  const data = { mode, iteration, completed, idle: idleIterations, step };
  if (step === null) return { ...known, id: `${mode}-${completed + 1}`, title: titleOf(goal), preparatory: true, data };
  return {
    ...known,
    id: step.id,
    title: titleOf(step.prompt),
    criteria: [step.prompt],
    changesTests: changesTests([goal]),
    isAdded: true,
    fingerprint: fingerprintOf(step.prompt),
    data,
  };
}

function transcriptOf(transcripts: string, iteration: number): string {
  return `${transcripts}/iteration-${iteration}.jsonl`;
}

function isGivenUp({ id, prompt }: SprintStep, parked: readonly ParkedItem[]): boolean {
  return parked.some((one) => one.id === id) && isParked({ id, fingerprint: fingerprintOf(prompt) }, parked);
}

/** The first line of a text, cut. Pure. */
export function titleOf(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 72 ? `${line.slice(0, 71)}…` : line;
}

/** What `status` says where no iteration begins by itself; `--retry-blocked` is the person's word that it may. */
export const WAITS_FOR_A_PERSON: ReadonlySet<string> = new Set(["needs-human", "paused"]);

function humanReason({ humanNeeded, status }: SprintProgress, { directory, progress }: SprintPaths): string {
  const why = humanNeeded === null ? "" : `: ${humanNeeded}`;
  const what = status === "paused"
    ? `the sprint is paused (\`status: paused\` in ${progress})`
    : `the agent asked for a person${why}`;
  return `${what}; \`ralph sprint run ${directory} --retry-blocked\` continues it`;
}

/** The goal is said to be reached, and a step is left that could not be done. */
function givenUpReason(step: SprintStep, parked: readonly ParkedItem[]): string {
  const reason = parked.find(({ id }) => id === step.id)?.reason.split("\n")[0] ?? "was given up on";
  return `${step.id} (${titleOf(step.prompt)}): ${reason}; \`ralph step done ${step.id}\` if it is not needed`;
}

/** What an agent left in the file may be no sprint any more: then it claims nothing. */
function readable<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (RalphError.isInstance(error)) return null;
    throw error;
  }
}
