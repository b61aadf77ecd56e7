import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { answering, contextOn, draft, envelope, replying, story, testRepository } from "./exec_context.ts";

const GOAL = "add a health endpoint";
const PASSED = story("US-001", 1, { passes: true, notes: "kept" });
const EXISTING = JSON.stringify(draft(PASSED, story("US-002", 2, { passes: true })));
const files = { "scripts/ralph/prd.json": EXISTING };
type Stories = {
  readonly userStories: readonly { readonly id: string; readonly passes: boolean; readonly notes: string }[];
};

describe("plan() over a PRD that is there", () => {
  test("plan() keeps passes and notes of stories with the same id and criteria when it updates", async () => {
    using repository = testRepository(files);
    const changed = story("US-002", 2, { acceptanceCriteria: ["other", "Verify: `true`"], passes: true });
    const agent = replying(
      envelope({ prdDraft: draft(story("US-001", 3), changed, story("US-003", 4, { passes: true })) }),
    );
    const prompter = answering({ "plan.existing-prd": "update", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    await plan(ralph, { goal: GOAL });

    const { userStories } = JSON.parse(repository.read("scripts/ralph/prd.json")) as Stories;
    expect(userStories.map(({ id, passes, notes }) => [id, passes, notes])).toEqual([
      ["US-001", true, "kept"],
      ["US-002", false, ""],
      ["US-003", false, ""],
    ]);
    expect(agent.prompts[0]).toContain('"notes": "kept"');
    expect(prompter.asked[0]).toMatchObject({ id: "plan.existing-prd", kind: "select", initial: "update" });
    const titles = ralph.seen.flatMap((event) => event.type === "text" ? [event.title] : []);
    expect(titles).toEqual(["The PRD that is there", "PRD"]);
  });

  test("plan() overwrites, keeps the old file in the run's folder, and lets nothing pass", async () => {
    using repository = testRepository(files);
    const agent = replying(envelope({ prdDraft: draft(PASSED) }));
    const prompter = answering({ "plan.existing-prd": "overwrite", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    await plan(ralph, { goal: GOAL });

    expect((JSON.parse(repository.read("scripts/ralph/prd.json")) as Stories).userStories.map(({ passes }) => passes))
      .toEqual([false]);
    expect(agent.prompts[0]).not.toContain('"notes": "kept"');
    expect(agent.prompts[0]).toContain("These ids are taken: US-001, US-002. New stories get others, from US-003 on.");
    const folder = await ralph.run.folder("scripts/ralph/runs");
    expect(existsSync(join(folder, "prd.json.before"))).toBe(true);
    const lines = ralph.seen.flatMap((event) => event.type === "text" && event.title === "PRD" ? event.lines : []);
    expect(lines.at(-1)).toBe("Overwrites: US-002 (passes)");
  });

  test("plan() does not ask about a PRD without stories", async () => {
    using repository = testRepository({ "scripts/ralph/prd.json": '{"branchName":"ralph/feature","userStories":[]}' });
    const prompter = answering({ "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, {
      agent: replying(envelope({ prdDraft: draft(PASSED) })),
      prompter,
    });

    await plan(ralph, { goal: GOAL });

    expect(prompter.asked.map(({ id }) => id)).toEqual(["plan.write-prd"]);
  });

  test("plan() makes nothing but the PRD and its own files where scripts/ralph/ is there already", async () => {
    using repository = testRepository({ "scripts/ralph/prompt.md": "own\n" });
    const agent = replying(envelope({ prdDraft: draft(PASSED) }));
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    await plan(ralph, { goal: GOAL });

    expect(repository.git("show", "--name-only", "--format=").split("\n")).toEqual([
      "scripts/ralph/plan_state.json",
      "scripts/ralph/plan_transcript.md",
      "scripts/ralph/prd.json",
    ]);
  });

  test("plan() returns approved without a turn when the goal's PRD is approved and unchanged", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ prdDraft: draft(story("US-001", 1)) }));
    const prompter = answering({ "plan.write-prd": "yes" });
    await using first = await contextOn(repository, { agent, prompter });
    await plan(first, { goal: GOAL });
    await first[Symbol.asyncDispose]();
    const passed = JSON.parse(repository.read("scripts/ralph/prd.json"));
    passed.userStories[0].passes = true; // what a run does is no change of the plan
    repository.write("scripts/ralph/prd.json", JSON.stringify(passed));

    await using second = await contextOn(repository, { agent, prompter: answering({}) });
    const again = await plan(second, { goal: GOAL });

    expect(again).toMatchObject({ status: "approved", prd: { userStories: [{ id: "US-001", passes: true }] } });
    expect(agent.prompts.length).toBe(1);
    expect(repository.git("log", "--format=%s")).toBe("ralph: plan approved\nstart");
  });

  test("plan() plans again when the approved PRD was changed by hand", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ prdDraft: draft(story("US-001", 1)) }));
    await using first = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });
    await plan(first, { goal: GOAL });
    await first[Symbol.asyncDispose]();
    repository.write("scripts/ralph/prd.json", JSON.stringify(draft(story("US-001", 7))));

    const prompter = answering({ "plan.existing-prd": "update", "plan.write-prd": "yes" });
    await using second = await contextOn(repository, { agent, prompter });
    await plan(second, { goal: GOAL });

    expect(prompter.asked.map(({ id }) => id)).toEqual(["plan.existing-prd", "plan.write-prd"]);
  });

  test.each<[string, string, number]>([["new", "another goal", 2], ["old", GOAL, 1]])(
    "plan() asks which goal when another is unfinished: %s",
    async (answer, goal, goals) => {
      using repository = testRepository();
      const agent = replying(envelope({ questions: ["a?"] }), envelope({ prdDraft: draft(story("US-001", 1)) }));
      await using first = await contextOn(repository, { agent, prompter: answering({ "a?": "<interrupt>" }) });
      await plan(first, { goal: GOAL });
      await first[Symbol.asyncDispose]();

      const prompter = answering({ "plan.other-goal": answer, "a?": "x", "plan.write-prd": "yes" });
      await using second = await contextOn(repository, { agent, prompter });
      await plan(second, { goal: "another goal" });

      expect(JSON.parse(repository.read("scripts/ralph/plan_state.json"))).toMatchObject({ goal, state: "done" });
      expect(repository.read("scripts/ralph/plan_transcript.md").match(/^## Goal$/gm)?.length).toBe(goals);
    },
  );

  test("plan() commits nothing where commits.prdChanges is false", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ prdDraft: draft(story("US-001", 1)) }));
    const prompter = answering({ "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter, config: { commits: { prdChanges: false } } });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");
    expect(repository.git("log", "--format=%s")).toBe("start");
  });
});
