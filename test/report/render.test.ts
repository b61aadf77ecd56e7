import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { checkId } from "../../lib/backlog/verify_commands.ts";
import { htmlReport } from "../../lib/report/html.ts";
import { markdownReport, paintMarkdown } from "../../lib/report/markdown.ts";
import { requestBody } from "../../lib/report/pull_request.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import type { RunReport } from "../../lib/report/types.ts";
import { createStyle } from "../../lib/ui/text.ts";
import { attempt, reportOf, RUN, RUN_START, runEnd } from "./world.ts";

/** Controls but tab and line feed, and what turns text around. */
const UNPRINTABLE_REGEXP = /(?![\t\n])\p{Cc}|\u202e/u;

const { symbols } = createStyle({ colour: false, ascii: true });
const NASTY =
  `<img src=x onerror=alert(1)> "q" 'a' & \`tick\` **bold** [a](javascript:b) _u_ |\u001b[31mred\u0007\u202e`;

const FACTS = {
  change: { from: "a".repeat(40), head: "b".repeat(40), files: [], kept: [], tests: new Map() },
  more: [],
  proof: null,
};

async function nasty(): Promise<RunReport> {
  const item = { id: NASTY, kind: NASTY, title: NASTY };
  const end = { item, result: "failed", settlement: "parked", message: NASTY } as const;
  return await reportOf([
    { ...RUN_START, agent: NASTY } as typeof RUN_START,
    ...attempt(NASTY, 1, end, [{ name: NASTY, ok: false, tail: `${NASTY}\n\`\`\`\n# no heading` }]),
    { type: "commit", commit: "abcdef1", subject: NASTY },
    { type: "note", level: "warn", message: NASTY },
    { type: "note", level: "info", message: NASTY },
    { type: "state-restored", paths: [NASTY] },
    { type: "trespass", by: "agent", paths: [NASTY], diff: NASTY },
    { type: "answer", id: NASTY, answer: NASTY, source: "terminal" },
    { type: "hook-end", hook: NASTY, iteration: 1, status: "failed", exitCode: 1, durationMs: 1, message: NASTY },
    `{"${NASTY.replaceAll('"', "").replaceAll(/[^\x20-\x7e]/g, "")}`,
    runEnd(NASTY, [NASTY]),
  ]);
}

