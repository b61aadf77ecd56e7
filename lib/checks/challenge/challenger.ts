import { join } from "node:path";
import { agentTurn, type ObservedTurn } from "../../agents/agent_turn.ts";
import type { CheckOutcome, CheckResult, CommandCheck, Item, TimeBudget, Turn } from "../../backlog/types.ts";
import type { Agent, RalphContext } from "../../context/context.ts";
import type { EventBus } from "../../events/types.ts";
import type { TreeSnapshot } from "../../git/repository.ts";
import { createGit, outputOfGit } from "../../git/run_git.ts";
import { markingEnvironment } from "../../git/turn_mark.ts";
import { removeOwn } from "../../host/files.ts";
import { type PromptValuesOf, renderPrompt } from "../../prompts/render.ts";
import { restoreBrief } from "../brief/create_brief.ts";
import type { Brief } from "../brief/types.ts";
import type { Checkout, CheckoutPlace } from "../checkout/types.ts";
import { whyNotReady } from "../checkout/open_checkout.ts";
import { reviewerOf } from "../reviewed_by.ts";

/** One challenge of the checks of an item. */
export interface Challenge {
  readonly ralph: RalphContext;
  readonly item: Item;
  readonly brief: Brief;
  readonly checkout: Checkout;
  /** Commit before the first attempt at the item. */
  readonly base: string;
  /** The work, as it would be committed. */
  readonly work: string;
  /** The item's commands. */
  readonly checks: readonly CommandCheck[];
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** The attempt, in the names of files. */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly budget: TimeBudget | null;
  /** Runs a turn, and makes of the project's own tree what it was before it. */
  readonly guarded: (name: string, turn: (before: TreeSnapshot) => Promise<ObservedTurn>) => Promise<GuardedChallenger>;
}

/** A challenger's turn, and what became of the project's own tree. */
export interface GuardedChallenger {
  readonly turn: Turn;
  /** It rewrote history, which is as it was before. */
  readonly rewritten: boolean;
  /** Relative to the root: what it changed, and could not be restored. */
  readonly left: readonly string[];
}

/** The outcome of a challenger's turn. `ok` is false where the attempt cannot be settled after it. */
export interface ChallengerTurn {
  readonly turn: Turn;
  readonly result: CheckResult;
  /** Why the turn brought nothing; `null` where it ended in order. */
  readonly nothing: string | null;
}

/** The agent of `verify.challenger`, else the run's own. @throws {RalphError} agent-unknown, option-invalid */
export function challengerOf(ralph: RalphContext): Agent {
  const { challenger } = ralph.config.verify;
  return challenger === undefined ? ralph.agent : reviewerOf(ralph, challenger);
}

/** Brings the checkout up to a commit. @returns the place, or why it could not be made */
export async function broughtUp({ checkout }: Challenge, commit: string): Promise<CheckoutPlace | string> {
  const up = await checkout.bringUp(commit);
  return up.status === "ready" ? up.place : whyNotReady(up);
}

/** The folder for a challenger's turn: the item's base, with a history that says nothing of the work. */
export async function challengerFolder(
  { ralph: { host }, checkout }: Challenge,
  place: CheckoutPlace,
): Promise<string> {
  const folder = await place.directory();
  await removeOwn(join(checkout.tree, ".git"), checkout.tree);
  await outputOfGit(createGit(host, checkout.tree), ["init", "--quiet", "--template="]);
  return folder;
}

/** One turn of the challenger in a folder. The project's tree is as before it, and what it changed there is named. */
export async function challengerTurn(
  challenge: Challenge,
  { prompt, cwd, name, folder, events }: {
    readonly prompt: PromptValuesOf<"challenge">;
    readonly cwd: string;
    readonly name: string;
    /** For the transcript. */
    readonly folder: string;
    readonly events: EventBus;
  },
): Promise<ChallengerTurn> {
  const { ralph, brief, signal, budget } = challenge;
  const agent = challengerOf(ralph);
  const { fallback = null, router = null } = agent === ralph.agent ? ralph : {};
  const text = await renderPrompt("challenge", prompt, { root: ralph.root });
  const environment = { RALPH_ROOT: cwd, ...markingEnvironment(ralph.host.environment.variables) };
  const { turn, rewritten, left } = await challenge.guarded(
    name,
    (before) =>
      agentTurn({ ...ralph, agent, fallback, router, events }, {
        stage: "review",
        prompt: text,
        name,
        folder,
        cwd,
        signal,
        budget,
        before,
        environment,
      }),
  );
  const restored = (await restoreBrief(brief)).map(({ path }) => path);
  const changed = turn.changedFiles.filter((path) => !restored.includes(path));
  const outcome = outcomeOf(
    turn,
    rewritten ? ["its history", ...changed] : changed,
    left.filter((path) => !restored.includes(path)),
  );
  return {
    turn,
    result: {
      ...outcome,
      name: `challenge by ${agent.name}`,
      scope: "",
      durationMs: turn.durationMs,
      usage: turn.usage,
    },
    nothing: turn.end.reason === "completed" ? null : outcome.tail,
  };
}

function outcomeOf({ end }: Turn, changed: readonly string[], left: readonly string[]): CheckOutcome {
  const message = "message" in end ? end.message : end.reason;
  if (end.reason === "agent-unusable" || end.reason === "rate-limited") {
    return { ok: false, exitCode: null, tail: message, halts: end.reason };
  }
  if (changed.length > 0) {
    const now = left.length === 0 ? "all as it was before" : `as it was before, but for ${left.join(", ")}`;
    const tail = `the challenger changed the working tree, which it must not: ${changed.join(", ")} (now ${now})`;
    return { ok: false, exitCode: null, tail };
  }
  return { ok: true, exitCode: null, tail: message };
}
