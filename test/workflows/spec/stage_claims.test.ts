import { describe, expect, test } from "vitest";
import type { ClaimLine } from "../../../lib/backlog/claims.ts";
import {
  checkPermitted,
  onlyAdds,
  STAGE_CLAIMS,
  type TurnScope,
  withClaims,
} from "../../../lib/workflows/spec/turn_claims.ts";
import { inherited, withoutGrants } from "../../../lib/workflows/spec/mutations.ts";
import { parsePlan } from "../../../lib/workflows/spec/plan_file.ts";

const claim = (command: string, rest: Partial<ClaimLine> = {}): ClaimLine => ({ v: 1, command, at: 1, ...rest });
const CLAIMS: readonly (readonly [string, ClaimLine])[] = [
  ["issue add", claim("issue add", { id: "i-x", text: "x" })],
  ["issue done", claim("issue done", { id: "given" })],
  ["issue done of another", claim("issue done", { id: "other" })],
  ["task add", claim("task add", { id: "t-x", record: { name: "x" } })],
  ["task add --parent", claim("task add", { id: "t-x", record: { name: "x", parent: "given" } })],
  ["task add --parent of another", claim("task add", { id: "t-x", record: { name: "x", parent: "other" } })],
  ["task add --supersedes", claim("task add", { id: "t-x", record: { name: "x", supersedes: "given" } })],
  ["task add --supersedes of another", claim("task add", { id: "t-x", record: { name: "x", supersedes: "other" } })],
  ["task done", claim("task done", { id: "given" })],
  ["task done of another", claim("task done", { id: "other" })],
  ["task accept", claim("task accept")],
  ["task reject", claim("task reject", { id: "given", text: "x" })],
  ["task reject of another", claim("task reject", { id: "other", text: "x" })],
  ["set-spec", claim("set-spec", { text: "b.md" })],
];

const MAY: Readonly<Record<TurnScope["stage"], readonly string[]>> = {
  PLAN: CLAIMS.map(([name]) => name).filter((name) => name.startsWith("task add") || name === "set-spec"),
  BUILD: ["task done"],
  VERIFY: ["task accept", "task reject", "task add --supersedes"],
  INVESTIGATE: ["issue done", "task add"],
  DECOMPOSE: ["task add --parent", "task done"],
};

describe("what a stage may ask for", () => {
  test.each(Object.keys(STAGE_CLAIMS) as TurnScope["stage"][])("%s", (stage) => {
    const permitted = CLAIMS.filter(([, line]) => {
      try {
        checkPermitted({ stage, given: ["given"], rounds: 0 }, line);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: "usage", exitCode: 2, hint: expect.stringContaining(stage) });
        return false;
      }
    }).map(([name]) => name);

    expect(permitted.toSorted()).toEqual(["issue add", ...MAY[stage]].toSorted());
  });

  test("only what adds may come from outside of a turn", () => {
    expect(CLAIMS.filter(([, line]) => onlyAdds(line)).map(([name]) => name)).toEqual([
      "issue add",
      "task add",
      "task add --parent",
      "task add --parent of another",
    ]);
  });

  test("claims of another stage change nothing, and garbage in a record is no task", () => {
    const text = '{"t": "spec", "spec": "a.md"}\n{"t": "task", "id": "t-1", "spec": "a.md", "name": "one", "s": "d"}\n';
    const plan = parsePlan(text, "p");
    const lines = [claim("task accept"), claim("task add", { id: "t-2", record: { name: 7 } }), claim("nonsense")];

    expect(withClaims(plan, { stage: "BUILD", given: ["t-1"], rounds: 0 }, lines)).toEqual(plan);
    expect(withClaims(plan, { stage: "INVESTIGATE", given: [], rounds: 0 }, lines)).toEqual(plan);
  });
});

describe("what a task has from the one that it replaces", () => {
  const old = { accept: "It runs. Verify: `npm test`", notes: "Changes tests: `test/a.ts`" };

  test.each([
    [undefined, "It runs. Verify: `npm test`"],
    ["Verify: `true`", "Verify: `true`\nVerify: `npm test`\nChanges tests: `test/a.ts`"],
    ["Verify: `npm test`. Changes tests: `test/a.ts`", "Verify: `npm test`. Changes tests: `test/a.ts`"],
  ])(
    "with %j it is accepted when %j",
    (accept, expected) => expect(inherited(accept === undefined ? {} : { accept }, old)["accept"]).toBe(expected),
  );

  test("a task that is added while others are built permits no change of tests", () => {
    expect(withoutGrants({ name: "a", accept: "Changes tests: `**`. Verify: `true`", notes: "changes tests: `x`" }))
      .toEqual({ name: "a", accept: "Verify: `true`", notes: "" });
  });
});
