import { note, type RalphContext } from "../../../context/context.ts";
import { PLAN_STATE_FILE, type Prd, PRD_FILE, PROGRESS_FILE } from "../types.ts";
import { askPending, type Refusal, takeReply } from "./questions.ts";
import { commitPlan, PLAN_STATE_FILES, type PlanSession, type Recommendation, type Uncertainty } from "./state.ts";
import { goalMissing, preflight } from "./preflight.ts";
import { planTurn, readPrd } from "./turn.ts";
import { askForChange, type PlanConsents, reviewDraft } from "./review.ts";
import { askingEnds, planning } from "../../planner_turn.ts";
import { trespassText } from "../../../ui/text.ts";

/** Planning and the gates after it write these files. */
const OWN_FILES: readonly string[] = [...PLAN_STATE_FILES, PROGRESS_FILE];

/** The goal to plan, and how. */
export interface PlanOptions {
  /** The goal, in a person's words. May be left out to resume. */
  readonly goal?: string;
  /** Continue with whatever was begun; without anything begun, start with the goal. @default false */
  readonly resume?: boolean;
  /** The branch that a new goal starts from. @default the one that is checked out; asked where it is another goal's */
  readonly base?: string;
  /**
   * The run follows at once: a person at the terminal decides about it, and about understanding the code first where
   * that is recommended, with the same key. The value is when understanding is asked for. @default only the plan is asked
   */
  readonly andRun?: "auto" | "always" | "never";
  /** How often an answer that cannot be used is asked for again. @default 3 */
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
}

/** How planning ended. */
export type PlanOutcome =
  | {
    readonly status: "approved";
    readonly prd: Prd;
    /** Path of the PRD, relative to the root. */
    readonly file: string;
    readonly uncertainties: readonly Uncertainty[];
    readonly recommendUnderstand: Recommendation;
    /** There was no codebase map when planning began. */
    readonly mapWasMissing: boolean;
    /** The decisions of a person who was asked for them with the plan. */
    readonly consents?: PlanConsents;
  }
  /** A person said no; what was worked out is kept. */
  | { readonly status: "declined"; readonly next: readonly string[] }
  /** No one could be asked. */
  | { readonly status: "blocked"; readonly reasons: readonly string[] }
  | {
    readonly status: "failed";
    readonly reason: Refusal["reason"] | "trespassed" | "agent-failed" | "agent-unusable";
    readonly messages: readonly string[];
  }
  | { readonly status: "aborted" };

/**
 * Talks a goal through until a person approves a PRD. Every answer is kept in `plan_state.json` before the next
 * question, so that the same call continues exactly where it was stopped.
 *
 * @throws {RalphError} option-invalid, agent-missing, agent-not-found, not-a-repository, git-identity-missing,
 * git-operation-in-progress, run-locked, state-invalid
 * @example Plan with answers given beforehand
 * ```ts
 * import { plan } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * const story = { id: "US-001", title: "Add a.txt", acceptanceCriteria: ["Verify: `test -f a.txt`"], priority: 1, passes: false, notes: "" };
 * const prdDraft = { branchName: "ralph/a", userStories: [story] };
 * const envelope = { questions: [], uncertainties: [], prdDraft, recommendUnderstand: { shouldRun: false, reasons: [] } };
 * await using ralph = await testContext({ agent: { turns: [{ say: JSON.stringify(envelope) }] }, approve: ["prd"] });
 * const planned = await plan(ralph, { goal: "add a.txt" });
 * console.log(planned.status); // approved
 * ```
 */
export async function plan(ralph: RalphContext, options: PlanOptions): Promise<PlanOutcome> {
  const goal = options.goal?.trim() ?? "";
  if (goal === "" && options.resume !== true) throw goalMissing(options.goal);
  const signal = options.signal === undefined ? ralph.signal : AbortSignal.any([ralph.signal, options.signal]);
  const outcome = await planning(ralph, "plan", async () => {
    ralph.events.emit({ type: "step-start", step: "plan", title: goal === "" ? "what was begun" : goal });
    const ended = await askingEnds<PlanOutcome>(async () => {
      const session = await preflight(ralph, goal === "" ? null : goal, options.base);
      return await triedFirst(session, signal) ?? await drive(session, options, signal);
    });
    ralph.events.emit({ type: "step-end", step: "plan", status: ended.status });
    return ended;
  });
  if (outcome.status === "aborted" && await ralph.state.read(PLAN_STATE_FILE) !== null) {
    note(ralph, "info", "the plan so far is kept, answers included");
  }
  if (outcome.status === "declined") ralph.events.emit({ type: "text", title: "Next", lines: outcome.next });
  return outcome;
}

