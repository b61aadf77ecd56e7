import type { FailureKind } from "../../events/agent_events.ts";
import { failureKind } from "../failures.ts";
import { at, numberAt, textAt } from "../json.ts";
import type { RequestError } from "./models.ts";

/** What a failed request means. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  /** Milliseconds that the server asks to wait; `null`: it does not say. */
  readonly waitMs: number | null;
}

/** Sorts a failed request into the kinds that decide what follows. Pure. @param now milliseconds since 1970 */
export function failureOf(error: RequestError, now: number): Failure {
  const { status, message, body } = error;
  const inner = at(body, "error") ?? body;
  const code = textAt(inner, "code") ?? textAt(inner, "type") ?? textAt(inner, "status");
  const said = textAt(inner, "message") ?? message;
  const words = [status === null || status < 300 ? null : `HTTP ${status}`, code, said].filter((part) => part !== null)
    .join(": ");
  const kind = kindOf(words, status, code);
  return {
    kind,
    message: words,
    waitMs: kind === "rate-limit" || kind === "server" ? waitOf(error, inner, now) : null,
  };
}

function kindOf(words: string, status: number | null, code: string | null): FailureKind {
  // the answer began well, and broke off
  if (status !== null && status < 300) return "network";
  const kind = failureKind(words, status);
  // a server without this model, or without such an address: no attempt can get over it
  if (kind === "other" && status === 404) return "model";
  if (kind === "other" && status === null && code !== null && /overloaded|server|unavailable/i.test(code)) {
    return "server";
  }
  return kind;
}

function waitOf({ headers }: RequestError, error: unknown, now: number): number | null {
  const waits = [
    after(headers["retry-after-ms"], 1),
    after(headers["retry-after"], 1000) ?? dated(headers["retry-after"], now),
    after(numberAt(error, "resets_in_seconds"), 1000),
    until(numberAt(error, "resets_at"), now),
    until(Number(headers["anthropic-ratelimit-unified-reset"] ?? Number.NaN), now),
    ...retryDelays(error),
  ];
  return waits.find((wait) => wait !== null) ?? null;
}

/** Google says it among the error's details: `"retryDelay": "12s"`. */
function retryDelays(error: unknown): readonly (number | null)[] {
  const details = at(error, "details");
  return Array.isArray(details) ? details.map((one) => after(textAt(one, "retryDelay")?.replace(/s$/, ""), 1000)) : [];
}

function after(amount: string | number | null | undefined, unitMs: number): number | null {
  if (amount === undefined || amount === null || amount === "") return null;
  const number = Number(amount);
  return Number.isFinite(number) && number >= 0 ? number * unitMs : null;
}

function dated(text: string | undefined, now: number): number | null {
  const date = Date.parse(text ?? "");
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** @param seconds since 1970 */
function until(seconds: number | null, now: number): number | null {
  if (seconds === null || !Number.isFinite(seconds) || seconds * 1000 <= now) return null;
  return seconds * 1000 - now;
}
