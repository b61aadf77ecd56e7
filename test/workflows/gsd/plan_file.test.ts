import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, expectationOf } from "../../../lib/workflows/gsd/verify_commands.ts";
import { parsePlan } from "../../../lib/workflows/gsd/plan_file.ts";
import type { PlanDocument } from "../../../lib/workflows/gsd/types.ts";

const FENCE = "```";

function read(...lines: string[]): PlanDocument {
  return parsePlan(lines.join("\n"), "01-01-PLAN.md").plan;
}

function commandsOf(plan: PlanDocument): readonly string[] {
  return [...plan.tasks, plan.verification].flatMap(({ commands }) => commands.map(({ command }) => command));
}

function problemsOf(...lines: string[]): readonly string[] {
  return parsePlan(lines.join("\n"), "01-01-PLAN.md").diagnostics.map(({ file, line, message }) =>
    `${file}:${line}: ${message}`
  );
}

describe("parsePlan()", () => {
  test("reads the plan of GSD's own form: front matter, tasks, verify, verification, context, success criteria", () => {
    const plan = read(
      "---",
      "phase: 01-base",
      "plan: 01",
      "type: execute",
      "depends_on: []",
      "files_modified: [a.go, b.go]",
      "requirements:",
      "  - A-1",
      "  - A-2",
      "---",
      "",
      "<objective>",
      "Build the base.",
      "",
      "Purpose: x",
      "</objective>",
      "",
      "<context>",
      "@.planning/PROJECT.md",
      "@src/a.go",
      "</context>",
      "",
      "<tasks>",
      '<task type="auto">',
      "  <name>Create user model</name>",
      "  <action>Create it</action>",
      "  <verify>",
      "    <command>go build ./...</command>",
      "    <expect>exit 0</expect>",
      "  </verify>",
      "  <done>It compiles</done>",
      "</task>",
      '<task type="checkpoint:human-verify" gate="blocking">',
      "  <what-built>All</what-built>",
      "</task>",
      "</tasks>",
      "",
      "<verification>",
      '  <check name="tests">',
      "    <command>go test ./...</command>",
      "    <expect>exit 0</expect>",
      "  </check>",
      "</verification>",
      "",
      "<success_criteria>",
      "- It works",
      "- [ ] It is fast",
      "</success_criteria>",
    );

    expect(plan.frontMatter).toEqual({
      phase: "01-base",
      plan: "01",
      type: "execute",
      depends_on: [],
      files_modified: ["a.go", "b.go"],
      requirements: ["A-1", "A-2"],
    });
    expect(plan.title).toBe("Build the base.");
    expect(plan.tasks.map(({ number, name, type, checkpoint }) => [number, name, type, checkpoint])).toEqual([
      [1, "Create user model", "auto", false],
      [2, "All", "checkpoint:human-verify", true],
    ]);
    expect(plan.tasks[0]?.commands).toEqual([{ command: "go build ./...", expect: {}, name: null, line: 28 }]);
    expect(plan.verification.commands).toEqual([{ command: "go test ./...", expect: {}, name: "tests", line: 40 }]);
  });

  test.each([
    ["type=auto", '<task type="auto">', false],
    ["a TDD task", '<task type="auto" tdd="true">', false],
    ["no type", "<task>", false],
    ["an unknown type", '<task type="tracer">', false],
    ["a decision", '<task type="checkpoint:decision" gate="advisory">', true],
    ["an interactive task", "<task type='interactive'>", true],
    ["a manual task", '<task id="3" type="manual">', true],
    ["attributes on several lines", '<task\n  type="checkpoint:human-action"\n  gate="blocking">', true],
  ])("%s is a checkpoint or not", (_, open, checkpoint) => {
    expect(read(open, "<name>a > b</name>", "</task>").tasks.map((task) => task.checkpoint)).toEqual([checkpoint]);
  });

  test("a checkpoint without a name is named by what a person is to see, decide or do", () => {
    const plan = read(
      '<task type="checkpoint:human-verify" gate="blocking">',
      "  <what-built>The whole login page</what-built>",
      "  <how-to-verify>",
      "    1. Open it",
      "  </how-to-verify>",
      "</task>",
      '<task type="checkpoint:decision" id="x">',
      "  <decision>Which database</decision>",
      "</task>",
      '<task type="checkpoint:human-action">',
      "  <action>",
      "    1. Log in at the provider",
      "  </action>",
      "</task>",
      '<task type="auto">',
      "  <action>Work</action>",
      "</task>",
    );

    expect(plan.tasks.map(({ name }) => name)).toEqual([
      "The whole login page",
      "Which database",
      "Log in at the provider",
      "Task 4",
    ]);
  });

  test("a task is named by its name, its title, its id, or its number", () => {
    const plan = read(
      "<task>",
      "<name>Task 1: One</name>",
      "</task>",
      '<task id="2">',
      "<title>Two</title>",
      "<instructions>x</instructions>",
      "</task>",
      '<task id="three">',
      "</task>",
      "<task>",
      "</task>",
    );

    expect(plan.tasks.map(({ name }) => name)).toEqual(["Task 1: One", "Two", "three", "Task 4"]);
  });

  test("markup, comparison signs and GSD's own tags inside an action or a code fence are words", () => {
    const plan = read(
      "<task>",
      "<name>a</name>",
      "<action>",
      "Render <div> and <T>, at most <100 lines.",
      "<verify>",
      "<automated>rm -rf one</automated>",
      "</verify>",
      FENCE,
      "</action>",
      "<task>",
      "<verify><automated>rm -rf two</automated></verify>",
      "</task>",
      FENCE,
      "A mention of </action> here",
      "</action>",
      "<verify>",
      "<automated>npm test</automated>",
      "</verify>",
      "</task>",
    );

    expect(plan.tasks.length).toBe(1);
    expect(commandsOf(plan)).toEqual(["npm test"]);
  });

  test("nothing but <command> and <automated> of a task's verify and of the verification is a command", () => {
    const planted = (where: string): string =>
      `<command>touch ${where}</command> <automated>touch ${where}</automated>`;
    const plan = read(
      "---",
      `note: ${planted("front")}`,
      "---",
      planted("top"),
      "<objective>",
      planted("objective"),
      "<verification>",
      planted("objective-verification"),
      "</verification>",
      "</objective>",
      "<context>",
      "<task>",
      "<verify>",
      planted("context-task"),
      "</verify>",
      "</task>",
      "</context>",
      "<example>",
      "<verification>",
      planted("example"),
      "</verification>",
      "</example>",
      "<tasks>",
      planted("tasks"),
      "<task>",
      planted("task"),
      "<name>",
      planted("name"),
      "</name>",
      "<files>",
      planted("files"),
      "</files>",
      "<action>",
      planted("action"),
      "</action>",
      "<verify>",
      "Run `touch prose` and see",
      "touch bare",
      `see ${planted("mid-line")}`,
      FENCE + "bash",
      planted("fence"),
      FENCE,
      "<human-check>touch human</human-check>",
      "<automated>true # task</automated>",
      "</verify>",
      "<done>",
      planted("done"),
      "</done>",
      "<acceptance_criteria>",
      planted("criteria"),
      "</acceptance_criteria>",
      "</task>",
      "</tasks>",
      "<verification>",
      "- [ ] `touch box`",
      "1. touch number",
      FENCE,
      "touch fenced",
      FENCE,
      "<command>true # plan</command>",
      "</verification>",
      "<success_criteria>",
      planted("success"),
      "</success_criteria>",
      "<output>",
      planted("output"),
      "</output>",
    );

    expect(commandsOf(plan)).toEqual(["true # task", "true # plan"]);
  });

  test("an element that is not known hides what is in it, and a closing tag in words closes nothing", () => {
    const plan = read(
      "<task>",
      "<action>",
      "do it",
      "</action>",
      "<notes>",
      "<verify>",
      "<automated>rm -rf three</automated>",
      "</verify>",
      "</notes>",
      "<verify>",
      "<automated>npm test</automated>",
      "</verify>",
      "<done>no </action> is left in the output</done>",
      "</task>",
    );

    expect(commandsOf(plan)).toEqual(["npm test"]);
  });

  test("all else in a verify is listed as not machine-checkable", () => {
    const { tasks: [task] } = read(
      "<task>",
      "<verify>",
      "Run `npm test` and see that it passes",
      "- visit the page",
      "<automated>MISSING — Wave 0 must create the test</automated>",
      "<command>curl localhost</command><expect>returns the page</expect>",
      "</verify>",
      "</task>",
    );

    expect(task?.commands).toEqual([]);
    expect(task?.notCheckable).toEqual([
      "Run `npm test` and see that it passes",
      "visit the page",
      "MISSING — Wave 0 must create the test",
      "curl localhost (expected: returns the page)",
    ]);
  });

  test.each([
    ["on the line of the tag", ["<verify><automated>npm test</automated></verify>"], ["npm test"]],
    ["with attributes on the tags", ['<verify mode="x">', '<automated timeout="5">npm test</automated>', "</verify>"], [
      "npm test",
    ]],
    ["entity-escaped", ["<verify>", "<automated>a 2&gt;&amp;1 &amp;&amp; b &lt; c</automated>", "</verify>"], [
      "a 2>&1 && b < c",
    ]],
    ["several", [
      "<verify>",
      "<automated>a</automated> <automated>b</automated>",
      "- <automated>c</automated>",
      "</verify>",
    ], ["a", "b", "c"]],
    ["in a wrapper", ["<verify>", "<item><automated>a</automated></item>", "</verify>"], ["a"]],
    ["over lines", [
      "<verify>",
      "  <automated>python3 - <<'X'",
      "  if 1 < 2:",
      "      print(1)",
      "  X",
      "  </automated>",
      "</verify>",
    ], ["python3 - <<'X'\n  if 1 < 2:\n      print(1)\n  X"]],
    ["as a block", [
      "<verify>",
      "  <automated>",
      "    python3 - <<'X'",
      "    if 1:",
      "        print(1)",
      "    X",
      "  </automated>",
      "</verify>",
    ], ["python3 - <<'X'\nif 1:\n    print(1)\nX"]],
    ["in a fence of its own", [
      "<verify>",
      "<automated>",
      FENCE + "bash",
      "npm test",
      FENCE,
      "</automated>",
      "</verify>",
    ], ["npm test"]],
    ["in back-ticks", ["<verify>", "<automated>`npm test`</automated>", "</verify>"], ["npm test"]],
    ["as CDATA", ["<verify><automated><![CDATA[a && b &amp; c]]></automated></verify>"], ["a && b &amp; c"]],
    ["with a less-than sign", ["<verify><automated>test $(wc -l < a) -lt 100 && b > c</automated></verify>"], [
      "test $(wc -l < a) -lt 100 && b > c",
    ]],
  ])("a command %s", (_, verify, commands) => {
    expect(commandsOf(read("<task>", ...verify, "</task>"))).toEqual(commands);
  });

  test("CRLF and a byte order mark make no difference", () => {
    const text =
      "\uFEFF---\r\nplan: 01\r\n---\r\n<task>\r\n<name>a</name>\r\n<verify>\r\n<automated>npm test</automated>\r\n</verify>\r\n</task>\r\n";
    const { plan } = parsePlan(text, "p");

    expect([plan.frontMatter["plan"], plan.tasks[0]?.name, commandsOf(plan)]).toEqual(["01", "a", ["npm test"]]);
  });

  test("tasks may stand without <tasks>, and as headings", () => {
    const plan = read(
      "# Plan",
      "### Task 1: One",
      "<verify>",
      "<automated>a</automated>",
      "</verify>",
      "### Task 2 - Two",
      FENCE,
      "### Task 3: none",
      FENCE,
      "## Done",
    );

    expect(plan.tasks.map(({ number, name, commands }) => [number, name, commands.length])).toEqual([[1, "One", 1], [
      2,
      "Two",
      0,
    ]]);
    expect(read("<task>", "</task>").tasks.length).toBe(1);
  });

  test("a plan is empty when there is nothing in it to carry out", () => {
    expect(read("---", "plan: 01", "---", "", "# Plan", "").empty).toBe(true);
    expect(read("").empty).toBe(true);
    expect(read("Do it.").empty).toBe(false);
  });

  test.each([
    [["---", "plan: 01"], "01-01-PLAN.md:1: the front matter is not closed by a line of `---`"],
    [["<task>", "<name>a</name>"], "01-01-PLAN.md:1: <task> is not closed"],
    [["<task>", "<verify>", "<automated>a</automated>", "</task>"], "01-01-PLAN.md:2: <verify> is not closed"],
    [
      ["<task>", "<verify>", "<automated>npm test", "</verify>", "</task>"],
      "01-01-PLAN.md:3: <automated> is not closed: not run",
    ],
    [
      ["<task>", "<verify>", "<automated></automated>", "</verify>", "</task>"],
      "01-01-PLAN.md:3: <automated> is empty",
    ],
    [["text", FENCE, "more"], "01-01-PLAN.md:2: this code fence is never closed: all that follows is code"],
    [
      ["<task>", "<verify>", "<command>a</command>", "<expect>it works</expect>", "</verify>", "</task>"],
      "01-01-PLAN.md:4: <expect>it works</expect> is not machine-checkable: not run",
    ],
    [["<verification>", "<command>a</command>"], "01-01-PLAN.md:1: <verification> is not closed"],
    [
      ["<task>", "<verify><automated>`a`</automated></verify>", "</task>"],
      "01-01-PLAN.md:2: the back-ticks around the command are left out",
    ],
  ])("says what it could not make sense of: %j", (lines, problem) => {
    expect(problemsOf(...lines)).toContain(problem);
  });

  test("thousands of tags that are never closed take no time that grows with their square", () => {
    const took = (count: number): number => {
      const lines = Array.from({ length: count }, (_, index) => `<words-${index % 7}>`);
      const start = process.cpuUsage();
      expect(read(...lines, "<task><name>a</name></task>").tasks).toHaveLength(1);
      return process.cpuUsage(start).user / 1000;
    };

    took(500);
    expect(took(4000)).toBeLessThan(3000); // 5 s and more, where each of them looked for the next task itself
  });

  test("never throws, and never makes a command of a text without the two tags", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "<task>",
        "</task>",
        '<task type="auto">',
        "<verify>",
        "</verify>",
        "<action>",
        "</action>",
        "<verification>",
        "</verification>",
        FENCE,
        "---",
        "- ",
        "\n",
        "\r\n",
        "`",
        "<expect>",
        "</expect>",
      ),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("\n").replaceAll(/<(automated|command)/g, "");
      expect(commandsOf(parsePlan(text, "p").plan)).toEqual([]);
    }));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.constantFrom("<automated>", "</automated>", "<command>", "</command>")), {
          maxLength: 40,
        }),
        (pieces) => {
          for (const command of commandsOf(parsePlan(pieces.join("\n"), "p").plan)) {
            expect(command.trim()).not.toBe(
              "",
            );
          }
        },
      ),
    );
  });
});

describe("expectationOf()", () => {
  test.each([
    ["", {}],
    ["exit 0", {}],
    ["exit 2", { exit: 2 }],
    ["exit non-zero", { exit: "non-zero" }],
    ["Exit code 1", { exit: 1 }],
    ['output contains "ok # 1"', { output: "ok # 1" }],
    ["output contains 'x'", { output: "x" }],
    ["exits cleanly", null],
    ["exit", null],
    ["output contains ok", null],
    ["5 passed", null],
    ["exit 0 and no output", null],
  ])("%j", (text, expected) => {
    expect(expectationOf(text)).toEqual(expected);
  });
});

describe("decode()", () => {
  test.each([["a &amp;&amp; b", "a && b"], ["&amp;lt;", "&lt;"], ["&#39;&#x27;&quot;", "''\""], [
    "&nope; & &#0;",
    "&nope; & &#0;",
  ]])("%s", (text, expected) => {
    expect(decode(text)).toBe(expected);
  });
});