/** The checks that every story must pass, before the planner's first turn is paid for. @returns why there is none */
async function triedFirst(session: PlanSession, signal: AbortSignal): Promise<PlanOutcome | null> {
  const { state, turns } = session.state;
  if (turns > 0 || state === "done" || state === "review_prd") return null;
  const { baselineOf } = await import("../../../loop/run/baseline.ts");
  const found = await baselineOf(session.ralph, [], { logs: `${session.folder}/baseline`, signal, state: OWN_FILES });
  return found.status === "known" ? null : found;
}

/** One state after the other, until a person has decided or nothing more can be done. */
async function drive(
  session: PlanSession,
  { maxRetries = 3, andRun }: PlanOptions,
  signal: AbortSignal,
): Promise<PlanOutcome> {
  const declined = { status: "declined", next: [session.ralph.again("ralph plan --resume")] } as const;
  let consents: PlanConsents | undefined;
  for (;;) {
    if (signal.aborted) return { status: "aborted" };
    switch (session.state.state) {
      case "preflight":
      case "collect_context":
      case "draft_prd": {
        if (session.state.changing && await askForChange(session) === "declined") return declined;
        await askPending(session);
        const ending = await nextReply(session, maxRetries, signal);
        if (ending !== null) return ending;
        break;
      }
      case "review_prd": {
        const reviewed = await reviewDraft(session, andRun ?? null);
        if (reviewed === "declined") return declined;
        if (reviewed !== "change") consents = reviewed;
        break;
      }
      case "done":
        await commitPlan(session.ralph);
        return { ...await approved(session), ...(consents === undefined ? {} : { consents }) };
    }
  }
}

async function nextReply(session: PlanSession, maxRetries: number, signal: AbortSignal): Promise<PlanOutcome | null> {
  const turn = await planTurn(session, signal);
  switch (turn.status) {
    case "aborted":
      return { status: "aborted" };
    case "trespassed": {
      await session.save({}, [{
        heading: "Changed outside scripts/ralph/, by the planner or by a person",
        body: turn.paths.map((path) => `- ${path}`),
      }]);
      const messages = [trespassText({ type: "trespass", by: "planner", ...turn }), turn.diff];
      return { status: "failed", reason: "trespassed", messages };
    }
    case "failed":
      if (turn.reason === "agent-unusable") return { status: "failed", reason: turn.reason, messages: [turn.message] };
      await session.save({ attempts: session.state.attempts + 1 }, [{ heading: "Agent failed", body: [turn.message] }]);
      return await retryOrEnd(session, maxRetries, "agent-failed", [turn.message]);
    case "answered": {
      const refusal = await takeReply(session, turn.text);
      return refusal === null ? null : await retryOrEnd(session, maxRetries, refusal.reason, refusal.errors);
    }
  }
}

async function retryOrEnd(
  session: PlanSession,
  maxRetries: number,
  reason: Refusal["reason"] | "agent-failed",
  messages: readonly string[],
): Promise<PlanOutcome | null> {
  const { attempts } = session.state;
  const what = {
    "invalid-envelope": "the answer cannot be used",
    "invalid-prd": "the draft is not valid",
    "agent-failed": "the agent failed",
  }[reason];
  const again = attempts <= maxRetries;
  const title = `${what}${again ? `: asking again (${attempts} of ${maxRetries})` : ""}`;
  session.ralph.events.emit({ type: "text", title, lines: messages });
  if (again) return null;
  await session.save({ attempts: 0 });
  return { status: "failed", reason, messages };
}

async function approved(session: PlanSession): Promise<PlanOutcome & { readonly status: "approved" }> {
  const { lastPrdDraft, uncertainties, recommendUnderstand, mapWasMissing } = session.state;
  const prd = await readPrd(session.ralph) ?? lastPrdDraft!;
  return { status: "approved", prd, file: PRD_FILE, uncertainties, recommendUnderstand, mapWasMissing };
}
