import { interruptedAttempt } from "../../backlog/attempts.ts";
import type { Attempt } from "../../backlog/types.ts";
import type { Captured } from "../../git/fold.ts";
import type { WorkedItem } from "../attempt/attempt_parts.ts";
import type { Note } from "./worker_tree.ts";

/** An attempt whose result cannot be read: no one knows what it did. */
export function unusable<Findings>(attempt: Pick<Attempt, "id" | "number">, problem: string): Attempt<Findings> {
  const message = `the result of attempt ${attempt.id} is not used: ${problem}`;
  return { ...interruptedAttempt(attempt), status: "blocked", message };
}

/** An attempt that was made, and what came of it. */
export interface Made<Findings> {
  readonly worked: WorkedItem<Findings>;
  readonly work: Captured | null;
  readonly notes: readonly Note[];
}
