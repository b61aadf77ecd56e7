import { note, type RalphContext } from "../../../context/context.ts";
import { CODEBASE_MAP_FILE, PLAN_STATE_FILE, type Prd, PRD_FILE, PROGRESS_FILE } from "../types.ts";
import { join } from "node:path";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { uncheckedLine } from "../../../checks/unchecked_items.ts";
import { localDate } from "../../../host/local_date.ts";
import { MOST_REOPENINGS } from "../../../loop/policy/progress.ts";
import type { Consent } from "../../../recipe/gate.ts";
import { understandTriggers } from "../understand/gate.ts";
import { formatPrd, prdSummaryLines } from "../format.ts";
import { requireRepository } from "../../../git/repository.ts";
import { enterBranch } from "../../../loop/run/branch.ts";
import { writeAtomic } from "../../../host/files.ts";
import { askPending, type Refusal, saveAnswer, takeReply } from "./questions.ts";
import { commitPlan, PLAN_STATE_FILES, type PlanSession, summaryBody } from "./state.ts";
import type { Recommendation, Uncertainty } from "../../../generated/plan.ts";
import { goalMissing, preflight } from "./preflight.ts";
import { planTurn, readPrd, withOwnFields } from "./turn.ts";
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

const CHANGE_QUESTION = "What should change?";

/** The decisions that a person made with the plan's key; absent: the gate asks for its own. */
export interface PlanConsents {
  readonly understand?: Consent;
  readonly run?: Consent;
}

/**
 * Shows the draft and asks what is to become of it: written, written and run, changed, or none of it now. A change goes
 * back to collecting; what it is is asked first.
 *
 * @param asked when understanding is asked for, where the run follows; `null`: only the plan is asked about
 */
export async function reviewDraft(
  session: PlanSession,
  asked: "auto" | "always" | "never" | null,
): Promise<PlanConsents | "change" | "declined"> {
  const { ralph } = session;
  // lines of a pipe were written before anyone read what a yes means: each consent has its own
  const andRun = ralph.host.terminal.interactive ? asked : null;
  const existing = await readPrd(ralph);
  const prd = withOwnFields(session.state.lastPrdDraft!, session.state.existing === "update" ? existing : null);
  let consents: PlanConsents = {};
  if (session.state.approvedPrdAt === null) {
    const lines = [
      ...await baseLines(ralph, prd),
      ...prdSummaryLines(prd, ralph.config.verify.default),
      ...leftOutLines(existing, prd, session.state.existing),
      ...andRun === null ? [] : runLines(ralph, prd),
    ];
    await session.save({ lastPrdDraft: prd }, [{ heading: "PRD summary", body: summaryBody(lines) }]);
    ralph.events.emit({ type: "text", title: "PRD", lines });
    const offersMap = andRun !== null && await recommendsMap(session, andRun);
    const message = `Write this PRD to \`${PRD_FILE}\`?`;
    const choices = [
      { value: "yes", label: andRun === null ? "write it" : "write it and start the run" },
      ...offersMap ? [{ value: "understand", label: "explore the code before the run" }] : [],
      ...andRun === null ? [] : [{ value: "write", label: "write it only" }],
      { value: "change", label: "change it" },
      { value: "no", label: "not now" },
    ];
    const { value, source } = await ralph.prompter.ask({
      id: "plan.write-prd",
      kind: "select",
      keys: true,
      message,
      initial: "no",
      choices,
      gate: "prd",
    });
    const isWritten = value !== "no" && value !== "change";
    const decision = {
      heading: isWritten ? "PRD approved" : "PRD not approved",
      body: [`${message} ${value} (${source})`],
    };
    if (value === "no") await session.save({}, [decision]);
    if (value === "no") return "declined";
    if (value === "change") await session.save({ state: "collect_context", changing: true }, [decision]);
    if (value === "change") return "change";
    await session.save({ approvedPrdAt: session.now() }, [decision]);
    if (andRun !== null && source !== "approve" && source !== "answers") {
      consents = {
        run: { yes: value !== "write", source },
        ...offersMap || value === "write" ? { understand: { yes: value === "understand", source } } : {},
      };
    }
  }
  await writePrd(session, existing, prd);
  return consents;
}

/** A run of this plan may take as many turns; a story that nothing checks is named before it is agreed to. */
function runLines({ config }: RalphContext, { userStories }: Prd): readonly string[] {
  const open = userStories.filter(({ passes }) => !passes);
  const unchecked = open.filter((story) => storyCommands(story).length === 0).map(({ id }) => id);
  const isBlocked = unchecked.length > 0 && config.verify.default.length === 0 && !config.verify.allowUnverified;
  return [
    `A run takes ${open.length} to ${open.length * (config.maxRetries + MOST_REOPENINGS)} agent turns`,
    ...isBlocked ? [uncheckedLine(unchecked)] : [],
  ];
}

/** Something speaks for understanding the code first, and no consent was given for it beforehand. */
async function recommendsMap({ ralph, state }: PlanSession, mode: "auto" | "always" | "never"): Promise<boolean> {
  if (mode === "never" || ralph.approvals.has("understand") || ralph.approvals.has("all")) return false;
  if (mode === "always") return true;
  const map = await ralph.state.read(CODEBASE_MAP_FILE);
  return understandTriggers({ ...state, map, today: localDate(ralph.host.clock.now()) }).reasons.length > 0;
}

/** Asks what to change after a no. Nothing to change means that the person is done for now: the draft stays. */
export async function askForChange(session: PlanSession): Promise<"changes" | "declined"> {
  const askedAt = session.now();
  const answer = await session.ralph.prompter.ask({
    id: "plan.change",
    kind: "text",
    message: CHANGE_QUESTION,
    placeholder: "nothing: stop here",
  });
  if (answer.value.trim() === "") {
    await session.save({ state: "review_prd", changing: false });
    return "declined";
  }
  const said = { question: CHANGE_QUESTION, askedAt, ...answer };
  await saveAnswer(session, said, { changing: false, rounds: 0, attempts: 0 });
  return "changes";
}

/** Safe to be done again after a kill: the decision is saved already. */
async function writePrd(session: PlanSession, existing: Prd | null, prd: Prd): Promise<void> {
  const { folder, ralph } = session;
  const text = formatPrd(prd);
  // the plan is committed where the work will be, so that the branch that the person is on stays as it is
  const branch = ralph.loop.branch ?? prd.branchName;
  if (branch !== "" && ralph.config.commits.prdChanges) await enterBranch(ralph, branch);
  if (session.state.existing === "overwrite" && existing !== null && formatPrd(existing) !== text) {
    await writeAtomic(join(folder, "prd.json.before"), formatPrd(existing));
  }
  await ralph.state.update(PRD_FILE, () => text);
  await session.save({ state: "done" });
}

/** Says where the work branch will begin, so that no one has to guess. */
async function baseLines(ralph: RalphContext, { branchName }: Prd): Promise<readonly string[]> {
  const current = await requireRepository(ralph).currentBranch();
  const wanted = ralph.loop.branch ?? branchName;
  return current === null || wanted === "" || current === wanted ? [] : [`Starts from: ${current}`];
}

/** A person should see what an approval takes away. */
function leftOutLines(existing: Prd | null, prd: Prd, mode: "update" | "overwrite" | null): readonly string[] {
  const gone = (existing?.userStories ?? []).filter((story) => !prd.userStories.some((other) => other.id === story.id));
  if (gone.length === 0) return [];
  const ids = gone.map(({ id, passes }) => passes ? `${id} (passes)` : id).join(", ");
  return [`${mode === "overwrite" ? "Overwrites" : "Leaves out"}: ${ids}`];
}
