import type { Turn } from "../../backlog/types.ts";
import { parseResult } from "./result.ts";
import type { SprintFindings, SprintProgress, SprintStep } from "./types.ts";

const COMPLETE_REGEXP = /^RALPH_COMPLETE:\s*(.*)$/;
/** The prompt's own words, `RALPH_COMPLETE: [summary]`, claim nothing. */
const PLACEHOLDER_REGEXP = /^[[<{(][^\])}>]*[\])}>]$/;

/** What a turn was given and what PROGRESS.yaml says after it. */
export interface ClaimSources {
  readonly turn: Pick<Turn, "lines" | "text">;
  /** As Ralph last wrote it. */
  readonly written: SprintProgress;
  /** As the agent left it; `null` when it cannot be read. */
  readonly found: SprintProgress | null;
  readonly step: SprintStep | null;
}

/** What the agent's words and manual edits claim. At most one step is completed by a claim. Pure. */
export function findingsOf({ turn, written, found, step }: ClaimSources): SprintFindings {
  const result = parseResult(turn.text);
  const edited = found ?? written;
  const added = [...newPrompts(edited.steps, written.steps), ...result?.added ?? []];
  const claimed = [
    ...completedByHand(edited.steps, written.steps),
    ...namedSteps(result?.completed ?? [], written.steps),
  ];
  const own = claimed.find(({ id, prompt }) => id === step?.id && prompt === step.prompt) ?? claimed[0];
  const asked = edited.status === "needs-human" && written.status !== "needs-human";
  return {
    added,
    completed: own === undefined ? null : { id: own.id, prompt: own.prompt },
    complete: result?.status === "goal-complete" ? result.summary ?? "" : completeLine(turn.lines),
    needsHuman: result?.status === "needs-human"
      ? result.humanNeeded ?? result.summary ?? "it did not say why"
      : asked
      ? edited.humanNeeded ?? "it set `status: needs-human`"
      : null,
  };
}

function completeLine(lines: readonly string[]): string | null {
  return lines.map((line) => COMPLETE_REGEXP.exec(line)?.[1]?.trim())
    .findLast((summary) => summary !== undefined && !PLACEHOLDER_REGEXP.test(summary)) ?? null;
}

/** Prompts that stand in the file once more often than Ralph wrote them. */
function newPrompts(steps: readonly SprintStep[], written: readonly SprintStep[]): readonly string[] {
  const known = written.map(({ prompt }) => prompt);
  return steps.map(({ prompt }) => prompt).filter((prompt) => {
    const at = known.indexOf(prompt);
    if (at !== -1) known.splice(at, 1);
    return at === -1 && prompt.trim() !== "";
  });
}

function completedByHand(steps: readonly SprintStep[], written: readonly SprintStep[]): readonly SprintStep[] {
  const stillPending = written.filter(({ status }) => status === "pending");
  return steps.flatMap(({ id, prompt, status }) => {
    if (status !== "completed") return [];
    const before = stillPending.find((one) => one.id === id && one.prompt === prompt) ??
      stillPending.find((one) => one.prompt === prompt);
    return before !== undefined
      ? [before]
      : written.some((one) => one.prompt === prompt)
      ? []
      : [{ id: "", prompt, status, addedIn: null }];
  });
}

function namedSteps(ids: readonly string[], written: readonly SprintStep[]): readonly SprintStep[] {
  return ids.flatMap((id) => written.find((step) => step.id === id && step.status === "pending") ?? []);
}
