import { journalKeyOf } from "../../lib/backlog/attempts.ts";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { gate } from "../../lib/recipe/gate.ts";
import { gateRun } from "../../lib/recipe/gate_run.ts";
import { gateUnderstand, understandTriggers } from "../../lib/workflows/exec/understand/gate.ts";
import { exitCodeOf } from "../../lib/recipe/outcome.ts";
import { checksForUnchecked } from "../../lib/checks/unchecked_items.ts";
import { answering, contextOn, draft, replying, story, testRepository } from "../workflows/exec/exec_context.ts";

const TODAY = "2026-03-10";
const UNCERTAIN = [{ topic: "the router", reason: "r", evidenceMissing: "e" }];
const QUIET = { shouldRun: false, reasons: [] };
const OPEN = "## Next Topics\n- [ ] a\n- [ ] b\n- [x] c\n";
const agent = replying("");
const map = (date: string | null): string => `${OPEN}\n${date === null ? "" : `## ${date} - c\n`}`;

describe("understandTriggers()", () => {
  const cases = [true, false].flatMap((missing) =>
    [true, false].flatMap((stale) => [true, false].map((uncertain) => [missing, stale, uncertain] as const))
  );

  test.each(cases)("understandTriggers() with missing %s, stale %s, uncertain %s", (missing, stale, uncertain) => {
    const triggers = understandTriggers({
      map: missing ? null : map(stale ? "2026-03-09" : TODAY),
      mapWasMissing: missing,
      uncertainties: uncertain ? UNCERTAIN : [],
      recommendUnderstand: QUIET,
      today: TODAY,
    });

    expect(triggers.reasons).toEqual([
      ...(missing
        ? ["The codebase map is missing"]
        : stale
        ? ["The codebase map is stale: its last entry is of 2026-03-09"]
        : []),
      ...(uncertain ? ["The planner is uncertain about: the router"] : []),
    ]);
  });

  test.each<[string, Partial<Parameters<typeof understandTriggers>[0]>, readonly string[]]>([
    ["a map without entries", { map: map(null) }, ["The codebase map is stale: it has no dated entry"]],
    ["the template that planning made", { map: map(null), mapWasMissing: true }, [
      "The codebase map is empty: no topic has a note",
    ]],
    ["a template that was filled since", { mapWasMissing: true }, []],
    [
      "a recommendation with reasons",
      { recommendUnderstand: { shouldRun: true, reasons: ["it is large", "no tests"] } },
      ["The planner recommends it", "The planner says: it is large; no tests"],
    ],
  ])("understandTriggers() of %s", (_name, facts, reasons) => {
    const base = { map: map(TODAY), mapWasMissing: false, uncertainties: [], recommendUnderstand: QUIET, today: TODAY };

    expect(understandTriggers({ ...base, ...facts }).reasons).toEqual(reasons);
  });
});

