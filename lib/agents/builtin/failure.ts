import type { FailureKind } from "../../events/types.ts";
import { failureKind } from "../failures.ts";
import { at, listAt, numberAt, textAt } from "../json.ts";
import { resetTime } from "../reset_time.ts";
import type { RequestError } from "./models.ts";

/** The meaning of a failed request. */
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

/** Headers and fields that say when to ask again, the surest first. */
const HEADERS = ["retry-after-ms", "retry-after", "anthropic-ratelimit-unified-reset"];

function waitOf({ headers }: RequestError, error: unknown, now: number): number | null {
  const written = headers["retry-after"] ?? "";
  const date = written.endsWith("GMT") ? Date.parse(written) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  // Google says it among the error's details: `"retryDelay": "12s"`
  const delays = listAt(error, "details").map((one) => ({ retryDelay: textAt(one, "retryDelay") ?? undefined }));
  const fields = ["resets_in_seconds", "resets_at"].map((name) => ({ [name]: numberAt(error, name) ?? undefined }));
  for (const said of [...HEADERS.map((name) => ({ [name]: headers[name] })), ...fields, ...delays]) {
    const until = resetTime(JSON.stringify(said), now, "UTC");
    if (until !== null && until >= now) return until - now;
  }
  return null;
}
