import type { AgentEvent, FailureKind } from "./adapter.ts";

/**
 * The meaning of an agent's error message. Only ever given an agent's own error fields and, where it failed, its
 * standard error: never its words, never what its tools print.
 */
export function failureKind(message: string, status: number | null = statusIn(message)): FailureKind {
  for (const { kind, pattern } of BY_WORDS) {
    if (pattern.test(message)) return kind === "billing" && PASSES_REGEXP.test(message) ? "rate-limit" : kind;
  }
  if (status !== null) {
    const kind = byStatus(status);
    if (kind !== null) return kind;
  }
  for (const { kind, pattern } of BY_WEAKER_WORDS) if (pattern.test(message)) return kind;
  return "other";
}

/** Phrases that say more than the status beside them: a 429 may be an empty account, a 400 a context that is too long. */
const BY_WORDS: readonly Meaning[] = [
  {
    kind: "context",
    pattern: anyOf`prompt (?:is|as) too long | context[_ ](?:length|window|limit) | maximum context
      room in the model[’']s context | context limit reached | input is too long | too many (?:input )?tokens`,
  },
  {
    kind: "billing",
    pattern: anyOf`insufficient[_ ]quota | credit balance | plan and billing | billing[_ ](?:error|not)
      payment required | out of (?:extra )?usage credits | out of credits | no credits`,
  },
  {
    kind: "model",
    pattern: anyOf`model[_ ]not[_ ]found | unknown model | no such model | invalid model | ProviderModelNotFound
      model ['"\`]?[\w./:@-]+['"\`]?,? (?:is not|was not|not|does not|doesn't) (?:found|exist|supported|available|a valid)
      issue with the selected model`,
  },
];

/** Google says the same of an empty account and of a limit by the minute; what can be tried again is a limit. */
const PASSES_REGEXP = /\b(?:retry|try again) (?:in|after) \d|gemini-api\/docs\/rate-limits/i;

const BY_WEAKER_WORDS: readonly Meaning[] = [
  {
    kind: "rate-limit",
    pattern: anyOf`rate[ _-]?limit(?:s|ed|ing|_\w+|error)?\b | too many requests | usage limit | daily quota
      (?:session|hourly|daily|weekly|monthly|requests?|\d+-hour) limit (?:was |has been )?(?:reached|exceeded|hit)\b
      resource[_ ](?:has been )?exhausted | you[’']ve (?:hit|reached) your | quota (?:will reset|exceeded)
      exhausted your (?:capacity|daily)`,
  },
  {
    kind: "auth",
    pattern: anyOf`unauthori[sz]ed | invalid (?:api|access) (?:key|token) | no api key | access token | authentication
      api key (?:not|is|was) (?:found|set|missing|invalid|not valid) | failed to authenticate | not logged in
      please (?:run )?/?log ?in | auth(?:entication)? (?:method|type) | log[- ]?in (?:failed|required|first)
      (?:not|must be) (?:logged|signed) in | (?:please )?(?:log|sign) in (?:to|with|first)
      no (?:credentials|providers?) (?:found|configured|set) | missing (?:api key|credentials)
      api key (?:is )?required`,
  },
  {
    kind: "server",
    pattern: anyOf`overloaded | high demand | internal server error | server-side issue | bad gateway
      service unavailable | gateway timeout`,
  },
  {
    kind: "network",
    pattern: anyOf`\bterminated\b | E(?:CONN(?:RESET|REFUSED|ABORTED)|TIMEDOUT|PIPE|AI_AGAIN|NOTFOUND) | socket
      connection (?:to .{1,40} )?(?:was )?(?:lost|reset|closed|refused|error) | cannot connect | fetch failed
      stream (?:disconnected|ended|closed) | unexpected EOF | other side closed | network error`,
  },
  { kind: "interrupted", pattern: /user cancelled|operation cancelled|\baborted\b|interrupted by user/i },
];

/** Behind these a message has its HTTP status. */
const STATUS_REGEXP = new RegExp(
  `(?:${
    anyOf`^ | \bstatus(?: code)?:?[ ] | \bHTTP[ ] | \berror:? \(? | \brejected \( | last error:[ ] | \[API Error:[ ]
      "(?:code|status)":[ ]?`.source
  })([45]\\d\\d)\\b`,
  "i",
);

/** An error with what it means. */
interface Meaning {
  readonly kind: FailureKind;
  readonly pattern: RegExp;
}

/** Any of these phrases, which \` | \` or the end of a line separates. */
export function anyOf({ raw: [text = ""] }: TemplateStringsArray): RegExp {
  return new RegExp(text.replaceAll("\\`", "`").trim().split(/\s+\|\s+|\s*\n\s*/).join("|"), "i");
}

/** The HTTP status in a message, in a place where messages have one. */
function statusIn(message: string): number | null {
  const match = STATUS_REGEXP.exec(message);
  return match === null ? null : Number(match[1]);
}

function byStatus(status: number): FailureKind | null {
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "billing";
  if (status === 429) return "rate-limit";
  if (status === 413) return "context";
  if (status === 408 || status >= 500) return "server";
  return null;
}

/** When a limit ends, where the agent says so. */
export interface LimitTimes {
  /** Milliseconds since 1970. */
  readonly untilMs?: number | null;
  /** Milliseconds from now. */
  readonly waitMs?: number | null;
}

/** An agent gave up: the error, the limit where it is one, and the end. */
export function failureEvents(kind: FailureKind, message: string, times: LimitTimes = {}): readonly AgentEvent[] {
  const { untilMs = null, waitMs = null } = times;
  return [
    { type: "agent-error", kind, fatal: true, message },
    ...(kind === "rate-limit"
      ? [{ type: "agent-rate-limit", status: "rejected", untilMs, waitMs, message } as const]
      : []),
    { type: "agent-end", status: "failed", message },
  ];
}

/** An agent tries again by itself. */
export function retryEvents(kind: FailureKind, message: string, waitMs: number | null = null): readonly AgentEvent[] {
  return kind === "rate-limit"
    ? [{ type: "agent-rate-limit", status: "retrying", untilMs: null, waitMs, message }]
    : [{ type: "agent-error", kind, fatal: false, message }];
}
