import { z } from "zod";
import type { NewTask } from "./mutations.ts";
import type { PlanView } from "./view.ts";

const id = z.string().min(1);
const texts = {
  notes: z.string().optional().describe("how to do it"),
  accept: z.string().optional().describe("how to verify it; Verify: `cmd` names a command that Ralph runs"),
  deps: z.array(id).optional().describe("ids of tasks that must be done before"),
  priority: z.enum(["high", "medium", "low"]).optional().describe("none is medium"),
  parent: id.optional().describe("the task that this is a part of"),
  created_from: id.optional().describe("the issue that this fixes"),
  supersedes: id.optional().describe("the task that this replaces"),
};

const spec = z.looseObject({
  t: z.literal("spec"),
  spec: z.string(),
  planned: z.boolean().optional().describe("false: set, and not planned yet"),
}).describe("the current spec");
const task = z.looseObject({
  t: z.literal("task"),
  id,
  spec: z.string(),
  name: z.string(),
  s: z.string().describe("p pending, d done"),
  done_at: z.string().optional().describe("commit of its work; of a task marked by hand, HEAD at that moment"),
  reject: z.string().optional().describe("why it was rejected, while it is tried again"),
  kill: z.string().optional().describe("timeout or context: its turn was ended; it is taken apart"),
  kill_log: z.string().optional().describe("what the ended turn printed"),
  changes_tests: z.array(z.string()).optional().describe("globs of tests that a task which a turn added may change"),
  decompose_depth: z.number().optional().describe("how often a task was cut into parts before it came of it"),
  issue_rounds: z.number().optional().describe("rounds of issue and task that led to it"),
  ...texts,
});
const issue = z.looseObject({
  t: z.literal("issue"),
  id,
  spec: z.string(),
  desc: z.string(),
  issue_rounds: z.number().optional(),
});
const reject = z.looseObject({ t: z.literal("reject"), id, done_at: z.string(), reason: z.string() }).describe(
  "a tombstone",
);

const next = z.union([
  z.object({ action: z.literal("DECOMPOSE"), task }),
  z.object({ action: z.literal("BUILD"), task: task.nullable(), blocked: z.array(z.string()).optional() }),
  z.object({ action: z.literal("VERIFY"), item: z.string() }),
  z.object({ action: z.literal("INVESTIGATE"), items: z.array(issue), count: z.number() }),
  z.object({ action: z.enum(["PLAN", "COMPLETE"]), item: z.null() }),
]);

/** A line of ralph/plan.jsonl; Ralph keeps other keys and types. */
export const PLAN_RECORD_SCHEMA: z.ZodType = z.union([spec, task, issue, reject]);

/** `task add` takes this as a JSON object. */
export const NEW_TASK_SCHEMA: z.ZodType<NewTask> = z.strictObject({
  name: z.string().min(1),
  id: id.optional().describe("begins with t-; only where tasks of one batch depend on each other"),
  spec: z.string().optional().describe("the current spec, when left out"),
  ...texts,
}) as z.ZodType<NewTask>;

/** `query`, and every change, prints this. */
export const PLAN_VIEW_SCHEMA: z.ZodType<PlanView> = z.object({
  spec: z.string().nullable(),
  tasks: z.object({ pending: z.array(task), done: z.array(task) }),
  issues: z.array(issue),
  rejects: z.array(reject),
  stage: z.enum(["PLAN", "DECOMPOSE", "BUILD", "VERIFY", "INVESTIGATE", "COMPLETE"]),
  next,
  problems: z.array(z.object({ line: z.number(), problem: z.string() })),
}) as unknown as z.ZodType<PlanView>;

/** `ralph schema plan` prints this. */
export function planJsonSchema(): unknown {
  const part = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: "input" });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "ralph/plan.jsonl and what the commands on it take and print",
    $defs: { record: part(PLAN_RECORD_SCHEMA), newTask: part(NEW_TASK_SCHEMA), query: part(PLAN_VIEW_SCHEMA) },
    $ref: "#/$defs/query",
  };
}
