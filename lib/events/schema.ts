/**
 * The schema of `events.ndjson` and of `--json`: what `ralph schema events` prints. Held equal to the types by a test.
 *
 * @module
 */
import { z } from "zod";
import type { Usage } from "../backlog/types.ts";
import type { UsageTotal } from "../backlog/usage.ts";
import type { EventEnvelope } from "./envelope.ts";
import { EVENTS_VERSION, type RalphEvent } from "./types.ts";

const count = z.number().int().nonnegative();
const amount = z.number().nonnegative();
const tokens = count.nullable();
const text = z.string();
const ms = z.number().describe("milliseconds");
const since1970 = z.number().describe("milliseconds since 1970");

type UsageShape = Readonly<
  Record<Exclude<keyof Usage, "estimated">, z.ZodNullable<z.ZodNumber>> & Record<"estimated", z.ZodBoolean>
>;
type TotalShape = UsageShape & Readonly<Record<Exclude<keyof UsageTotal, keyof Usage>, z.ZodNumber>>;

/** What a turn used, in events and in reports. */
export const USAGE_SCHEMA: z.ZodObject<UsageShape> = z.object({
  inputTokens: tokens.describe("all of it, what came from a cache included; null: unknown"),
  outputTokens: tokens.describe("all of it, reasoning included"),
  cachedTokens: tokens.describe("of the input"),
  reasoningTokens: tokens.describe("of the output"),
  costUsd: amount.nullable().describe("US dollars; null: unknown"),
  estimated: z.boolean().describe("the agent's own estimate, not a bill"),
});

/** The same over turns. */
export const USAGE_TOTAL_SCHEMA: z.ZodObject<TotalShape> = USAGE_SCHEMA.extend({
  turns: count,
  turnsWithoutTokens: count.describe("turns that reported none: the sums are at least what they say"),
  turnsWithoutCost: count,
});
const item = z.object({
  id: text,
  kind: text.describe("the backlog's name for it: story, task, plan …"),
  title: text,
});
const named = {
  iteration: count.describe("of the run, from 1"),
  item,
  attempt: count.describe("at this item, from 1"),
};

type OfType<Type extends RalphEvent["type"]> = Extract<RalphEvent, { type: Type }>;

