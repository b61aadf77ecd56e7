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
const ms = z.number();

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
const item = z.object({ id: text, kind: text, title: text });
const named = { iteration: count, item, attempt: count };

type OfType<Type extends RalphEvent["type"]> = Extract<RalphEvent, { type: Type }>;

/** The schema of each event, by its type. */
export const EVENT_SCHEMAS = {
  "run-start": z.object({
    type: z.literal("run-start"),
    workflow: text,
    root: text,
    agent: text,
    folder: text,
    scope: text.exactOptional().describe("which feature or sprint"),
    head: text.exactOptional().describe("the commit that it begins on"),
  }),
  "run-end": z.object({
    type: z.literal("run-end"),
    status: text,
    reasons: z.array(text),
    iterations: count,
    usage: USAGE_TOTAL_SCHEMA.exactOptional(),
    notices: z.array(z.object({ kind: text, subject: text, message: text })).exactOptional(),
  }),
  "landing-start": z.object({
    type: z.literal("landing-start"),
    item,
    behind: count.describe("commits on the branch since the item was begun"),
  }),
  "landing-end": z.object({
    type: z.literal("landing-end"),
    item,
    result: z.enum(["landed", "conflict", "failed", "blocked", "refused", "interrupted"]),
    checkedAgain: z.boolean().describe("its checks ran once more, on the merged tree"),
    conflicts: count.describe("of this item in this run so far"),
    paths: z.array(text).describe("files in which they are, or that are in the way"),
  }),
  "items-reopened": z.object({ type: z.literal("items-reopened"), ids: z.array(text), reason: text }),
  "step-start": z.object({ type: z.literal("step-start"), step: text, title: text }),
  "step-end": z.object({ type: z.literal("step-end"), step: text, status: text, message: text.exactOptional() }),
  "iteration-start": z.object({
    type: z.literal("iteration-start"),
    ...named,
    passed: count,
    total: count.nullable(),
    limit: count.exactOptional().describe("the run ends after so many iterations"),
  }),
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
    message: text.nullable(),
    durationMs: ms,
    usage: USAGE_SCHEMA.nullable(),
    reopened: z.array(text).exactOptional().describe("items that had passed and come again because of this one"),
  }),
  "turn-start": z.object({ type: z.literal("turn-start"), agent: text, transcript: text }),
  "turn-end": z.object({
    type: z.literal("turn-end"),
    agent: text,
    reason: text,
    message: text.nullable(),
    durationMs: ms,
    usage: USAGE_SCHEMA,
  }),
  "agent-start": z.object({ type: z.literal("agent-start"), session: text.nullable(), model: text.nullable() }),
  "agent-text": z.object({ type: z.literal("agent-text"), text }),
  "agent-tool-call": z.object({ type: z.literal("agent-tool-call"), id: text.nullable(), tool: text, input: text }),
  "agent-tool-result": z.object({
    type: z.literal("agent-tool-result"),
    id: text.nullable(),
    ok: z.boolean(),
    output: text,
  }),
  "agent-file-change": z.object({
    type: z.literal("agent-file-change"),
    path: text,
    change: z.enum(["added", "changed", "deleted"]),
  }),
  "agent-usage": z.object({ type: z.literal("agent-usage"), scope: z.enum(["step", "total"]), usage: USAGE_SCHEMA }),
  "agent-rate-limit": z.object({
    type: z.literal("agent-rate-limit"),
    status: z.enum(["warning", "retrying", "rejected"]),
    untilMs: ms.nullable(),
    waitMs: ms.nullable(),
    message: text,
  }),
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
    fatal: z.boolean(),
    message: text,
  }),
  "agent-end": z.object({
    type: z.literal("agent-end"),
    status: z.enum(["completed", "cut-off", "failed"]),
    message: text.nullable(),
  }),
  "agent-line-invalid": z.object({ type: z.literal("agent-line-invalid"), reason: text, line: text }),
  "wait-start": z.object({
    type: z.literal("wait-start"),
    agent: text,
    reason: z.enum(["rate-limit", "unavailable"]),
    until: text,
    remainingMs: ms,
    message: text,
  }),
  "wait-delta": z.object({ type: z.literal("wait-delta"), agent: text, remainingMs: ms }),
  "wait-end": z.object({ type: z.literal("wait-end"), agent: text, waitedMs: ms, interrupted: z.boolean() }),
  "check-start": z.object({
    type: z.literal("check-start"),
    name: text,
    scope: text,
    number: count.describe("of `total` checks that run one after the other, from 1"),
    total: count,
  }),
  "check-end": z.object({
    type: z.literal("check-end"),
    name: text,
    scope: text,
    ok: z.boolean(),
    exitCode: z.number().int().nullable(),
    durationMs: ms,
    tail: text,
    failedBefore: z.boolean().exactOptional(),
    beforeWork: z.boolean().exactOptional().describe("it failed before the run's first turn as well"),
  }),
  "tests-changed": z.object({
    type: z.literal("tests-changed"),
    item: item.nullable(),
    findings: z.array(text),
    blocked: z.boolean().describe("the attempt fails for it"),
  }),
  "hook-start": z.object({
    type: z.literal("hook-start"),
    hook: text,
    iteration: z.number().int(),
    parallel: z.boolean(),
    log: text,
  }),
  "hook-end": z.object({
    type: z.literal("hook-end"),
    hook: text,
    iteration: z.number().int(),
    status: z.enum(["in-progress", "completed", "failed", "interrupted"]),
    exitCode: z.number().int().nullable(),
    durationMs: ms,
    message: text.nullable(),
  }),
  "sandbox": z.object({
    type: z.literal("sandbox"),
    on: z.boolean(),
    by: text.describe("how processes are confined, or why they are not"),
    network: z.union([z.enum(["all", "none"]), z.array(text)]).describe("hosts beside the agent's own"),
  }),
  "host-refused": z.object({
    type: z.literal("host-refused"),
    host: text,
    port: z.number().int(),
    by: text.nullable().describe("turn, check, hook or setup"),
  }),
  "state-restored": z.object({ type: z.literal("state-restored"), paths: z.array(text) }),
  "trespass": z.object({
    type: z.literal("trespass"),
    by: z.enum(["agent", "planner"]),
    paths: z.array(text),
    diff: text,
  }),
  "commit": z.object({
    type: z.literal("commit"),
    commit: text,
    subject: text,
    hook: text.exactOptional().describe("made of what this hook changed"),
  }),
  "question": z.object({ type: z.literal("question"), id: text, message: text }),
  "answer": z.object({
    type: z.literal("answer"),
    id: text,
    answer: text,
    source: z.enum(["terminal", "stdin", "answers", "approve", "default", "file", "page"]),
  }),
  "steered": z.object({
    type: z.literal("steered"),
    action: z.enum(["pause", "resume", "stop", "stop-now", "tell"]),
    origin: z.enum(["terminal", "file", "page"]).describe("where the person was: a command elsewhere is `file`"),
    text: text.nullable().describe("what was told"),
    item: text.nullable().describe("told for this item's prompts alone"),
  }),
  "pause-start": z.object({ type: z.literal("pause-start") }),
  "pause-end": z.object({ type: z.literal("pause-end"), pausedMs: ms }),
  "text": z.object({ type: z.literal("text"), title: text, lines: z.array(text) }),
  "note": z.object({
    type: z.literal("note"),
    level: z.enum(["info", "warn"]),
    message: text,
    hook: text.exactOptional().describe("about this hook, and no item"),
  }),
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
  Object.values(EVENT_SCHEMAS).map((schema) => schema.extend(envelope)),
) as never;

/** The JSON Schema of a line. */
export function eventsJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph events, one JSON object a line", ...z.toJSONSchema(EVENT_LINE_SCHEMA, { io: "input" }) };
}
