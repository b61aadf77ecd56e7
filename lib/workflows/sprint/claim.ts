import { isPlain, plain, plains, textOf, textsOf, tryJson } from "../plain.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import { isPlaceholder, signalsOf } from "../../backlog/signals.ts";
import type { Turn } from "../../backlog/types.ts";
import type { SprintFindings, SprintProgress, SprintStep } from "./types.ts";

const STATUSES = ["continue", "goal-complete", "needs-human"] as const;

/** Further from the end no last message begins. */
const MAX_CHARACTERS = 128 * 1024;

const MAX_STARTS = 200;

/** A sprint's turn may ask for these. */
const STEP_COMMANDS: readonly string[] = ["step add", "step done"];

/** A turn, its step, its claims, and PROGRESS.yaml before and after it. */
export interface ClaimSources {
  readonly turn: Pick<Turn, "lines" | "text">;
  /** As Ralph last wrote it. */
  readonly written: SprintProgress;
  /** As the agent left it; `null` when it cannot be read. */
  readonly found: SprintProgress | null;
  readonly step: SprintStep | null;
  /** The turn's claims by `ralph step`: both files are seen with them. */
  readonly claims: readonly ClaimLine[];
  readonly nonce: string;
}

/** Reads the claims from the agent's words and manual edits. At most one step is completed by a claim. Pure. */
export function findingsOf({ turn, written, found, step, claims, nonce }: ClaimSources): SprintFindings {
  const result = parseResult(turn.text);
  const edited = found ?? written;
  const added = [...newPrompts(edited.steps, written.steps), ...result?.added ?? []];
  const claimed = [
    ...completedByHand(edited.steps, written.steps),
    // workflows tell a phase that finds faults to mark itself as failed and to add what repairs them
    ...(step === null || added.length === 0
      ? []
      : edited.steps.filter(({ id, status }) => id === step.id && status === "failed")),
    ...(result?.completed ?? []).flatMap((id) =>
      written.steps.find((step) => step.id === id && step.status === "pending") ?? []
    ),
  ];
  const own = claimed.find(({ id, prompt }) => id === step?.id && prompt === step.prompt) ?? claimed[0];
  const asks = edited.status === "needs-human" && written.status !== "needs-human";
  const inFile = asks ? edited.humanNeeded ?? "it set `status: needs-human`" : null;
  return {
    added,
    completed: own === undefined ? null : { id: own.id, prompt: own.prompt },
    complete: result?.status === "goal-complete" ? result.summary ?? "" : completeLine(turn.lines, nonce),
    claims: claims.filter(({ command }) => STEP_COMMANDS.includes(command)),
    needsHuman: result?.status === "needs-human"
      ? result.humanNeeded ?? result.summary ?? "it did not say why"
      : inFile,
  };
}

/**
 * The prompt's own words, `RALPH_COMPLETE: [summary]`, claim nothing. Agents that know other loops say it in a tag, as
 * `<promise>COMPLETE</promise>`: it is the same claim, and the checks decide.
 */
function completeLine(lines: readonly string[], nonce: string): string | null {
  return signalsOf(lines, nonce).filter(({ form, name, counts }) =>
    counts && (name === "RALPH_COMPLETE" || (form !== "line" && name === "COMPLETE"))
  ).map(({ value }) => value).findLast((summary) => !isPlaceholder(summary)) ?? null;
}

/** Prompts that the file holds once more often than Ralph wrote them. */
function newPrompts(steps: readonly SprintStep[], written: readonly SprintStep[]): readonly string[] {
  const left = new Map<string, number>();
  for (const { prompt } of written) left.set(prompt, (left.get(prompt) ?? 0) + 1);
  return steps.map(({ prompt }) => prompt).filter((prompt) => {
    const count = left.get(prompt) ?? 0;
    if (count > 0) left.set(prompt, count - 1);
    return count === 0 && prompt.trim() !== "";
  });
}

function completedByHand(steps: readonly SprintStep[], written: readonly SprintStep[]): readonly SprintStep[] {
  const stillPending = written.filter(({ status }) => status === "pending");
  const prompts = new Set(written.map(({ prompt }) => prompt));
  return steps.flatMap(({ id, prompt, status }) => {
    if (status !== "completed") return [];
    const before = stillPending.find((one) => one.id === id && one.prompt === prompt) ??
      stillPending.find((one) => one.prompt === prompt);
    if (before !== undefined) return [before];
    return prompts.has(prompt) ? [] : [{ id: "", prompt, status, addedIn: null }];
  });
}

/** An agent may say this of the sprint as JSON in its last message. */
interface SprintResult {
  readonly status: typeof STATUSES[number];
  readonly summary: string | null;
  /** Ids of steps. */
  readonly completed: readonly string[];
  /** Prompts of new steps. */
  readonly added: readonly string[];
  /** Why a person is needed. */
  readonly humanNeeded: string | null;
}

/** The JSON object that the agent's words end with, bare or in a code fence, where it is a result; else `null`. Pure. */
export function parseResult(text: string): SprintResult | null {
  const end = text.slice(-MAX_CHARACTERS).trimEnd().replace(/\n?[ \t]*`{3,}$/, "").trimEnd();
  if (!end.endsWith("}")) return null;
  let starts = 0;
  for (let at = end.lastIndexOf("{"); at >= 0 && starts < MAX_STARTS; at = end.slice(0, at).lastIndexOf("{")) {
    if (at > 0 && !/\n[ \t]*$/.test(end.slice(Math.max(0, at - 40), at))) continue;
    starts += 1;
    const result = resultOf(end.slice(at));
    if (result !== null) return result;
  }
  return null;
}

function resultOf(text: string): SprintResult | null {
  const value = plain(tryJson(text));
  const status = STATUSES.find((one) => one === value["status"]);
  if (status === undefined) return null;
  const asked = value["humanNeeded"];
  const parts = isPlain(asked) ? [asked["reason"], asked["details"]] : [asked];
  const reasons = parts.map(textOf).filter((part) => part !== null);
  return {
    status,
    summary: textOf(value["goalCompleteSummary"]) ?? textOf(value["summary"]),
    completed: textsOf(value["completedStepIds"]),
    added: plains(value["pendingSteps"]).filter(({ id }) => id === null || id === undefined).flatMap(({ prompt }) =>
      textOf(prompt) ?? []
    ),
    humanNeeded: reasons.length === 0 ? null : reasons.join(": "),
  };
}
