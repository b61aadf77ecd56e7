import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editRecord, formatJson, formatRecord } from "../../../lib/workflows/spec/json.ts";
import {
  acceptTasks,
  addIssues,
  addTasks,
  beginSpec,
  type Change,
  doneIssue,
  doneTask,
  rejectTask,
  setSpec,
} from "../../../lib/workflows/spec/mutations.ts";
import {
  doneOf,
  formatPlan,
  parsePlan,
  pendingOf,
  problemsOf,
  tasksOf,
} from "../../../lib/workflows/spec/plan_file.ts";
import { mergeConflict } from "../../../lib/workflows/spec/merge_plan.ts";
import { stageOf } from "../../../lib/workflows/spec/item.ts";
import type { Plan } from "../../../lib/workflows/spec/types.ts";
import { changedLines } from "../../../lib/workflows/spec/view.ts";

/** Lines as real files have them: every record type, status, spelling and spacing that was seen, and damage. */
const LINES = [
  '{"t": "spec", "spec": "coverage.md"}',
  '{"t":"task","id":"t-1a2b","spec":"coverage.md","name":"compact, by a second writer","s":"p","timeout_ms":1.0}',
  '{"t": "task", "id": "t-3c4d5e", "spec": "a.md", "desc": "legacy \\u00fc name", "s": "d", "done_at": "manually_verified"}',
  '{"t": "task", "id": "t-gc-blocks", "spec": "a.md", "name": "n", "s": "a", "deps": ["t-1a2b"], "phase": 2, "changed_files": ["a", {"b": [1, 2]}]}',
  '{"t": "task", "id": "t-5e6f", "spec": "a.md", "name": "x", "s": "p", "decompose": true, "decompose_depth": 1, "log_file": "l"}',
  '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "the same id again", "s": "p"}',
  '{"t": "task", "id": "t-no-name", "s": "p"}',
  '{"t": "issue", "id": "i-7g8h", "spec": "coverage.md", "desc": "Flaky test in CI"}',
  '{"t": "reject", "id": "t-1a2b", "done_at": "abc1234", "reason": "why", "timestamp": 1.50e3}',
  '{"t": "accept", "id": "t-1a2b", "done_at": "abc1234"}',
  '{"t": "config", "timeout_ms": 900000, "max_iterations": 10}',
  '{"t": "stage", "stage": "BUILD"}',
  '{"t": "tombstone", "id": "t-9"}',
  '{"t": "note", "text": "kept"}',
  '{"no": "type"}',
  '  {"t" : "task" , "id":"t-sp", "spec":"a.md","name":"spaced" ,"s":"p"}  ',
  "",
  "   ",
  "not json",
  '{"t": "task", "id": "t-cut", "na',
  "[1, 2]",
  "null",
  "\u00e9\u{1f600}",
] as const;

const file = fc.tuple(
  fc.array(fc.constantFrom<string>(...LINES), { maxLength: 12 }),
  fc.constantFrom("\n", "\r\n"),
  fc.boolean(),
  fc.boolean(),
)
  .map(([lines, newline, closed, bom]) =>
    `${bom ? "\uFEFF" : ""}${lines.join(newline)}${closed && lines.length > 0 ? newline : ""}`
  );