describe("gateUnderstand()", () => {
  test("gateUnderstand() asks with the reasons, the cap and how it was computed; the default is no", async () => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": map("2026-03-01") });
    const prompter = answering({ "gate.understand": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const decided = await gateUnderstand(ralph, {
      uncertainties: UNCERTAIN,
      recommendUnderstand: { shouldRun: true, reasons: ["large"] },
    });

    expect(prompter.asked).toEqual([{
      id: "gate.understand",
      kind: "confirm",
      message: "Explore the code first (`ralph understand`)?",
      initial: false,
      gate: "understand",
      details: [
        "The codebase map is stale: its last entry is of 2026-03-01",
        "The planner is uncertain about: the router",
        "The planner says: large",
        "Takes up to 2 agent turns (6 with retries): 2 unchecked topics under `## Next Topics` in scripts/ralph/codebase_map.md",
      ],
    }]);
    expect(decided).toMatchObject({ status: "approved", maxItems: 2 });
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain(
      "Explore the code first (`ralph understand`)? yes (terminal)",
    );
    expect(repository.git("status", "--porcelain")).toBe("?? scripts/ralph/plan_transcript.md");
  });

  test.each<["auto" | "always" | "never", string, boolean]>([
    ["auto", TODAY, false],
    ["auto", "2026-03-09", true],
    ["always", TODAY, true],
    ["always", "2026-03-09", true],
    ["never", "2026-03-09", false],
  ])("gateUnderstand() with mode %s and a map of %s asks: %s", async (mode, date, asks) => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": map(date) });
    const prompter = answering({ "gate.understand": "no" });
    await using ralph = await contextOn(repository, { agent, prompter, today: TODAY });

    const decided = await gateUnderstand(ralph, {}, { mode });

    expect(prompter.asked.length).toBe(asks ? 1 : 0);
    expect(decided.status).toBe(asks ? "declined" : "skipped");
    expect(exitCodeOf(decided)).toBe(0);
  });

  test("gateUnderstand() asks when the map is missing, counts the template, and does not make it", async () => {
    using repository = testRepository({ "scripts/ralph/prompt.md": "x" });
    const prompter = answering({ "gate.understand": "no" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const decided = await gateUnderstand(ralph, {}, { maxIterations: "auto" });

    expect(decided).toEqual({ status: "declined", next: ["ralph understand"] });
    expect(prompter.asked[0]?.details).toEqual([
      "The codebase map is missing",
      expect.stringContaining("12 unchecked topics in the template of the map"),
    ]);
    expect(repository.git("status", "--porcelain")).toBe("?? scripts/ralph/plan_transcript.md");
  });

  test("gateUnderstand() shows and forwards a number that was asked for", async () => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": map(null) });
    const prompter = answering({ "gate.understand": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    expect(await gateUnderstand(ralph, {}, { maxIterations: 5 })).toMatchObject({
      status: "approved",
      maxIterations: 5,
    });
    expect(prompter.asked[0]?.details?.at(-1)).toBe("Takes up to 5 agent turns (--max-understand-iterations)");
    await expect(gateUnderstand(ralph, {}, { maxIterations: -1 })).rejects.toMatchObject({
      code: "option-invalid",
      exitCode: 2,
    });
  });

  test.each<[string, "auto" | "always", "auto" | 0, string]>([
    ["no topic is left", "auto", "auto", "there are no remaining topics"],
    ["no topic is left, even where it is always asked", "always", "auto", "there are no remaining topics"],
    ["the cap is 0", "always", 0, "--max-understand-iterations is 0"],
  ])("gateUnderstand() does not ask when %s, and says so", async (_name, mode, maxIterations, reason) => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": "## Next Topics\n- [x] a\n" });
    const prompter = answering({});
    await using ralph = await contextOn(repository, { agent, prompter });

    const decided = await gateUnderstand(ralph, {}, { mode, maxIterations });

    expect(decided).toMatchObject({ status: "skipped", reason: expect.stringContaining(reason) });
    expect(ralph.seen.some((event) => event.type === "note" && event.message.includes(reason))).toBe(true);
  });

  test("gateUnderstand() warns of a date in the future and reads what the plan said", async () => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": `${map(TODAY)}## 2027-01-01 - b\n` });
    const times = { createdAt: "x", updatedAt: "x" };
    repository.write(
      "scripts/ralph/plan_state.json",
      JSON.stringify({ schemaVersion: 1, root: "r", goal: "g", ...times, uncertainties: UNCERTAIN }),
    );
    const prompter = answering({ "gate.understand": "no" });
    await using ralph = await contextOn(repository, { agent, prompter, today: TODAY });

    await gateUnderstand(ralph);

    expect(prompter.asked[0]?.details?.[0]).toBe("The planner is uncertain about: the router");
    expect(ralph.seen.flatMap((event) => event.type === "note" ? [event.message] : [])).toEqual([
      "scripts/ralph/codebase_map.md: an entry dated 2027-01-01 is in the future and is ignored",
      expect.stringMatching(/^the code is not explored now; `ralph understand.*` does it later$/),
    ]);
  });
});

describe("gateRun()", () => {
  const prd = (...stories: readonly object[]) => ({ "scripts/ralph/prd.json": JSON.stringify(draft(...stories)) });

  test("gateRun() asks with the cap and how it was computed; the default is no", async () => {
    using repository = testRepository(
      prd(story("US-001", 1), story("US-002", 2), story("US-003", 3, { passes: true })),
    );
    const prompter = answering({ "gate.run": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const go = await gateRun(ralph, prdBacklog(ralph));

    expect(prompter.asked).toEqual([{
      id: "gate.run",
      kind: "confirm",
      message: "Start `ralph run` now?",
      initial: false,
      gate: "run",
      details: ["Takes up to 2 agent turns (10 with retries): 2 stories not passing"],
    }]);
    expect(go).toEqual({ status: "approved", maxItems: 2 });
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("Start `ralph run` now? yes (terminal)");
  });

  test("gateRun() asks about a backlog of one's own in words that name no command, and writes nothing", async () => {
    using repository = testRepository({ "scripts/ralph/notes.md": "" });
    const prompter = answering({ "gate.run": "no" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const go = await gateRun(ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(prompter.asked[0]).toMatchObject({
      message: "Start the run now?",
      details: ["Takes up to 1 agent turn (5 with retries): 1 item not passing"],
    });
    expect(go).toEqual({ status: "declined", next: [] });
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("gateRun() calls no item impossible that the shared checks can pass", async () => {
    const config = JSON.stringify({ verify: { default: ["test -f a.txt"] } });
    using repository = testRepository({ "ralph.config.json": config });
    const prompter = answering({ "gate.run": "no" });
    await using ralph = await contextOn(repository, { agent, prompter });

    await gateRun(ralph, memoryBacklog([{ id: "a", title: "a" }]));

    expect(prompter.asked[0]?.details).toHaveLength(1);
  });

  test("gateRun() after a no ends with 0 and prints the next commands", async () => {
    using repository = testRepository(prd(story("US-001", 1)));
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "gate.run": "no" }) });

    const go = await gateRun(ralph, prdBacklog(ralph), { maxIterations: 7 });

    expect(go).toEqual({ status: "declined", next: ["ralph status", "ralph run --max-iterations 7"] });
    expect(exitCodeOf(go)).toBe(0);
    expect(ralph.seen).toContainEqual({
      type: "text",
      title: "Next",
      lines: ["ralph status", "ralph run --max-iterations 7"],
    });
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("Start `ralph run` now? no (terminal)");
  });

  test("gateRun() asks where all stories pass and the newest run did not: its final check is left to do", async () => {
    using repository = testRepository(prd(story("US-001", 1, { passes: true })));
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "gate.run": "yes" }) });
    await ralph.journal.noticed(await journalKeyOf(prdBacklog(ralph)), [], "end");

    expect(await gateRun(ralph, prdBacklog(ralph))).toMatchObject({ status: "approved" });
  });

  test.each<[string, object[], "auto" | number, string]>([
    ["all stories pass", [story("US-001", 1, { passes: true })], "auto", "the only story is already passing"],
    ["there are no stories", [], "auto", "there are no stories"],
    ["the cap is 0", [story("US-001", 1)], 0, "--max-run-iterations is 0"],
  ])("gateRun() does not ask when %s, and says so", async (_name, stories, maxIterations, reason) => {
    using repository = testRepository(prd(...stories));
    const prompter = answering({});
    await using ralph = await contextOn(repository, { agent, prompter });

    const go = await gateRun(ralph, prdBacklog(ralph), { maxIterations });

    expect(go).toMatchObject({ status: "skipped", reason: expect.stringContaining(reason) });
    expect([exitCodeOf(go), prompter.asked.length]).toEqual([0, 0]);
    expect(ralph.seen.some((event) => event.type === "note" && event.message.includes(reason))).toBe(true);
  });

  test("gateRun() lists the items that name no check before it asks", async () => {
    using repository = testRepository(
      prd(story("US-001", 1, { acceptanceCriteria: ["it works"] }), story("US-002", 2)),
    );
    const prompter = answering({ "gate.run": "no" });
    await using ralph = await contextOn(repository, { agent, prompter });

    await gateRun(ralph, prdBacklog(ralph));

    expect(prompter.asked[0]?.details?.[1]).toBe("1 item names no check and cannot pass: US-001");
  });

  test("gateRun() is no where nobody can be asked, and yes where it was approved beforehand", async () => {
    using repository = testRepository(prd(story("US-001", 1)));
    await using alone = await contextOn(repository, { agent });
    await using approved = await contextOn(repository, { agent, approve: ["run"] });

    expect((await gateRun(alone, prdBacklog(alone))).status).toBe("declined");
    expect((await gateRun(approved, prdBacklog(approved))).status).toBe("approved");
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("yes (approve)");
  });

  test("gateRun() is aborted by an interrupt and writes nothing where there is no exec folder", async () => {
    using repository = testRepository();
    const backlog = memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]);
    await using stopped = await contextOn(repository, { agent, prompter: answering({ "gate.run": "<interrupt>" }) });
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "gate.run": "yes" }) });

    expect(await gateRun(stopped, backlog)).toEqual({ status: "aborted" });
    expect((await gateRun(ralph, backlog)).status).toBe("approved");
    expect(repository.git("status", "--porcelain")).toBe("");
  });
});

