/**
 * The schema of `ralph report --format json`: what `ralph schema report` prints. The types are
 * made from it.
 *
 * @module
 */
import { z } from "zod";
import { named, record } from "../config/parts.ts";
import * as events from "../events/schema.ts";
import type { GateReport, RunReport } from "../generated/report.ts";
import { REPORT_VERSION } from "./types.ts";

const text = z.string();
const known = text.nullable();
const count = z.number().int().nonnegative();
const ms = z.number().nonnegative();

const turn = record("TurnReport", "One agent process.", {
  agent: text,
  transcript: text.describe("relative to the root"),
  reason: known.describe("how it ended; null: it did not end in this run"),
  message: known,
  durationMs: ms.nullable(),
  usage: events.USAGE_SCHEMA.nullable(),
});
const check = record("CheckReport", "A check that ran.", {
  id: text.describe("the same wherever the same command ran, also where it is masked"),
  name: text,
  command: text.describe("secrets masked; a function's name"),
  scope: text,
  ok: z.boolean(),
  exitCode: z.number().int().nullable(),
  durationMs: ms,
  beforeTurn: z.boolean().describe("it ran before the agent's turn"),
  failedBefore: z.boolean().describe("it failed before the run's first turn as well"),
  tail: known.describe("the end of what it printed, where it failed"),
  tests: events.TESTS_SCHEMA.exactOptional(),
});
const notices = z.array(events.NOTICE_SCHEMA).describe("what is to be known beside the verdict");
const commit = record("CommitReport", "A commit.", {
  commit: text,
  subject: text,
  filesChanged: count.nullable().describe("null: git no longer has it, or it is a merge"),
  by: z.enum(["ralph", "other"]).describe("other: made while the run lasted, by the agent or another person"),
});
const attempt = record("AttemptReport", "One attempt: turn, checks, settlement.", {
  iteration: count,
  number: count.describe("over all runs"),
  startedAt: text,
  result: known.describe("null: the run ended before the attempt did"),
  settlement: known,
  message: known,
  durationMs: ms.nullable(),
  changes: events.CHANGES_SCHEMA.nullable().describe("what its turn changed"),
  turns: z.array(turn),
  checks: z.array(check),
  commits: z.array(commit),
});
const note = record("NoteReport", "A remark of the run.", { at: text, item: known, message: text });