describe("htmlReport()", () => {
  test("lets no markup of others through, and asks for nothing from outside", async () => {
    const page = htmlReport(await nasty());

    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(page).not.toMatch(/<(?:img|script|iframe|link|object|embed|form|a)\b/i);
    expect(page).not.toMatch(/\s(?:src|href|on\w+)=["']/i);
    expect(page).not.toMatch(/url\(|@import|https?:/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(UNPRINTABLE_REGEXP);
  });

  test("every tag that is opened is closed", async () => {
    const open: string[] = [];
    for (const [, end, name = ""] of htmlReport(await nasty()).matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (name === "meta") continue;
      if (end === "") open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  test("folds up what is verified, and only that", async () => {
    const page = htmlReport(
      await reportOf([
        RUN_START,
        ...attempt("US-001", 1),
        ...attempt("US-002", 2, { result: "unverified" }),
        runEnd("unverified"),
      ]),
    );

    expect(page.match(/<details( open)?>/g)).toEqual(["<details>", "<details open>"]);
  });
});

test("what the experiments proved of an item is beside it, in the report, the page and the request", async () => {
  const proof = "red without the work; the old checks agree; 3 of 3 canaries seen";
  const item = { id: "US-001", kind: "story", title: "t" };
  const report = await reportOf([
    RUN_START,
    ...attempt("US-001", 1, {}, [{ name: "npm test", ok: true }]),
    { type: "experiments", item, findings: [], tried: [proof], blocked: false },
    runEnd("passed"),
  ]);

  expect(markdownReport(report, symbols)).toContain(proof);
  expect(htmlReport(report)).toContain(proof);
  expect(requestBody([report], FACTS)).toContain(`verified; ${proof}`);
});

test("a request closes the issues that passed, and no other item", async () => {
  const issue = (id: string): { item: { id: string; kind: string; title: string } } => ({
    item: { id, kind: "issue", title: "t" },
  });
  const parked = { ...issue("#8"), result: "failed", settlement: "parked" } as const;
  const events = [...attempt("#7", 1, issue("#7")), ...attempt("#8", 2, parked), ...attempt("US-001", 3)];
  const report = await reportOf([RUN_START, ...events, runEnd("passed")]);

  expect(requestBody([report], FACTS).match(/Closes .*/g)).toEqual(["Closes #7"]);
});

test("a command in a request's body can be copied as it is", async () => {
  const report = await reportOf([RUN_START, ...attempt("US-001", 1), runEnd("passed")]);
  const left = "leftover: US-002: what its turns left; `git diff HEAD...refs/ralph/work/a_b.3` shows it";

  expect(requestBody([report], { ...FACTS, more: [left] })).toContain(
    "`git diff HEAD...refs/ralph/work/a_b.3` shows it",
  );
});

describe("requestBody()", () => {
  const withCriteria = (events: readonly RalphEvent[], criteria: readonly string[]): readonly RalphEvent[] =>
    events.map((event) => event.type === "iteration-start" ? { ...event, criteria } : event);
  const files = Array.from({ length: 12 }, (_, index) => ({
    path: `src/f${index}.ts`,
    kind: index === 0 ? "product" as const : "test" as const,
    added: 10,
    removed: 1,
  }));

  test("each criterion has the check that proves it, in a commit that anyone can check again", async () => {
    const criteria = ["It greets", "Verify: `test -f 'a b'`"];
    const report = await reportOf([
      { ...RUN_START, strict: true } as typeof RUN_START,
      ...withCriteria(
        attempt("US-001", 1, {}, [{ name: "test -f 'a b'", ok: true }, { name: "npm test", ok: true }]),
        criteria,
      ),
      runEnd("passed"),
    ]);
    const commit = "c".repeat(40);
    const results = new Map(["test -f 'a b'", "npm test"].map((name) => [checkId({ name }), true]));

    const body = requestBody([report], { ...FACTS, change: { ...FACTS.change, files }, proof: { commit, results } });

    expect(body).toContain(
      "- It greets (no check of its own)\n- ✓ Verify: `test -f 'a b'`\n\nBeside them: ✓ `npm test`",
    );
    expect(body).toContain("### Changed: 12 files, +120 -12\n\n- `src/f0.ts` +10 -1\n- `src/f1.ts` +10 -1 (test)");
    expect(body).toContain("no sandbox; strict");
    expect(body).toContain(
      `git checkout cccccccccc\nralph gate --base aaaaaaaaaa --verify 'test -f '\\''a b'\\''' --verify 'npm test'\n`,
    );
  });

  test("ten stories are one screen, and all that does not fit is below the fold", async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `US-${index}`);
    const report = await reportOf([
      RUN_START,
      ...ids.flatMap((id, index) =>
        withCriteria(attempt(id, index, {}, [{ name: "npm test", ok: true }]), ["One", "Two", "Verify: `npm test`"])
      ),
      runEnd("passed"),
    ]);

    const body = requestBody([report], { ...FACTS, change: { ...FACTS.change, files } });

    const [shown = "", folded = ""] = body.split("<details>");
    expect(shown.split("\n").length).toBeLessThan(45);
    expect(shown).toContain("- … 7 more below");
    for (const { path } of files) expect(folded).toContain(`\`${path}\``);
    for (const id of ids) expect([shown.includes(`**${id}: `), folded.includes(`**${id}: `)]).toEqual([true, true]);
    expect(folded).toContain("- One (no check of its own)");
  });
});

describe("markdownReport()", () => {
  test("says it all in an order for a reader", async () => {
    const report = await reportOf([
      RUN_START,
      ...attempt("US-001", 1, {}, [{ name: "npm test", ok: true }]),
      ...attempt("US-002", 2, { result: "failed", settlement: "parked", message: "npm test: exit 1\nexpected 1" }, [
        { name: "npm test", ok: false, tail: "expected 1\ngot 2\n" },
      ]),
      runEnd("blocked", ["US-002: npm test: exit 1"]),
    ]);

    const text = markdownReport({ ...report, root: "/project" }, symbols)
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d to \d\d:\d\d:\d\d/g, "[WHEN]").replace(
        /Project\*\*: .*/,
        "Project**: [NAME]",
      );

    expect(text).toBe(`# x Run ${RUN}: blocked

1 verified, 1 parked.

- **Project**: [NAME]
- **Workflow**: exec
- **When**: [WHEN] (13s)
- **Agent**: claude (opus), 2 turns, passed 1 of 2 attempts
- **Used**: 2,408 tokens (2,000 in, 1,600 of it cached, 408 out), about $0.06 by the agent's own estimate
- **Why it ended**: US-002: npm test: exit 1
- **Next**: fix the cause, then \`ralph run --retry-blocked\`
- **Folder**: \`scripts/ralph/runs/${RUN}\`

## Needs a look

- x **US-002** parked: npm test: exit 1: expected 1

## Items

### + US-001: Title of US-001

story - verified - 1 attempt - 1,204 tokens, about $0.03

- + attempt 1, iteration 1: verified (2.0s)
  - claude: completed (1m 01s, 1,204 tokens, about $0.03), transcript \`runs/iteration-1.log\`
  - + \`npm test\` (1.2s)

### x US-002: Title of US-002

story - parked - 1 attempt - 1,204 tokens, about $0.03

- x attempt 1, iteration 2: failed, parked (2.0s)
  - claude: completed (1m 01s, 1,204 tokens, about $0.03), transcript \`runs/iteration-2.log\`
  - x \`npm test\` (exit 1, 1.2s)
    \`\`\`
    expected 1
    got 2
    \`\`\`

## Parts

- x exec: blocked

Events: \`scripts/ralph/runs/${RUN}/events.ndjson\`, 14 events
`);
  });

  test("what others wrote is text: no markup, no control characters, no fence that ends early", async () => {
    const text = markdownReport(await nasty(), symbols);

    expect(text).not.toMatch(UNPRINTABLE_REGEXP);
    const outside = text.replaceAll(/^ *(`{3,})\n[^]*?\n *\1$/gm, "").replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
    expect(outside).not.toMatch(/(?<!\\)[<[]/);
    expect(outside).not.toContain("# no heading");
  });

  test("a run that is still going, was cut off, or left nothing is shown as such", async () => {
    const cut = await reportOf([RUN_START]);

    expect(markdownReport(cut, symbols)).toContain(`# x Run ${RUN}: no end recorded\n\nit was killed`);
    const running = { ...cut, state: "running", running: { pid: 7, since: "2026-01-02T03:04:05Z" } } as const;
    expect(markdownReport(running, symbols)).toContain("still running\n\npid 7 has been at work since");
    expect(markdownReport({ ...cut, state: "empty" }, symbols)).toContain("nothing recorded");
  });
});

test("paintMarkdown() colours headings and marks, and leaves the text as it is", async () => {
  const text = markdownReport(await nasty(), symbols);
  const painted = paintMarkdown(text, createStyle({ colour: true, ascii: true }));

  expect(stripVTControlCharacters(painted)).toBe(text);
  expect(painted).toContain("\u001b[1m## Items\u001b[22m");
});