describe("gate()", () => {
  test.each<[string, string]>([["yes", "approved"], ["no", "declined"], ["<interrupt>", "aborted"]])(
    "gate() answered %s is %s",
    async (answer, status) => {
      using repository = testRepository();
      const prompter = answering({ "gate.deploy": answer });
      await using ralph = await contextOn(repository, { agent, prompter });

      expect((await gate(ralph, { name: "deploy", message: "Deploy?", reasons: ["it is late"] })).status).toBe(status);
      expect(prompter.asked[0]).toMatchObject({ gate: "deploy", initial: false, details: ["it is late"] });
    },
  );
});

describe("checksForUnchecked()", () => {
  const files = { "package.json": '{"scripts":{"test":"node t.js"}}' };

  test("checksForUnchecked() asks in a terminal and suggests what the project's files name", async () => {
    using repository = testRepository(files);
    const prompter = answering({ "run.checks": "npm test" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const found = await checksForUnchecked(ralph, ["US-001", "US-002"]);

    expect(found).toEqual({ status: "go-on", checks: [{ name: "npm test", command: "npm test", scope: "run" }] });
    expect(prompter.asked[0]).toMatchObject({
      initial: "npm test",
      details: ["2 items name no check and cannot pass: US-001, US-002", "found in the project: npm test"],
    });
  });

  test("checksForUnchecked() names the ways out where nobody can be asked, and takes no suggestion by itself", async () => {
    using repository = testRepository(files);
    await using ralph = await contextOn(repository, { agent });

    const found = await checksForUnchecked(ralph, ["US-001"]);

    const reasons = found.status === "blocked" ? found.reasons.join("\n") : "";
    for (
      const part of [
        "US-001",
        '"default"',
        "--verify",
        "Verify: `npm test`",
        "--allow-unverified",
        "found in package.json: `npm test`",
      ]
    ) {
      expect(reasons).toContain(part);
    }
  });

  test("checksForUnchecked() takes an answers file's command, and asks nothing where there is nothing to ask", async () => {
    using repository = testRepository(files);
    await using answered = await contextOn(repository, { agent, answers: { prompts: { "run.checks": "make test" } } });
    await using allowed = await contextOn(repository, { agent, config: { verify: { allowUnverified: true } } });

    expect(await checksForUnchecked(answered, ["US-001"])).toMatchObject({ checks: [{ command: "make test" }] });
    expect(await checksForUnchecked(answered, [])).toEqual({ status: "go-on", checks: [] });
    expect(await checksForUnchecked(allowed, ["US-001"])).toEqual({ status: "go-on", checks: [] });
  });
});