/** A report. */
export const REPORT_SCHEMA: z.ZodType<RunReport> = record(
  "RunReport",
  "A run, read from its events and git. Times are ISO 8601, paths relative to the root.",
  {
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
    agents: z.array(record("AgentUse", "An agent, the models that it named, and the result of its turns.", {
      name: text,
      models: z.array(text),
      turns: count,
      usage: events.USAGE_TOTAL_SCHEMA,
      attempts: count.describe("at items; reviews are none"),
      passed: count.describe("of the attempts"),
    })),
    usage: events.USAGE_TOTAL_SCHEMA.describe("all turns together, those of hooks left out"),
    counts: record("ItemCounts", "Items by their state at the end of the run.", {
      verified: count,
      unverified: count,
      parked: count,
      open: count,
    }).describe("of the last loop"),
    parts: z.array(record("RunPart", "A step or a loop of the run.", {
      name: text,
      kind: z.enum(["step", "loop", "turns"]),
      scope: known.describe("which feature or sprint"),
      startedAt: text,
      endedAt: known,
      status: known,
      reasons: z.array(text),
      turns: z.array(turn).describe("outside an item"),
    })),
    items: z.array(record("ItemReport", "An item, and every attempt of this run at it.", {
      id: text,
      kind: text,
      title: text,
      preparatory: z.boolean().describe("it plans or reviews: not counted"),
      criteria: z.array(text).describe("what it has to fulfil"),
      part: count.describe("index into parts"),
      state: named(
        "ItemState",
        "How an item ended at the end of the run.",
        z.enum([
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
      ),
      reason: known,
      usage: events.USAGE_TOTAL_SCHEMA,
      attempts: z.array(attempt),
    })),
    commits: z.array(commit).describe("those that belong to no item"),
    base: known.describe("the commit that the first loop began on"),
    project: text.describe("the name of the root's folder"),
    goal: known.describe("what a person asked for"),
    branch: known.describe("that the last loop worked on"),
    work: events.BRANCH_WORK_SCHEMA.nullable().describe("what that branch held when the last loop ended"),
    checked: known.describe("the commit that its final check saw; `null`: the working tree, or nothing"),
    proved: z.array(text).describe("ids of the checks that passed at the end of the last loop"),
    notices,
    hooks: z.array(record("HookReport", "One run of a hook.", {
      hook: text,
      iteration: z.number().int(),
      parallel: z.boolean(),
      log: text,
      status: known,
      exitCode: z.number().int().nullable(),
      durationMs: ms.nullable(),
      message: known,
    })),
    waits: z.array(record("WaitReport", "A wait for a limit or a provider.", {
      at: text,
      agent: text,
      reason: text,
      until: text,
      message: text,
      waitedMs: ms.nullable().describe("null: the run ended in it"),
      interrupted: z.boolean(),
    })),
    landings: record("LandingsReport", "How work came from the worktrees of several workers.", {
      lanes: count,
      landed: count,
      checkedAgain: count.describe("landings whose checks ran once more, with what was merged meanwhile"),
      failedTogether: count.describe("items that passed alone, and failed with what was merged meanwhile"),
      conflicts: count.describe("each of them cost a turn"),
    }).nullable().describe("null: items were worked on one after another"),
    sandbox: record("SandboxReport", "The sandbox of a run.", {
      on: z.boolean(),
      by: text,
      network: z.union([z.enum(["all", "none", "unknown"]), z.array(text)]),
      refused: z.array(z.object({ at: text, host: text, port: z.number().int(), by: known })),
    }).nullable().describe("how agents and checks were confined; null: not at all"),
    strict: z.boolean().describe('the last loop ran with `trust: "strict"`'),
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
    experiments: z.array(
      z.object({ at: text, item: known, findings: z.array(text), tried: z.array(text), blocked: z.boolean() }),
    ).describe("whether the checks can be believed: what was found and tried; blocked: the work failed for it"),
    warnings: z.array(note),
    notes: z.array(note),
    answers: z.array(
      record("AnswerReport", "A question and its answer.", { id: text, question: known, answer: text, source: text }),
    ),
    events: record("EventsRead", "How well the events could be read.", {
      file: text,
      count,
      malformed: count.describe("lines that are no event: left out"),
      problems: z.array(text).describe("the first of them, and why"),
      unknown: count.describe("events of a kind or version that this Ralph does not know: left out"),
    }),
  },
);

/** The output of `ralph gate --json`. */
export const GATE_SCHEMA: z.ZodType<GateReport> = record("GateReport", "A verdict without a run.", {
  version: z.literal(REPORT_VERSION).describe("version of this schema"),
  status: z.enum(["passed", "failed", "unverified", "aborted"]),
  base: text.describe("the commit whose configuration and tests judge"),
  head: known.describe("the commit that was judged; for work that is not committed one that no branch has"),
  reasons: z.array(text).describe("why it did not pass"),
  notices,
  leftOut: known.describe("the experiments that there was no time for; null: none"),
  checks: z.array(
    named(
      "GateCheck",
      "A check of a verdict without a run.",
      check.pick({ name: true, ok: true, exitCode: true, durationMs: true, tail: true, tests: true }),
    ),
  ),
});

/** The JSON Schema of a verdict without a run. */
export function gateJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph gate", ...z.toJSONSchema(GATE_SCHEMA, { io: "input" }) };
}

/** The JSON Schema of a report. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph report", ...z.toJSONSchema(REPORT_SCHEMA, { io: "input" }) };
}
