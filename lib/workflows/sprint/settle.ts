import type { Document } from "yaml";
import { isOver } from "../../backlog/attempts.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import type { ProgressDocument } from "./document.ts";
import type { SprintFindings, SprintItemData, SprintProgress } from "./types.ts";

interface DynamicSteps {
  readonly "dynamic-steps"?: readonly { readonly id: string; readonly prompt: string }[];
}

/** Changes PROGRESS.yaml; `to` says whether it did anything. */
export type ChangeSprint = (to: (document: ProgressDocument) => boolean) => Promise<void>;

interface ToSettle {
  readonly item: Item<SprintItemData>;
  readonly attempt: Attempt<SprintFindings>;
  readonly change: ChangeSprint;
}

/** Records the end of one planning, executing or reflecting iteration. Settled twice, it leaves the same. */
export async function settleIteration(
  { item, attempt, change, now, load, file }: ToSettle & {
    readonly now: string;
    readonly load: () => Promise<SprintProgress>;
    /** PROGRESS.yaml, relative to the root: Ralph itself changes it in every iteration. */
    readonly file: string;
  },
): Promise<Settlement> {
  const { data } = item;
  switch (attempt.status) {
    case "interrupted":
    case "trespassed":
    case "agent-unusable":
      return { status: "open" };
    case "verified":
    case "unverified": {
      await apply(change, data, attempt.claim?.findings ?? null, {
        now,
        minIterations: (await load()).minIterations,
        done: true,
      });
      const { sprintId, steps } = await load();
      const commit = commitOf(item, sprintId);
      const left = steps.some(({ id, prompt, status }) =>
        id === data.step?.id && prompt === data.step.prompt && status === "pending"
      );
      // a claim that the goal is reached completes no step
      const idle = !steps.some(({ addedIn }) => addedIn === data.iteration) &&
        !(attempt.turn?.changedFiles ?? []).some((path) => path !== file) && (left || data.step === null);
      return left
        ? { status: "open", reason: "the goal was said to be reached", commit, idle }
        : { status: "passed", commit, idle };
    }
    case "not-done": {
      await apply(change, data, attempt.claim?.findings ?? null, {
        now,
        minIterations: (await load()).minIterations,
        done: false,
      });
      if (data.step !== null && isOver(attempt)) return { status: "parked", reason: attempt.message };
      const idle = !(attempt.turn?.changedFiles ?? []).some((path) => path !== file);
      return { status: "open", reason: attempt.message, idle };
    }
    case "blocked": {
      const reason = attempt.claim?.findings?.needsHuman ?? null;
      if (reason === null) await takeBack(change, data, attempt.claim?.findings?.claims ?? [], now);
      if (reason === null && data.step !== null) return { status: "parked", reason: attempt.message };
      if (reason === null) return { status: "stop", as: "blocked", reason: attempt.message };
      await apply(change, data, attempt.claim?.findings ?? null, { now, minIterations: Infinity, done: false });
      return { status: "stop", as: "blocked", reason: `a person is needed: ${reason}` };
    }
    case "failed": {
      await takeBack(change, data, attempt.claim?.findings?.claims ?? [], now);
      if (!isOver(attempt)) return { status: "open", reason: attempt.message };
      return data.step !== null
        ? { status: "parked", reason: attempt.message }
        : { status: "stop", as: "failed", reason: attempt.message };
    }
  }
}

async function apply(
  change: ChangeSprint,
  data: SprintItemData,
  findings: SprintFindings | null,
  { now, minIterations, done }: { readonly now: string; readonly minIterations: number; readonly done: boolean },
): Promise<void> {
  const { changed, claimExit, countIteration, needHuman, refuseExit } = await import("./changes.ts");
  const { isStandard } = await import("./phases.ts");
  const { addMissingSteps, applyStepClaims, completeStep } = await import("./steps.ts");
  const { iteration, step } = data;
  const completed = data.completed + 1;
  const claimed = findings?.completed ?? null;
  const mark = { iteration, now, after: step?.id };
  await change((document: Document) =>
    changed(
      applyStepClaims(document, findings?.claims ?? [], mark),
      addMissingSteps(document, findings?.added ?? [], mark),
      claimed !== null && claimed.id !== "" && completeStep(document, claimed, now) === "completed",
      claimed !== null && claimed.id === "" && completeByPrompt(document, claimed.prompt),
      // where no other was claimed, a turn that ended well with the step done settles the step; so does the goal reached
      done && step !== null && claimed === null && completeStep(document, step, now) === "completed",
      countIteration(document, completed, step === null ? data.idle + 1 : 0),
      claimOf(document),
      (findings?.needsHuman ?? null) !== null && needHuman(document, findings?.needsHuman ?? ""),
    )
  );

  function completeByPrompt(document: Document, prompt: string): boolean {
    const { "dynamic-steps": steps = [] } = document.toJS() as DynamicSteps;
    const id = steps.find((one) => one.prompt === prompt)?.id;
    return id !== undefined && completeStep(document, { id, prompt }, now) === "completed";
  }

  function claimOf(document: Document): boolean {
    const summary = findings?.complete ?? null;
    if (summary === null || isStandard(document)) return false;
    if (completed >= minIterations) return claimExit(document, { iteration, summary, now });
    return refuseExit(document, `it came in iteration ${completed}; at least ${minIterations} are asked for`, now);
  }
}

/** The iteration does not count after all: its commit was refused, or the turn failed. The steps that it added stay. */
async function takeBack(
  change: ChangeSprint,
  { iteration, completed, idle, step }: SprintItemData,
  claims: readonly ClaimLine[],
  now: string,
): Promise<void> {
  const { changed, countIteration, setBackExit } = await import("./changes.ts");
  const { applyStepClaims, reopenStep } = await import("./steps.ts");
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

function commitOf({ data, title }: Item<SprintItemData>, sprintId: string): SettleCommit {
  const { step, iteration } = data;
  const subject = step === null ? `feat: ${sprintId} - iteration ${iteration}` : `feat: ${step.id} - ${title}`;
  return { subject, body: `ralph: sprint ${sprintId}, iteration ${iteration}`, paths: [], work: true };
}
