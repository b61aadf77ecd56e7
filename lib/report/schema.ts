/**
 * The schema of `ralph report --format json`: what `ralph schema report` prints. Held equal to the types by a test.
 *
 * @module
 */
import { z } from "zod";
import { USAGE_SCHEMA, USAGE_TOTAL_SCHEMA } from "../events/schema.ts";
import { REPORT_VERSION, type RunReport } from "./types.ts";

const text = z.string();
const known = text.nullable();
const count = z.number().int().nonnegative();
const ms = z.number().nonnegative();

const turn = z.object({
  agent: text,
  transcript: text.describe("relative to the root"),
  reason: known.describe("how it ended; null: it did not end in this run"),
  message: known,
  durationMs: ms.nullable(),
  usage: USAGE_SCHEMA.nullable(),
});
const check = z.object({
  name: text,
  scope: text,
  ok: z.boolean(),
  exitCode: z.number().int().nullable(),
  durationMs: ms,
  beforeTurn: z.boolean().describe("it ran before the agent's turn"),
  failedBefore: z.boolean().describe("it failed before the run's first turn as well"),
  tail: known.describe("the end of what it printed, where it failed"),
});
const commit = z.object({
  commit: text,
  subject: text,
  filesChanged: count.nullable().describe("null: git no longer has it, or it is a merge"),
  by: z.enum(["ralph", "other"]).describe("other: made while the run lasted, by the agent or another person"),
});
const attempt = z.object({
  iteration: count,
  number: count.describe("over all runs"),
  startedAt: text,
  result: known.describe("null: the run ended before the attempt did"),
  settlement: known,
  message: known,
  durationMs: ms.nullable(),
  changes: z.object({ paths: z.array(text), files: count, added: count, removed: count }).nullable().describe(
    "what its turn changed",
  ),
  turns: z.array(turn),
  checks: z.array(check),
  commits: z.array(commit),
});
const note = z.object({ at: text, item: known, message: text });

/** A report. */
export const REPORT_SCHEMA: z.ZodType<RunReport> = z.object({
  version: z.literal(REPORT_VERSION).describe("version of this schema"),
  run: text,
  root: text,
  folder: text.describe("relative to the root"),
  state: z.enum(["ended", "running", "cut-off", "empty"]).describe(
    "cut-off: no end was recorded, no process is at work",
  ),
  running: z.object({ pid: count, since: text }).nullable(),
  status: known.describe("how the last part ended; null: it has not, or nothing was recorded"),
  reasons: z.array(text),
  next: z.array(text).describe("what to do next"),
  startedAt: known.describe("the first event, ISO 8601"),
  endedAt: known.describe("the last event"),
  durationMs: ms.nullable(),
  agents: z.array(z.object({
    name: text,
    models: z.array(text),
    turns: count,
    usage: USAGE_TOTAL_SCHEMA,
    attempts: count.describe("at items; reviews are none"),
    passed: count.describe("of the attempts"),
  })),
  usage: USAGE_TOTAL_SCHEMA.describe("all turns together, those of hooks left out"),
  counts: z.object({ verified: count, unverified: count, parked: count, open: count }).describe("of the last loop"),
  parts: z.array(z.object({
    name: text,
    kind: z.enum(["step", "loop", "turns"]),
    scope: known.describe("which feature or sprint"),
    startedAt: text,
    endedAt: known,
    status: known,
    reasons: z.array(text),
    turns: z.array(turn).describe("outside an item"),
  })),
  items: z.array(z.object({
    id: text,
    kind: text,
    title: text,
    criteria: z.array(text).describe("what it has to fulfil"),
    part: count.describe("index into parts"),
    state: z.enum([
      "verified",
      "unverified",
      "parked",
      "blocked",
      "failed",
      "not-done",
      "trespassed",
      "agent-unusable",
      "interrupted",
      "reopened",
      "in-progress",
    ]),
    reason: known,
    usage: USAGE_TOTAL_SCHEMA,
    attempts: z.array(attempt),
  })),
  commits: z.array(commit).describe("those that belong to no item"),
  base: known.describe("the commit that the first loop began on"),
  project: text.describe("the name of the root's folder"),
  goal: known.describe("what a person asked for"),
  branch: known.describe("that the last loop worked on"),
  work: z.object({
    branch: known,
    base: known.describe("the branch that it came from"),
    from: text.describe("the last commit that both have"),
    head: text,
    commits: count,
    files: count,
    added: count.describe("lines"),
    removed: count.describe("lines"),
  }).nullable().describe("what that branch held when the last loop ended"),
  notices: z.array(z.object({ kind: text, subject: text, message: text })).describe(
    "what is to be known beside the verdict",
  ),
  hooks: z.array(z.object({
    hook: text,
    iteration: z.number().int(),
    parallel: z.boolean(),
    log: text,
    status: known,
    exitCode: z.number().int().nullable(),
    durationMs: ms.nullable(),
    message: known,
  })),
  waits: z.array(z.object({
    at: text,
    agent: text,
    reason: text,
    until: text,
    message: text,
    waitedMs: ms.nullable().describe("null: the run ended in it"),
    interrupted: z.boolean(),
  })),
  landings: z.object({
    lanes: count,
    landed: count,
    checkedAgain: count.describe("landings whose checks ran once more, with what was merged meanwhile"),
    failedTogether: count.describe("items that passed alone, and failed with what was merged meanwhile"),
    conflicts: count.describe("each of them cost a turn"),
  }).nullable().describe("null: items were worked on one after another"),
  sandbox: z.object({
    on: z.boolean(),
    by: text,
    network: z.union([z.enum(["all", "none", "unknown"]), z.array(text)]),
    refused: z.array(z.object({ at: text, host: text, port: z.number().int(), by: known })),
  }).nullable().describe("how agents and checks were confined; null: not at all"),
  restored: z.array(z.object({ at: text, item: known, paths: z.array(text) }))
    .describe("state files that were edited manually"),
  trespasses: z.array(z.object({
    at: text,
    item: known,
    by: z.enum(["agent", "planner"]),
    paths: z.array(text),
    diff: text,
  }))
    .describe("what was written outside the allowed paths"),
  testsChanged: z.array(z.object({ at: text, item: known, findings: z.array(text), blocked: z.boolean() }))
    .describe("judging files that changed, and what fails with the old ones; blocked: the attempt failed for it"),
  warnings: z.array(note),
  notes: z.array(note),
  answers: z.array(z.object({ id: text, question: known, answer: text, source: text })),
  events: z.object({
    file: text,
    count,
    malformed: count.describe("lines that are no event: left out"),
    problems: z.array(text).describe("the first of them, and why"),
    unknown: count.describe("events of a kind or version that this Ralph does not know: left out"),
  }),
});

/** The JSON Schema of a report. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph report", ...z.toJSONSchema(REPORT_SCHEMA, { io: "input" }) };
}
