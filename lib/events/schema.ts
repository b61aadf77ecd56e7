/**
 * The schema of `events.ndjson` and of `--json`: what `ralph schema events` prints. The types are made
 * from it.
 *
 * @module
 */
import { z } from "zod";
import { named, record } from "../config/parts.ts";
import { words } from "../host/data.ts";
import type * as made from "../generated/events.ts";
import type { EventEnvelope } from "./event_log.ts";
import { EVENTS_VERSION } from "./types.ts";

const count = z.number().int().nonnegative();
const amount = z.number().nonnegative();
const tokens = count.nullable();
const text = z.string();
const ms = z.number().describe("milliseconds");
const since1970 = z.number().describe("milliseconds since 1970");

const usage = z.object({
  inputTokens: tokens.describe("all of it, what came from a cache included; null: unknown"),
  outputTokens: tokens.describe("all of it, reasoning included"),
  cachedTokens: tokens.describe("of the input"),
  reasoningTokens: tokens.describe("of the output"),
  costUsd: amount.nullable().describe("US dollars; null: unknown"),
  estimated: z.boolean().describe("the agent's own estimate, not a bill"),
});

/** The usage of a turn, in events and in reports. */
export const USAGE_SCHEMA: z.ZodType<made.EventUsage> = named("EventUsage", "The usage of a turn.", usage);

/** The tests of a check, in events and in reports. */
export const TESTS_SCHEMA: z.ZodType<made.TestsRun> = record(
  "TestsRun",
  "The tests that a check ran, by its own word: TAP on its output, or JUnit in files that it wrote in a clean checkout.",
  { passed: count, failed: count, skipped: count, failures: z.array(text).describe("names of the first that failed") },
);

/** The usage of several turns. */
export const USAGE_TOTAL_SCHEMA: z.ZodType<made.EventUsageTotal> = named(
  "EventUsageTotal",
  "The usage of several turns.",
  usage.extend({
    turns: count,
    turnsWithoutTokens: count.describe("turns that reported none: the sums are at least what they say"),
    turnsWithoutCost: count,
  }),
);

/** A remark that the verdict does not make. */
export const NOTICE_SCHEMA: z.ZodType<made.EventNotice> = record(
  "EventNotice",
  "Something about a run that its verdict does not say.",
  {
    kind: text.describe("`green-before`, `not-committed`, `restored` …"),
    subject: text.describe("item, file or command"),
    message: text.describe("may be empty"),
  },
);

/** The work that a branch holds. */
export const BRANCH_WORK_SCHEMA: z.ZodType<made.EventBranchWork> = record(
  "EventBranchWork",
  "The work that a branch holds.",
  {
    branch: text.nullable(),
    base: text.nullable().describe("the branch that it came from"),
    from: text.describe("the last commit that both have"),
    head: text,
    commits: count,
    files: count,
    added: count.describe("lines"),
    removed: count.describe("lines"),
  },
);

/** The files that a turn changed. */
export const CHANGES_SCHEMA: z.ZodType<made.TurnChanges> = record("TurnChanges", "The files that a turn changed.", {
  paths: z.array(text).describe("some of them, relative to the root"),
  files: count,
  added: count.describe("lines"),
  removed: count,
});

const item = record("EventItem", "The item that an event is about.", {
  id: text,
  kind: text.describe("the backlog's name for it: story, task, plan …"),
  title: text,
  preparatory: z.boolean().exactOptional().describe("it plans or reviews: not counted among the items"),
});
const attempt = {
  iteration: count.describe("of the run, from 1"),
  item,
  attempt: count.describe("at this item, from 1"),
};
const failure = named(
  "FailureKind",
  "The reason that an agent gives for its failure.",
  z.enum(words("auth billing model context rate-limit server network own-limit interrupted other")),
);
const source = named(
  "AnswerSource",
  "Where an answer came from.",
  z.enum(["terminal", "stdin", "answers", "approve", "default", "file", "page"]),
);
const origin = named("Origin", "Where a person was when they changed a run.", z.enum(["terminal", "file", "page"]));