/** The schema of each event, by its type. */
export const EVENT_SCHEMAS = {
  "run-start": z.object({
    type: z.literal("run-start"),
    workflow: text.describe("of a recipe: its own name"),
    root: text.describe("absolute path"),
    agent: text,
    folder: text.describe("of the run, relative to the root"),
    scope: text.exactOptional().describe("which feature or sprint"),
    head: text.exactOptional().describe("the commit that it begins on"),
    goal: text.exactOptional().describe("what a person asked for"),
    branch: text.exactOptional(),
  }).describe("A run begins."),
  "run-end": z.object({
    type: z.literal("run-end"),
    status: text.describe("passed, unverified, exhausted, blocked, failed, declined, handed-out or aborted"),
    reasons: z.array(text).describe("why it is no better"),
    iterations: count,
    usage: USAGE_TOTAL_SCHEMA.exactOptional(),
    notices: z.array(z.object({ kind: text, subject: text, message: text })).exactOptional(),
    work: z.object({
      branch: text.nullable(),
      base: text.nullable().describe("the branch that it came from"),
      from: text.describe("the last commit that both have"),
      head: text,
      commits: count,
      files: count,
      added: count.describe("lines"),
      removed: count.describe("lines"),
    }).exactOptional().describe("what the branch holds then"),
  }).describe("A run has ended."),
  "landing-start": z.object({
    type: z.literal("landing-start"),
    item,
    behind: count.describe("commits on the branch since the item was begun"),
  }).describe("Work of an item comes onto the branch from a worker's tree."),
  "landing-end": z.object({
    type: z.literal("landing-end"),
    item,
    result: z.enum(["landed", "conflict", "failed", "blocked", "refused", "interrupted"]),
    checkedAgain: z.boolean().describe("its checks ran once more, on the merged tree"),
    conflicts: count.describe("of this item in this run so far"),
    paths: z.array(text).describe("files in which they are, or that are in the way"),
  }).describe("It is there, or it is not."),
  "items-reopened": z.object({ type: z.literal("items-reopened"), ids: z.array(text), reason: text }).describe(
    "The final check fails for items that had passed: they come again.",
  ),
  "step-start": z.object({ type: z.literal("step-start"), step: text, title: text }).describe(
    "A step of a recipe begins, such as `plan` or `understand`.",
  ),
  "step-end": z.object({ type: z.literal("step-end"), step: text, status: text, message: text.exactOptional() })
    .describe("A step has ended."),
  "iteration-start": z.object({
    type: z.literal("iteration-start"),
    ...named,
    passed: count.describe("items that have passed"),
    total: count.nullable().describe("items that are known; null: unknown"),
    limit: count.exactOptional().describe("the run ends after so many iterations"),
    criteria: z.array(text).exactOptional().describe("what the item has to meet, in words"),
  }).describe("An attempt at an item begins."),
  "iteration-end": z.object({
    type: z.literal("iteration-end"),
    ...named,
    result: z.enum([
      "verified",
      "unverified",
      "not-done",
      "failed",
      "blocked",
      "interrupted",
      "trespassed",
      "agent-unusable",
    ]),
    settlement: z.enum(["passed", "open", "parked", "stop"]),
    message: text.nullable().describe("why it did not pass"),
    durationMs: ms,
    usage: USAGE_SCHEMA.nullable().describe("null: no agent ran"),
    reopened: z.array(text).exactOptional().describe("items that had passed and come again because of this one"),
    changes: z.object({ paths: z.array(text), files: count, added: count, removed: count }).exactOptional()
      .describe("what its turn changed"),
  }).describe("An attempt has ended and is recorded."),
  "turn-start": z.object({
    type: z.literal("turn-start"),
    agent: text,
    transcript: text.describe("file, relative to the root"),
    route: text.exactOptional().describe("the rule of `provider.route` that chose the agent"),
  }).describe("An agent process starts."),
  "turn-end": z.object({
    type: z.literal("turn-end"),
    agent: text,
    reason: text,
    message: text.nullable(),
    durationMs: ms,
    usage: USAGE_SCHEMA,
  }).describe("An agent process has ended."),
  "agent-start": z.object({
    type: z.literal("agent-start"),
    session: text.nullable().describe("null: not reported"),
    model: text.nullable(),
  }).describe("The agent names its session and model."),
  "agent-text": z.object({ type: z.literal("agent-text"), text }).describe("One whole message of the agent."),
  "agent-tool-call": z.object({
    type: z.literal("agent-tool-call"),
    id: text.nullable(),
    tool: text,
    input: text.describe("its beginning"),
  }).describe("The agent calls a tool."),
  "agent-tool-result": z.object({
    type: z.literal("agent-tool-result"),
    id: text.nullable(),
    ok: z.boolean(),
    output: text.describe("its end"),
  }).describe("What the tool returned."),
  "agent-file-change": z.object({
    type: z.literal("agent-file-change"),
    path: text,
    change: z.enum(["added", "changed", "deleted"]),
  }).describe("The agent reports a file that it changed."),
  "agent-usage": z.object({
    type: z.literal("agent-usage"),
    scope: z.enum(["step", "total"]).describe("step: to be added up; total: of the whole turn"),
    usage: USAGE_SCHEMA,
  }).describe("The agent reports what it used."),
  "agent-rate-limit": z.object({
    type: z.literal("agent-rate-limit"),
    status: z.enum(["warning", "retrying", "rejected"]).describe(
      "retrying: the agent waits by itself; rejected: it gave up",
    ),
    untilMs: since1970.nullable(),
    waitMs: ms.nullable().describe("from now; null: not reported"),
    message: text,
  }).describe("The agent is near a rate limit, or at it."),
  "agent-error": z.object({
    type: z.literal("agent-error"),
    kind: z.enum([
      "auth",
      "billing",
      "model",
      "context",
      "rate-limit",
      "server",
      "network",
      "own-limit",
      "interrupted",
      "other",
    ]),
    fatal: z.boolean().describe("the agent gave up"),
    message: text,
  }).describe("The agent reports an error."),
  "agent-end": z.object({
    type: z.literal("agent-end"),
    status: z.enum(["completed", "cut-off", "failed"]),
    message: text.nullable(),
  }).describe("The agent reports that its turn is over. A later one replaces an earlier one."),
  "agent-line-invalid": z.object({
    type: z.literal("agent-line-invalid"),
    reason: text,
    line: text.describe("its beginning"),
  }).describe("A line of the agent's output that is no event: not JSON, or too long."),
  "wait-start": z.object({
    type: z.literal("wait-start"),
    agent: text,
    reason: z.enum(["rate-limit", "unavailable"]),
    until: text.describe("ISO time"),
    remainingMs: ms,
    message: text,
  }).describe("Ralph waits for a rate limit, or for a provider that fails."),
  "wait-delta": z.object({ type: z.literal("wait-delta"), agent: text, remainingMs: ms }).describe("It still waits."),
  "wait-end": z.object({ type: z.literal("wait-end"), agent: text, waitedMs: ms, interrupted: z.boolean() }).describe(
    "The wait is over.",
  ),
  "check-start": z.object({
    type: z.literal("check-start"),
    name: text.describe("its command, or the name of a function"),
    scope: text.describe("the item that it belongs to, `run`, or `baseline`"),
    number: count.describe("of `total` checks that run one after the other, from 1"),
    total: count,
  }).describe("A check starts."),
  "check-end": z.object({
    type: z.literal("check-end"),
    name: text,
    scope: text,
    ok: z.boolean(),
    exitCode: z.number().int().nullable().describe("null: it has none, or was ended"),
    durationMs: ms,
    tail: text.describe("the end of its output, secrets masked"),
    failedBefore: z.boolean().exactOptional().describe("it failed before the run's first turn as well"),
    beforeWork: z.boolean().exactOptional().describe("it ran before the item's first attempt, where it should fail"),
  }).describe("A check has ended."),
  "tests-changed": z.object({
    type: z.literal("tests-changed"),
    item: item.nullable().describe("null: at the end of a run"),
    findings: z.array(text).describe("a line a file, then what the old ones say"),
    blocked: z.boolean().describe("the attempt fails for it"),
  }).describe("Judging files are not what they were before the work."),
  "hook-start": z.object({
    type: z.literal("hook-start"),
    hook: text,
    iteration: z.number().int(),
    parallel: z.boolean(),
    log: text.describe("file, relative to the root"),
  }).describe("A hook starts."),
  "hook-end": z.object({
    type: z.literal("hook-end"),
    hook: text,
    iteration: z.number().int(),
    status: z.enum(["in-progress", "completed", "failed", "interrupted"]),
    exitCode: z.number().int().nullable(),
    durationMs: ms,
    message: text.nullable(),
  }).describe("A hook has ended."),
  "sandbox": z.object({
    type: z.literal("sandbox"),
    on: z.boolean(),
    by: text.describe("how processes are confined, or why they are not"),
    network: z.union([z.enum(["all", "none", "unknown"]), z.array(text)]).describe(
      "hosts beside the agent's own; `unknown` where `sandbox.command` decides",
    ),
  }).describe("Whether the processes of the run are confined."),
  "host-refused": z.object({
    type: z.literal("host-refused"),
    host: text,
    port: z.number().int(),
    by: text.nullable().describe("turn, check, hook or setup"),
  }).describe("A confined process wanted a host that is not on its list."),
  "state-restored": z.object({ type: z.literal("state-restored"), paths: z.array(text) }).describe(
    "Files that judge the run were changed, and are as they were before.",
  ),
  "trespass": z.object({
    type: z.literal("trespass"),
    by: z.enum(["agent", "planner"]),
    paths: z.array(text),
    diff: text,
  }).describe("A turn wrote where it may not."),
  "commit": z.object({
    type: z.literal("commit"),
    commit: text.describe("its full hash"),
    subject: text.describe("the first line of its message"),
    hook: text.exactOptional().describe("made of what this hook changed"),
  }).describe("Ralph made a commit."),
  "question": z.object({ type: z.literal("question"), id: text, message: text }).describe("Ralph asks."),
  "answer": z.object({
    type: z.literal("answer"),
    id: text,
    answer: text,
    source: z.enum(["terminal", "stdin", "answers", "approve", "default", "file", "page"]).describe(
      "where it came from",
    ),
  }).describe("The answer to a question."),
  "steered": z.object({
    type: z.literal("steered"),
    action: z.enum(["pause", "resume", "stop", "stop-now", "tell"]),
    origin: z.enum(["terminal", "file", "page"]).describe("where the person was: a command elsewhere is `file`"),
    text: text.nullable().describe("what was told"),
    item: text.nullable().describe("told for this item's prompts alone"),
  }).describe("A person changed the run while it lasted."),
  "pause-start": z.object({ type: z.literal("pause-start") }).describe(
    "The run is paused: nothing starts until a person resumes or ends it.",
  ),
  "pause-end": z.object({ type: z.literal("pause-end"), pausedMs: ms }).describe("The pause is over."),
  "text": z.object({ type: z.literal("text"), title: text, lines: z.array(text) }).describe(
    "A block of text for the reader: a summary, the next commands, a diff.",
  ),
  "note": z.object({
    type: z.literal("note"),
    level: z.enum(["info", "warn"]),
    message: text,
    hook: text.exactOptional().describe("about this hook, and no item"),
  }).describe("Something to know, in one sentence."),
} satisfies { readonly [Type in RalphEvent["type"]]: z.ZodType<OfType<Type>> } as {
  readonly [Type in RalphEvent["type"]]: z.ZodObject<z.ZodRawShape>;
};

const envelope = {
  v: z.literal(EVENTS_VERSION).describe("version of the schema"),
  at: text.describe("ISO time"),
  run: text.nullable().describe("the run's id; null before there is one"),
  lane: count.exactOptional().describe("the worker's tree that it happens in, where items are worked on at once"),
};

/** One line of `events.ndjson`, or of `--json`. */
export const EVENT_LINE_SCHEMA: z.ZodType<Omit<EventEnvelope, "run"> & { readonly run: string | null }> = z.union(
  Object.values(EVENT_SCHEMAS).map((schema) => schema.extend(envelope).describe(schema.description ?? "")),
) as never;

/** The JSON Schema of a line. */
export function eventsJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph events, one JSON object a line", ...z.toJSONSchema(EVENT_LINE_SCHEMA, { io: "input" }) };
}
