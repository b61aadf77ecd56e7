import { expect, test } from "vitest";
import { begunPlan } from "../../../lib/workflows/exec/format.ts";

test("a begun plan's goal is read as JSON, whatever text the file quotes before it", () => {
  const quoted = JSON.stringify({
    note: '"goal": "another"',
    answers: [{ goal: "inner" }],
    goal: 'a "b"\n',
    state: "draft",
  });
  expect(begunPlan(quoted)).toEqual({ goal: 'a "b"\n', state: "draft" });
  for (const text of [null, "", "{", "null", "[]", '{"goal": 1, "state": "draft"}']) expect(begunPlan(text)).toBeNull();
});