/** Each event: what it means, and its fields beside `type`. */
const EVENTS: Readonly<Record<string, readonly [description: string, fields: z.ZodRawShape]>> = {
  "run-start": ["A run begins.", {
    workflow: text.describe("of a recipe: its own name"),
    root: text.describe("absolute path"),
    agent: text,
    folder: text.describe("of the run, relative to the root"),
    scope: text.exactOptional().describe("which feature or sprint"),
    head: text.exactOptional().describe("the commit that it begins on"),
    goal: text.exactOptional().describe("what a person asked for"),
    branch: text.exactOptional(),
    workers: count.exactOptional().describe("items worked on at once, if more than one"),
    strict: z.boolean().exactOptional().describe('with `trust: "strict"`'),
  }],
  "run-end": ["A run has ended.", {
    status: text.describe("passed, unverified, exhausted, blocked, failed, declined, handed-out, aborted or error"),
    reasons: z.array(text).describe("why it is no better"),
    iterations: count,
    usage: USAGE_TOTAL_SCHEMA.exactOptional(),
    notices: z.array(NOTICE_SCHEMA).exactOptional(),
    work: BRANCH_WORK_SCHEMA.exactOptional().describe("what the branch holds then"),
    checked: text.exactOptional().describe("the commit that the final check saw, unless it saw the working tree"),
  }],
  "landing-start": ["Work of an item comes onto the branch from a worker's tree.", {
    item,
    behind: count.describe("commits on the branch since the item was begun"),
  }],
  "landing-end": ["It is there, or it is not.", {
    item,
    result: z.enum(["landed", "conflict", "failed", "blocked", "refused", "interrupted"]),
    checkedAgain: z.boolean().describe("its checks ran once more, on the merged tree"),
    conflicts: count.describe("of this item in this run so far"),
    paths: z.array(text).describe("files in which they are, or that are in the way"),
    with: z.array(text).exactOptional().describe("items that were checked in the same tree as it"),
  }],
  "items-reopened": ["The final check fails for items that had passed: they come again.", {
    ids: z.array(text),
    reason: text,
  }],
  "step-start": ["A step of a recipe begins, such as `plan` or `understand`.", { step: text, title: text }],
  "step-end": ["A step has ended.", {
    step: text,
    status: text,
    message: text.exactOptional(),
    unverified: z.array(text).exactOptional().describe("of a final check: items that it does not verify"),
  }],
  "iteration-start": ["An attempt at an item begins.", {
    ...attempt,
    passed: count.describe("items that have passed"),
    total: count.nullable().describe("items that are known; null: unknown"),
    limit: count.exactOptional().describe("the run ends after so many iterations"),
    criteria: z.array(text).exactOptional().describe("what the item has to meet, in words"),
  }],
  "iteration-end": ["An attempt has ended and is recorded.", {
    ...attempt,
    result: z.enum(words("verified unverified not-done failed blocked interrupted trespassed agent-unusable")),
    settlement: z.enum(["passed", "open", "parked", "stop"]),
    message: text.nullable().describe("why it did not pass"),
    durationMs: ms,
    usage: USAGE_SCHEMA.nullable().describe("null: no agent ran"),
    reopened: z.array(text).exactOptional().describe("items that had passed and come again because of this one"),
    changes: CHANGES_SCHEMA.exactOptional().describe("what its turn changed"),
  }],
  "turn-start": ["An agent process starts.", {
    agent: text,
    transcript: text.describe("file, relative to the root"),
    route: text.exactOptional().describe("the rule of `provider.route` that chose the agent"),
  }],
  "turn-end": ["An agent process has ended.", {
    agent: text,
    reason: text,
    message: text.nullable(),
    durationMs: ms,
    usage: USAGE_SCHEMA,
  }],
  "agent-start": ["The agent names its session and model.", {
    session: text.nullable().describe("null: not reported"),
    model: text.nullable(),
  }],
  "agent-text": ["One whole message of the agent.", { text }],
  "agent-tool-call": ["The agent calls a tool.", {
    id: text.nullable(),
    tool: text,
    input: text.describe("its beginning"),
  }],
  "agent-tool-result": ["What the tool returned.", {
    id: text.nullable(),
    ok: z.boolean(),
    output: text.describe("its end"),
  }],
  "agent-file-change": ["The agent reports a file that it changed.", {
    path: text,
    change: z.enum(["added", "changed", "deleted"]),
  }],
  "agent-usage": ["The agent reports what it used.", {
    scope: z.enum(["step", "total"]).describe("step: to be added up; total: of the whole turn"),
    usage: USAGE_SCHEMA,
  }],
  "agent-rate-limit": ["The agent is near a rate limit, or at it.", {
    status: z.enum(["warning", "retrying", "rejected"]).describe(
      "retrying: the agent waits by itself; rejected: it gave up",
    ),
    untilMs: since1970.nullable(),
    waitMs: ms.nullable().describe("from now; null: not reported"),
    message: text,
  }],
  "agent-error": ["The agent reports an error.", {
    kind: failure,
    fatal: z.boolean().describe("the agent gave up"),
    message: text,
  }],
  "agent-end": ["The agent reports that its turn is over. A later one replaces an earlier one.", {
    status: z.enum(["completed", "cut-off", "failed"]),
    message: text.nullable(),
  }],
  "agent-line-invalid": ["A line of the agent's output that is no event: not JSON, or too long.", {
    reason: text,
    line: text.describe("its beginning"),
  }],
  "wait-start": ["Ralph waits for a rate limit, or for a provider that fails.", {
    agent: text,
    reason: z.enum(["rate-limit", "unavailable"]),
    until: text.describe("ISO time"),
    remainingMs: ms,
    message: text,
  }],
  "wait-delta": ["It still waits.", { agent: text, remainingMs: ms }],
  "wait-end": ["The wait is over.", { agent: text, waitedMs: ms, interrupted: z.boolean() }],
  "check-start": ["A check starts.", {
    name: text.describe("its command, or the name of a function"),
    scope: text.describe("the item that it belongs to, `run`, or `baseline`"),
    number: count.describe("of `total` checks that run one after the other, from 1"),
    total: count,
  }],
  "check-end": ["A check has ended.", {
    id: text.exactOptional().describe("a hash of the command before secrets were masked; absent in 0.1.0"),
    name: text,
    command: text.exactOptional().describe("where the name is another"),
    scope: text,
    ok: z.boolean(),
    exitCode: z.number().int().nullable().describe("null: it has none, or was ended"),
    durationMs: ms,
    tail: text.describe("the end of its output, secrets masked"),
    failedBefore: z.boolean().exactOptional().describe("it failed before the run's first turn as well"),
    beforeWork: z.boolean().exactOptional().describe("it ran before the item's first attempt, where it should fail"),
    tests: TESTS_SCHEMA.exactOptional(),
  }],
  "experiments": ["The checks that passed were put to the test.", {
    item: item.nullable().describe("null: at the end of a run"),
    findings: z.array(text).describe("why the checks cannot be believed; empty for good work"),
    tried: z.array(text).describe("what was tried, and how it came out"),
    blocked: z.boolean().describe("the attempt fails for it"),
  }],
  "hook-start": ["A hook starts.", {
    hook: text,
    iteration: z.number().int(),
    parallel: z.boolean(),
    log: text.describe("file, relative to the root"),
  }],
  "hook-end": ["A hook has ended.", {
    hook: text,
    iteration: z.number().int(),
    status: z.enum(["in-progress", "completed", "failed", "interrupted"]),
    exitCode: z.number().int().nullable(),
    durationMs: ms,
    message: text.nullable(),
  }],
  "sandbox": ["Whether the processes of the run are confined.", {
    on: z.boolean(),
    by: text.describe("how processes are confined, or why they are not"),
    network: z.union([z.enum(["all", "none", "unknown"]), z.array(text)]).describe(
      "hosts beside the agent's own; `unknown` where `sandbox.command` decides",
    ),
  }],
  "host-refused": ["A confined process wanted a host that is not on its list.", {
    host: text,
    port: z.number().int(),
    by: text.nullable().describe("turn, check, hook or setup"),
  }],
  "state-restored": ["Files that judge the run were changed, and are as they were before.", { paths: z.array(text) }],
  "trespass": ["A turn wrote where it may not.", {
    by: z.enum(["agent", "planner"]),
    paths: z.array(text),
    diff: text,
  }],
  "commit": ["Ralph made a commit.", {
    commit: text.describe("its full hash"),
    subject: text.describe("the first line of its message"),
    hook: text.exactOptional().describe("made of what this hook changed"),
  }],
  "question": ["Ralph asks.", { id: text, message: text }],
  "answer": ["The answer to a question.", { id: text, answer: text, source: source.describe("where it came from") }],
  "steered": ["A person changed the run while it lasted.", {
    action: z.enum(["pause", "resume", "stop", "stop-now", "tell"]),
    origin: origin.describe("where the person was: a command elsewhere is `file`"),
    text: text.nullable().describe("what was told"),
    item: text.nullable().describe("told for this item's prompts alone"),
  }],
  "pause-start": ["The run is paused: nothing starts until a person resumes or ends it.", {}],
  "pause-end": ["The pause is over.", { pausedMs: ms }],
  "text": ["A block of text for the reader: a summary, the next commands, a diff.", {
    title: text,
    lines: z.array(text),
  }],
  "note": ["Something to know, in one sentence.", {
    level: z.enum(["info", "warn"]),
    message: text,
    hook: text.exactOptional().describe("about this hook, and no item"),
  }],
};

