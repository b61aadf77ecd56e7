import type { Document } from "yaml";
import { isOver } from "../../backlog/attempts.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, Item, Settlement } from "../../backlog/types.ts";
import type { ProgressDocument } from "./document.ts";
import type { SprintFindings, SprintItemData, SprintProgress } from "./types.ts";

/** Changes PROGRESS.yaml; `to` says whether it did anything. */
export type ChangeSprint = (to: (document: ProgressDocument) => boolean) => Promise<void>;

interface ToSettle {
  readonly item: Item<SprintItemData>;
  readonly attempt: Attempt<SprintFindings>;
  readonly change: ChangeSprint;
  readonly now: string;
  readonly load: () => Promise<SprintProgress>;
  /** PROGRESS.yaml, relative to the root: Ralph itself changes it in every iteration. */
  readonly file: string;
}

/** Records the end of one planning, executing or reflecting iteration. Settled twice, it leaves the same. */
export async function settleIteration(given: ToSettle): Promise<Settlement> {
  const { item: { data, title }, attempt, load, file } = given;
  const { step, iteration } = data;
  const hasChanged = (attempt.turn?.changedFiles ?? []).some((path) => path !== file);
  switch (attempt.status) {
    case "verified":
    case "unverified": {
      await apply(given, { minIterations: (await load()).minIterations, done: true });
      const { sprintId, steps } = await load();
      const left = steps.some(({ id, prompt, status }) =>
        id === step?.id && prompt === step.prompt && status === "pending"
      );
      // a claim that the goal is reached completes no step
      const idle = !steps.some(({ addedIn }) => addedIn === iteration) && !hasChanged && (left || step === null);
      const subject = step === null ? `feat: ${sprintId} - iteration ${iteration}` : `feat: ${step.id} - ${title}`;
      const body = `ralph: sprint ${sprintId}, iteration ${iteration}`;
      const commit = { subject, body, paths: [], work: true };
      return left
        ? { status: "open", reason: "the goal was said to be reached", commit, idle }
        : { status: "passed", commit, idle };
    }
    case "not-done":
      await apply(given, { minIterations: (await load()).minIterations, done: false });
      if (step !== null && isOver(attempt)) return { status: "parked", reason: attempt.message };
      return { status: "open", reason: attempt.message, idle: !hasChanged };
    case "blocked":
    case "failed": {
      const asked = attempt.status === "blocked" ? attempt.claim?.findings?.needsHuman ?? null : null;
      if (asked !== null) {
        await apply(given, { minIterations: Infinity, done: false });
        return { status: "stop", as: "blocked", reason: `a person is needed: ${asked}` };
      }
      await takeBack(given, attempt.claim?.findings?.claims ?? []);
      if (attempt.status === "failed" && !isOver(attempt)) return { status: "open", reason: attempt.message };
      if (step !== null) return { status: "parked", reason: attempt.message };
      return { status: "stop", as: attempt.status, reason: attempt.message };
    }
    default:
      return { status: "open" };
  }
}

async function apply(
  { item: { data }, attempt, change, now }: ToSettle,
  { minIterations, done }: { readonly minIterations: number; readonly done: boolean },
): Promise<void> {
  const { changed, claimExit, countIteration, needHuman, refuseExit } = await import("./changes.ts");
  const { isStandard } = await import("./phases.ts");
  const { addMissingSteps, applyStepClaims, completeStep } = await import("./steps.ts");
  const { iteration, step } = data;
  const { claims = [], added = [], completed: claimed = null, complete = null, needsHuman = null } =
    attempt.claim?.findings ?? {};
  const completed = data.completed + 1;
  const mark = { iteration, now, after: step?.id };
  // where no other was claimed, a turn that ended well with the step done settles the step; so does the goal reached
  const ended = claimed ?? (done ? step : null);
  await change((document: Document) =>
    changed(
      applyStepClaims(document, claims, mark),
      addMissingSteps(document, added, mark),
      ended !== null && completeStep(document, ended, now) === "completed",
      countIteration(document, completed, step === null ? data.idle + 1 : 0),
      complete !== null && !isStandard(document) && claimGoal(document, complete),
      needsHuman !== null && needHuman(document, needsHuman),
    )
  );

  function claimGoal(document: Document, summary: string): boolean {
    if (completed >= minIterations) return claimExit(document, { iteration, summary, now });
    return refuseExit(document, `it came in iteration ${completed}; at least ${minIterations} are asked for`, now);
  }
}

/** The iteration does not count after all: its commit was refused, or the turn failed. The steps that it added stay. */
async function takeBack({ item: { data }, change, now }: ToSettle, claims: readonly ClaimLine[]): Promise<void> {
  const { changed, countIteration, setBackExit } = await import("./changes.ts");
  const { applyStepClaims, reopenStep } = await import("./steps.ts");
  const { iteration, completed, idle, step } = data;
  const added = claims.filter(({ command }) => command === "step add");
  await change((document: Document) =>
    changed(
      applyStepClaims(document, added, { iteration, now, after: step?.id }),
      countIteration(document, completed, idle),
      step !== null && reopenStep(document, step, now),
      setBackExit(document, iteration),
    )
  );
}
