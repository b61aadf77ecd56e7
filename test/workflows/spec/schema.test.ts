import { describe, expect, test } from "vitest";
import { parsePlan } from "../../../lib/workflows/spec/plan_file.ts";
import {
  NEW_TASK_SCHEMA,
  PLAN_RECORD_SCHEMA,
  PLAN_VIEW_SCHEMA,
  planJsonSchema,
} from "../../../lib/workflows/spec/schema.ts";
import { readTask } from "../../../lib/workflows/spec/task_input.ts";
import { viewPlan } from "../../../lib/workflows/spec/view.ts";

const LINES = [
  '{"t": "spec", "spec": "coverage.md"}',
  '{"t": "task", "id": "t-1a2b", "spec": "coverage.md", "name": "Add parser unit tests", "notes": "n", "accept": "a", "s": "p"}',
  '{"t": "task", "id": "t-3c4d", "spec": "coverage.md", "name": "Fix", "deps": ["t-1a2b"], "s": "d", "done_at": "abc1234", "extra": 1}',
  '{"t": "issue", "id": "i-7g8h", "spec": "coverage.md", "desc": "Flaky test in CI"}',
  '{"t": "reject", "id": "t-1a2b", "done_at": "abc123", "reason": "Output format does not match"}',
];

describe("planJsonSchema()", () => {
  test("describes what every stage prints", () => {
    for (let count = 0; count <= LINES.length; count++) {
      for (const lines of [LINES.slice(0, count), LINES.slice(0, 1).concat(LINES.slice(count))]) {
        expect(PLAN_VIEW_SCHEMA.safeParse(viewPlan(parsePlan(lines.join("\n"), "plan.jsonl"))).success).toBe(true);
      }
    }
    expect(LINES.map((line) => PLAN_RECORD_SCHEMA.safeParse(JSON.parse(line)).success)).toEqual(LINES.map(() => true));
    expect(JSON.stringify(planJsonSchema())).toContain('"created_from"');
  });

  test.each([
    ['{"name": "a"}', true],
    ['{"name": "a", "deps": ["t-1"], "priority": "high", "id": "t-x"}', true],
    ['{"name": "a", "prio": "high"}', false],
    ['{"name": "a", "priority": "urgent"}', false],
    ['{"name": 1}', false],
    ['{"name": "a", "deps": "t-1"}', false],
    ['{"notes": "a"}', false],
  ])("agrees with readTask() on %s", (text, isValid) => {
    const read = (): unknown => readTask(text, "the task");

    expect(NEW_TASK_SCHEMA.safeParse(JSON.parse(text)).success).toBe(isValid);
    if (isValid) expect(read()).toEqual(JSON.parse(text));
    else expect(read).toThrow("the task: ");
  });
});