/** The schema of each event, by its type. */
export const EVENT_SCHEMAS: Readonly<Record<made.RalphEvent["type"], z.ZodObject>> = Object.fromEntries(
  Object.entries(EVENTS).map(([type, [description, fields]]) => [
    type,
    z.object({ type: z.literal(type), ...fields }).describe(description),
  ]),
) as object as Record<made.RalphEvent["type"], z.ZodObject>;

/** Any event. */
export const EVENT_SCHEMA: z.ZodType<made.RalphEvent> = named(
  "RalphEvent",
  "What happened. Names are noun-verb; lifecycle words are start, delta and end.",
  z.union(Object.values(EVENT_SCHEMAS)),
) as z.ZodType<unknown> as z.ZodType<made.RalphEvent>;

const envelope = {
  v: z.literal(EVENTS_VERSION).describe("version of the schema"),
  at: text.describe("ISO time"),
  run: text.nullable().describe("the run's id; null before there is one"),
  lane: count.exactOptional().describe(
    "its item's place among those at work or landing, where items are worked on at once",
  ),
};

/** One line of `events.ndjson`, or of `--json`. */
export const EVENT_LINE_SCHEMA: z.ZodType<Omit<EventEnvelope, "run"> & { readonly run: string | null }> = z.union(
  Object.values(EVENT_SCHEMAS).map((schema) => schema.extend(envelope).describe(schema.description ?? "")),
) as never;

/** The JSON Schema of a line. */
export function eventsJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph events, one JSON object a line", ...z.toJSONSchema(EVENT_LINE_SCHEMA, { io: "input" }) };
}
