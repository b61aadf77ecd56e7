/** What an agent may say of the sprint as JSON in its last message. */
export interface SprintResult {
  readonly status: "continue" | "goal-complete" | "needs-human";
  readonly summary: string | null;
  /** Ids of steps. */
  readonly completed: readonly string[];
  /** Prompts of new steps. */
  readonly added: readonly string[];
  /** Why a person is needed. */
  readonly humanNeeded: string | null;
}

const STATUSES = ["continue", "goal-complete", "needs-human"] as const;
/** Further from the end no last message begins. */
const MAX_CHARACTERS = 128 * 1024;
const MAX_STARTS = 200;

/** The JSON object that the agent's words end with, bare or in a code fence, where it is a result; else `null`. Pure. */
export function parseResult(text: string): SprintResult | null {
  const end = text.slice(-MAX_CHARACTERS).trimEnd().replace(/\n?[ \t]*`{3,}$/, "").trimEnd();
  if (!end.endsWith("}")) return null;
  let starts = 0;
  for (
    let at = end.lastIndexOf("{");
    at >= 0 && starts < MAX_STARTS;
    at = at === 0 ? -1 : end.lastIndexOf("{", at - 1)
  ) {
    if (at > 0 && !/\n[ \t]*$/.test(end.slice(Math.max(0, at - 40), at))) continue;
    starts += 1;
    const value = parsed(end.slice(at));
    const result = value === null ? null : resultOf(value);
    if (result !== null) return result;
  }
  return null;
}

function resultOf(value: Readonly<Record<string, unknown>>): SprintResult | null {
  const status = STATUSES.find((one) => one === value["status"]);
  if (status === undefined) return null;
  const pending = Array.isArray(value["pendingSteps"]) ? value["pendingSteps"] as readonly unknown[] : [];
  const completed = Array.isArray(value["completedStepIds"]) ? value["completedStepIds"] as readonly unknown[] : [];
  return {
    status,
    summary: textOf(value["goalCompleteSummary"]) ?? textOf(value["summary"]),
    completed: completed.filter((id) => typeof id === "string"),
    added: pending.flatMap((step) => {
      const { id, prompt } = Object(step) as { readonly id?: unknown; readonly prompt?: unknown };
      return (id === null || id === undefined) && typeof prompt === "string" && prompt.trim() !== "" ? [prompt] : [];
    }),
    humanNeeded: reasonOf(value["humanNeeded"]),
  };
}

function reasonOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return textOf(value);
  const { reason, details } = value as { readonly reason?: unknown; readonly details?: unknown };
  const parts = [textOf(reason), textOf(details)].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(": ");
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
