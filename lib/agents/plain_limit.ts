/**
 * Tells whether a command that prints plain text has failed for its limit. Pure. Careful: an agent that works on a rate
 * limiter prints such words as well, so a line has to begin with them, at the very end, of a turn that failed.
 *
 * @module
 */
import type { ProcessEnd } from "../host/types.ts";
import { unstyledText } from "../host/terminal.ts";
import type { TurnEnd } from "../backlog/types.ts";
import { anyOf, failureKind } from "./failures.ts";
import { resetTime, saneReset } from "./reset_time.ts";
import { signalLines } from "../backlog/signals.ts";

/** How far from the end a limit may be reported. */
const LAST_ERRORS = 8;
const LAST_WORDS = 3;

/**
 * The limit that a command's last lines report, where it ended with an exit code that is not 0; else `null`.
 *
 * @param prompt what it was asked: an echo of it is left out
 * @param now milliseconds since 1970
 */
export function plainLimit(
  end: ProcessEnd,
  { prompt, now }: { readonly prompt: string; readonly now: number },
): Extract<TurnEnd, { reason: "rate-limited" }> | null {
  if (end.reason !== "exited" || end.signal !== null || (end.exitCode ?? 0) === 0) return null;
  const last = (text: string, limit: number): readonly string[] => signalLines(unstyledText(text), { prompt, limit });
  const limit = limitAmong(last(end.stderr, LAST_ERRORS)) ?? limitAmong(last(end.stdout, LAST_WORDS));
  if (limit === null) return null;
  const [message = "", ...rest] = limit;
  const untilMs = saneReset(resetTime(message, now) ?? resetTime([message, ...rest.slice(0, 2)].join(" "), now), now);
  return { reason: "rate-limited", untilMs, message: message.slice(0, 1000) };
}

/** The line that reports a limit, with what follows it; not where another error came after it. */
function limitAmong(lines: readonly string[]): readonly string[] | null {
  for (const [index, line] of [...lines.entries()].toReversed()) {
    if (tellsLimit(line)) return lines.slice(index);
    if (ERROR_REGEXP.test(line)) return null;
  }
  return null;
}

const ERROR_REGEXP = /^\W*(?:error|fatal|panic|\w+Error)\b\W*:/i;

/** Notices, and what is not over yet. */
const SOFT_REGEXP = anyOf`\bwarn | \bapproaching\b | \bclose to\b | \bnear(?:ing|ly)?\b | \d ?% | \bretrying\b
  \breconnecting\b | \battempt \d+ ?(?:of|/)`;

/** `Error:`, `[API Error:`, `litellm.RateLimitError:`, `ERROR: stream error:`, `Error code:`; never `AssertionError:`. */
const LABEL = String.raw`(?:(?:uncaught|unexpected|critical|stream|api|provider|http|internal) ){0,3}`;
const FAULT = String.raw`(?:[\w.]*(?:ratelimit|api|apistatus|http|clienterror|quota)\w*error|error|fatal|exception)`;
const LABEL_REGEXP = new RegExp(String.raw`^(?:[^\w(]*${LABEL}${FAULT}(?: code)?\s*[:\]]\s*)+`, "i");

const AFTER = String.raw`(?=$|\s*[.:;,!·∙|(\[{)\]–—-]|\s+(?:for|on|in|by|please|try|until|resets?|retry|wait|and)\b)`;
const LIMIT = String
  .raw`(?:(?:api|claude|claude ai|your|the|model|account|organization) ){0,3}(?:usage|rate|requests?|session|weekly|daily|hourly|monthly|\d+-hour)[ _-]?limits?`;
const STATUS = String.raw`unexpected status|status(?: code)?:?|http(?:\/[\d.]+)?|exceeded retry limit, last status:`;
const OVER = String.raw`(?:(?:was|has been|is|are|were) )?(?:reached|exceeded|hit)`;

/** How those who have reached a limit say so: the whole sentence begins with it. */
const STATEMENTS: readonly RegExp[] = [
  /^you(?:[’']ve| have) (?:hit|reached|exceeded|exhausted) your (?:[\w-]+ ){0,4}(?:limits?|quota|capacity)\b/i,
  /^you[’']?(?:re| are| have been|ve been) (?:being )?rate[- ]limited\b/i,
  /^rate[- ]limited\b[.:!]/i,
  new RegExp(`^${LIMIT} ${OVER}${AFTER}`, "i"),
  /^(?:this|the|your) request (?:would exceed|exceed(?:s|ed)) (?:[\w’']+ ){1,4}(?:rate limit|quota)\b/i,
  /^request rejected \(429\)/i,
  new RegExp(`^(?:${STATUS}) ?429(?=$|[:,;.]|\\s+too many requests)`, "i"),
  /^\(?429\b.*(?:too many requests|rate[ _-]?limit|usage limit|quota)/i,
  /^failed to get (?:a )?response .*last error: 429\b/i,
  /^(?:too many requests|resource_exhausted|rate_limit_(?:error|exceeded))(?=$|\s*[.:;,!({[-])/i,
  /^(?:your )?quota (?:exceeded|will reset)\b/i,
  /^resource has been exhausted\b/i,
  /^(?:\w+ error: )?(?:litellm|openai|anthropic|groq|mistralai|cohere)\.(?:\w+\.)*RateLimitError\b/i,
];

function tellsLimit(line: string): boolean {
  if (line.length > 4000 || SOFT_REGEXP.test(line) || failureKind(line) !== "rate-limit") return false;
  const bare = line.replace(LABEL_REGEXP, "");
  return STATEMENTS.some((statement) => statement.test(bare) || statement.test(line));
}