describe("parsePlan()", () => {
  test("reads the same over a plan that is known as without one, whichever lines have changed", () => {
    fc.assert(
      fc.property(file, file, (before, text) => {
        const fresh = parsePlan(text, "plan.jsonl");
        const plan = parsePlan(text, "plan.jsonl", parsePlan(before, "plan.jsonl"));
        expect(plan).toEqual(fresh);
        const { lines } = parsePlan(text, "plan.jsonl", fresh);
        expect(lines.every((line, index) => line === fresh.lines[index]), "nothing is read twice").toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("a line that cannot be read, or an id that is there twice, is a problem, and nothing else is", () => {
    fc.assert(
      fc.property(file, (text) => {
        const plan = parsePlan(text, "plan.jsonl");
        const names = plan.lines.flatMap(({ entry }) =>
          entry.type === "task"
            ? [entry.task.id]
            : entry.type === "issue"
            ? [entry.issue.id]
            : entry.type === "spec"
            ? ["spec"]
            : []
        );
        const unread = plan.lines.filter(({ entry }) => entry.type === "invalid").length;
        expect(problemsOf(plan)).toHaveLength(unread + names.length - new Set(names).size);
      }),
      { numRuns: 300 },
    );
  });
});

describe("changedLines()", () => {
  test("names what was added, done and accepted, and nothing beside it", () => {
    const line = (id: string, more: object): string =>
      JSON.stringify({ t: "task", id, spec: "a.md", name: `n ${id}`, ...more });
    const plan = (...lines: readonly string[]): Plan => parsePlan(`${lines.join("\n")}\n`, "plan.jsonl");
    const spec = '{"t": "spec", "spec": "a.md"}';
    const [one, two, three] = ["t-1", "t-2", "t-3"].map((id) => line(id, { s: "p" })) as [string, string, string];
    const done = line("t-2", { s: "d" });
    const issue = '{"t": "issue", "id": "i-1", "spec": "a.md", "desc": "found"}';

    expect(changedLines(plan(spec, one, two, three), plan(spec, one, done, three))).toEqual(["done t-2  n t-2"]);
    expect(changedLines(plan(spec, one, done, three), plan(spec, one, three))).toEqual(["accepted t-2  n t-2"]);
    expect(changedLines(plan(spec, one), plan(spec, one, two, issue))).toEqual([
      "added t-2  n t-2",
      "added i-1  found",
    ]);
    expect(changedLines(plan(spec, one, issue), plan(spec, one))).toEqual(["done i-1  found"]);
    expect(changedLines(plan(spec, one, two), plan('{"t": "spec", "spec": "b.md"}', one, two))).toEqual(["spec: b.md"]);
    expect(changedLines(plan(spec, one, two), plan(spec, one, two))).toEqual([]);
  });
});

describe("formatPlan()", () => {
  test("gives back byte for byte what parsePlan() read, whatever it is", () => {
    fc.assert(
      fc.property(fc.oneof(file, fc.string()), (text) => {
        fc.pre(!/^(<{7}|\|{7}|={7}|>{7})(?: |\r?$)/m.test(text));
        expect(formatPlan(parsePlan(text, "plan.jsonl"))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("leaves every line that a change is not about as it was", () => {
    fc.assert(
      fc.property(file, (text) => {
        const plan = parsePlan(text, "plan.jsonl");
        fc.pre(pendingOf(plan).length > 0);
        const { plan: changed } = doneTask(plan, { head: "abc1234" }) as Change;
        const before = text.split("\n");
        const after = formatPlan(changed).replace(/\n$/, "").split("\n");
        const different = before.filter((line, index) =>
          line !== after[index] && !(line === "" && index === before.length - 1)
        );
        // Two lines of one id are both meant: what happens then is not defined.
        expect(different.length).toBeLessThanOrEqual(
          tasksOf(plan).length - new Set(tasksOf(plan).map(({ id }) => id)).size + 1,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("editRecord()", () => {
  test("keeps the spelling of values that it does not change", () => {
    const line =
      '{"t":"task","id":"t-1","spec":"a","name":"n{\\"}","s":"p","timeout_ms":1.0,"big":12345678901234567890,"o":{"a": [1,2]}}';

    expect(editRecord(line, { s: "d", done_at: "abc" })).toBe(
      '{"t": "task", "id": "t-1", "spec": "a", "name": "n{\\"}", "s": "d", "done_at": "abc", "timeout_ms": 1.0, "big": 12345678901234567890, "o": {"a": [1,2]}}',
    );
  });

  test("changes what it is asked to and nothing else, for any record", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (record, key, value) => {
        fc.pre(value !== null && key !== "__proto__" && !Object.hasOwn(record, "__proto__"));
        const edited = JSON.parse(editRecord(JSON.stringify(record), { [key]: value }));
        expect(edited).toEqual(JSON.parse(JSON.stringify({ ...record, [key]: value })));
      }),
    );
  });
});

describe("formatJson()", () => {
  test("spaces and escapes as the plan's first writer did", () => {
    expect(
      formatRecord({ s: "p", name: "Grüße \u{1f600}\u007f\n", t: "task", id: "t-1", deps: ["a", "b"], n: undefined }),
    ).toBe(
      '{"t": "task", "id": "t-1", "name": "Gr\\u00fc\\u00dfe \\ud83d\\ude00\\u007f\\n", "deps": ["a", "b"], "s": "p"}',
    );
    expect(formatJson({ a: [], b: {}, c: null, d: 1.5, e: true })).toBe(
      '{"a": [], "b": {}, "c": null, "d": 1.5, "e": true}',
    );
  });
});

describe("problemsOf()", () => {
  test("tells the number of each line that cannot be read, and of ids that stand there twice", () => {
    const text = [
      '{"t": "spec", "spec": "a.md"}',
      "oops",
      LINES[1],
      '{"t": "task", "id": "t-x", "name": 3, "s": "p"}',
      LINES[5],
    ].join("\n");

    const problems = problemsOf(parsePlan(text, "plan.jsonl"));

    expect(problems.map(({ line }) => line)).toEqual([2, 4, 5]);
    expect(problems[1]?.problem).toBe("name must be a string (got: 3)");
    expect(problems[2]?.problem).toBe("t-1a2b is on line 3 already; both are kept");
  });
});

describe("mergeConflict()", () => {
  const task = (id: string, rest = '"s": "p"'): string => `{"t": "task", "id": "t-${id}", "name": "${id}", ${rest}}`;
  const issue = (id: string): string => `{"t": "issue", "id": "i-${id}", "desc": "${id}"}`;
  /** The file as git leaves it where all lines are in conflict. */
  const conflict = (ours: readonly string[], theirs: readonly string[], base?: readonly string[]): string =>
    [
      "<<<<<<< HEAD",
      ...ours,
      ...base === undefined ? [] : ["||||||| base", ...base],
      "=======",
      ...theirs,
      ">>>>>>> x",
      "",
    ]
      .join("\n");
  const done = '"s": "d", "done_at": "abc"';

  test.each([
    ["what both sides added is kept", [], [task("a")], [task("b"), issue("1")], [task("a"), task("b"), issue("1")], []],
    ["what one side accepted is not pending again", [task("a"), task("b")], [task("b")], [
      task("a"),
      task("b"),
      issue("1"),
    ], [
      task("b"),
      issue("1"),
    ], []],
    ["what one side did is kept once", [task("a")], [task("a", done)], [task("a"), task("c")], [
      task("a", done),
      task("c"),
    ], []],
    [
      "fields that one side each changed come together; what is done is not killed",
      [task("a")],
      [task("a", done)],
      [
        task("a", '"s": "p", "priority": "high", "kill": "timeout"'),
      ],
      [task("a", `${done}, "priority": "high"`)],
      [],
    ],
    [
      "a field that both changed is this branch's, and named",
      [task("a", '"notes": "0", "s": "p"')],
      [
        task("a", '"notes": "1", "s": "p"'),
      ],
      [task("a", '"notes": "2", "s": "p"')],
      [task("a", '"notes": "1", "s": "p"')],
      [
        "t-a: both sides changed notes: this branch's is kept",
      ],
    ],
    ["what one side removed and the other changed stays", [task("a")], [], [task("a", done)], [task("a", done)], [
      "t-a: removed on one side, changed on the other: kept",
    ]],
    ["what cannot be read stays", ["{broken"], ["{broken", "{mine"], ["{broken", "{theirs"], [
      "{broken",
      "{mine",
      "{theirs",
    ], []],
  ])("%s", (_name, base, ours, theirs, merged, warnings) => {
    const expected = { text: merged.map((line) => `${line}\n`).join(""), warnings };

    expect(mergeConflict(conflict(ours, theirs), base.map((line) => `${line}\n`).join(""), "p")).toEqual(expected);
    expect(mergeConflict(conflict(ours, theirs, base), null, "p")).toEqual(expected);
  });

  test("without what it was before nothing is taken as removed or done", () => {
    expect(mergeConflict(conflict([task("a", done), task("b")], [task("a")]), null, "p")).toEqual({
      text: `${task("a")}\n${task("b")}\n`,
      warnings: ["t-a: the sides differ, and what it was before is not known: it stays pending"],
    });
  });

  test("a plan in conflict is refused, with its line", () => {
    expect(() => parsePlan(conflict([task("a")], []), "ralph/plan.jsonl")).toThrow(
      "ralph/plan.jsonl:1: git left a merge conflict here",
    );
  });
});

type Command = readonly [name: string, change: (plan: Plan) => Change | null];

const random = (length: number): string => Math.random().toString(36).slice(2, 2 + length).padEnd(length, "0");
const COMMANDS: readonly Command[] = [
  ["set-spec a.md", (plan) => setSpec(plan, "a.md")],
  ["plan b.md", (plan) => beginSpec(plan, "b.md")],
  ["task add", (plan) => addTasks(plan, [{ id: `t-${random(4)}`, name: "a task" }])],
  [
    "task add --deps",
    (plan) => addTasks(plan, [{ id: `t-${random(4)}`, name: "b", deps: tasksOf(plan).slice(-1).map(({ id }) => id) }]),
  ],
  ["task done", (plan) => doneTask(plan, { head: "abc1234" })],
  ["task done last", (plan) => doneTask(plan, { id: pendingOf(plan).at(-1)?.id, head: "abc1234" })],
  ["task accept", (plan) => acceptTasks(plan)],
  ["task reject", (plan) => rejectTask(plan, { reason: "no" })],
  ["issue add", (plan) => addIssues(plan, [{ id: `i-${random(4)}`, desc: "flaky" }])],
  ["issue done", (plan) => doneIssue(plan)],
];

/** The subject of the commands, kept apart from the file: the seed's table is read off this. */
interface Model {
  spec: string | null;
  planned: boolean;
  pending: number;
  done: number;
  issues: number;
}

function modelStage({ spec, planned, pending, done, issues }: Model): string {
  if (spec === null || (!planned && pending + done === 0)) return "PLAN";
  return pending > 0 ? "BUILD" : done > 0 ? "VERIFY" : issues > 0 ? "INVESTIGATE" : "COMPLETE";
}

/** @returns whether the command is possible */
function act(model: Model, name: string): boolean {
  const own = model.spec;
  switch (name) {
    case "set-spec a.md":
      if (model.spec === null) model.planned = false;
      model.spec = "a.md";
      return true;
    case "task add":
    case "task add --deps":
      if (own !== null) model.pending += 1;
      return own !== null;
    case "task done":
    case "task done last":
      if (model.pending === 0) return false;
      model.pending -= 1;
      model.done += 1;
      return true;
    case "task accept":
      if (model.done === 0) return false;
      model.done = 0;
      model.planned = true;
      return true;
    case "task reject":
      if (model.done === 0) return false;
      model.done -= 1;
      model.pending += 1;
      return true;
    case "issue add":
      if (own !== null) model.issues += 1;
      return own !== null;
    case "issue done":
      if (model.issues === 0) return false;
      model.issues -= 1;
      return true;
    default:
      throw new Error(name);
  }
}

describe("stageOf()", () => {
  test("follows the table after any sequence of commands, and what cannot be done changes nothing", () => {
    const commands = COMMANDS.filter(([name]) => name !== "plan b.md");
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...commands), { maxLength: 40 }), (sequence) => {
        let plan = parsePlan(null, "plan.jsonl");
        const model: Model = { spec: null, planned: false, pending: 0, done: 0, issues: 0 };
        for (const [name, change] of sequence) {
          const isPossible = act(model, name);
          if (isPossible) plan = parsePlan(formatPlan((change(plan) as Change).plan), "plan.jsonl");
          else expect(() => change(plan)).toThrow(/no |needs/);
          expect(stageOf(plan)).toBe(modelStage(model));
          expect([pendingOf(plan).length, doneOf(plan).length]).toEqual([model.pending, model.done]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("is DECOMPOSE while a pending task was killed", () => {
    const text =
      '{"t": "spec", "spec": "a.md"}\n{"t": "task", "id": "t-1", "spec": "a.md", "name": "n", "s": "p", "kill": "timeout"}\n';

    expect(stageOf(parsePlan(text, "plan.jsonl"))).toBe("DECOMPOSE");
    expect(stageOf(parsePlan(text.replace('"s": "p"', '"s": "d"'), "plan.jsonl"))).toBe("VERIFY");
  });
});

describe("beginSpec()", () => {
  const text = [
    '{"t": "spec", "spec": "old.md"}',
    '{"t": "task", "id": "t-1", "spec": "old.md", "name": "n", "s": "p"}',
    '{"t": "issue", "id": "i-1", "spec": "old.md", "desc": "d"}',
    '{"t": "reject", "id": "t-1", "done_at": "abc", "reason": "r"}',
    "",
  ].join("\n");

  test("takes the tasks of another spec and the tombstones away and keeps the issues", () => {
    expect(formatPlan(beginSpec(parsePlan(text, "p"), "new.md").plan)).toBe(
      '{"t": "spec", "spec": "new.md", "planned": false}\n{"t": "issue", "id": "i-1", "spec": "old.md", "desc": "d"}\n',
    );
  });

  test("changes nothing for the same spec while tasks are left", () => {
    expect(formatPlan(beginSpec(parsePlan(text, "p"), "old.md").plan)).toBe(text);
  });
});
