import { describe, expect, test } from "vitest";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { answering, contextOn, draft, envelope, replying, story, testRepository } from "./exec_context.ts";

const GOAL = "add a health endpoint";
const GOOD = envelope({ prdDraft: draft(story("US-001", 1)) });

describe("plan() retries", () => {
  test.each<[string, string, string]>([
    [
      "prose",
      "Sure! Here is the plan.",
      'not valid JSON (line 1, column 1: expected a value): the whole answer must be one JSON object, with no words around it; it ended with: "Sure! Here is the plan."',
    ],
    ["an unknown key", envelope({ extra: 1, questions: ["a?"] }), "unexpected keys: extra"],
    ["neither questions nor a draft", envelope({}), "`questions` is empty and `prdDraft` is null"],
    [
      "a draft of the wrong shape",
      envelope({ prdDraft: { branchName: 7, userStories: "x" } }),
      "branchName must be a string (got: int)",
    ],
    ["a draft without stories", envelope({ prdDraft: draft() }), "userStories: a draft needs at least one story"],
    [
      "a draft with an id used twice",
      envelope({ prdDraft: draft(story("A", 1), story("A", 2)) }),
      "userStories[1].id: A is used twice",
    ],
    [
      "a draft that would work on the default branch",
      envelope({ prdDraft: { ...draft(story("A", 1)), branchName: "main" } }),
      "branchName: main takes finished work: name another branch",
    ],
    [
      "a draft with priority true",
      envelope({ prdDraft: draft(story("A", 1, { priority: true })) }),
      "userStories[0].priority: must be an integer",
    ],
    [
      "a branch that git does not take",
      envelope({ prdDraft: { ...draft(story("A", 1)), branchName: "my branch..x" } }),
      "branchName: git refuses the branch name my branch..x",
    ],
    [
      "a story without criteria",
      envelope({ prdDraft: draft(story("A", 1, { acceptanceCriteria: [] })) }),
      "userStories[0].acceptanceCriteria: must not be empty",
    ],
    [
      "a story that names no check",
      envelope({ prdDraft: draft(story("A", 1, { acceptanceCriteria: ["It works"] })) }),
      "userStories[0].acceptanceCriteria: no criterion names a check in the form Verify: `command`",
    ],
    [
      "two answers at once",
      `${GOOD}\n\nor\n\n${GOOD}`,
      "the answer holds 2 JSON objects of this form",
    ],
  ])("plan() feeds %s back with the errors verbatim and keeps the raw answer", async (_name, bad, error) => {
    using repository = testRepository();
    const agent = replying(bad, GOOD);
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned.status).toBe("approved");
    expect(agent.prompts[0]).not.toContain("was refused");
    expect(agent.prompts[1]).toContain(`- ${error}`);
    expect(agent.prompts[1]).toContain(bad);
    expect(agent.prompts[1]).toContain("valid JSON only");
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain(bad);
    const shown = ralph.seen.flatMap((event) => event.type === "text" ? event.lines : []);
    expect(shown.some((line) => line.includes(error))).toBe(true);
  });

  test.each<[string, number | undefined, number, string, string]>([
    ["the default of 3", undefined, 4, "prose", "invalid-envelope"],
    ["one of your own", 1, 2, "prose", "invalid-envelope"],
    ["none", 0, 1, envelope({ prdDraft: draft() }), "invalid-prd"],
  ])("plan() fails when its retries are used up: %s", async (_name, maxRetries, turns, bad, reason) => {
    using repository = testRepository();
    const agent = replying(bad);
    await using ralph = await contextOn(repository, { agent, prompter: answering({}) });

    const planned = await plan(ralph, { goal: GOAL, ...(maxRetries === undefined ? {} : { maxRetries }) });

    expect(planned).toMatchObject({ status: "failed", reason });
    expect(agent.prompts.length).toBe(turns);
    const state = JSON.parse(repository.read("scripts/ralph/plan_state.json"));
    expect([state.attempts, state.state]).toEqual([0, reason === "invalid-prd" ? "draft_prd" : "collect_context"]);
  });

  test("plan() takes stories without a check of their own where shared ones hold, or the agent's word is enough", async () => {
    using repository = testRepository();
    const bare = envelope({ prdDraft: draft(story("A", 1, { acceptanceCriteria: ["It works"] })) });
    const prompter = answering({ "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, {
      agent: replying(bare),
      prompter,
      config: { verify: { default: ["true"] } },
    });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");
  });

  test("plan() counts refused answers in a row only", async () => {
    using repository = testRepository();
    const agent = replying("no", "no", envelope({ questions: ["a?"] }), "no", "no", GOOD);
    await using ralph = await contextOn(repository, {
      agent,
      prompter: answering({ "a?": "x", "plan.write-prd": "yes" }),
    });

    expect((await plan(ralph, { goal: GOAL, maxRetries: 2 })).status).toBe("approved");
  });

  test.each([
    ["a fence around all of it", `\n\`\`\`json\n${GOOD}\n\`\`\`\n`],
    [
      "a sentence before a fence",
      `Here is the plan, as { "asked" }.\n\n\`\`\`json\n${GOOD}\n\`\`\`\nTell me what you think.`,
    ],
    ["a sentence before it", `I read {"a": 1} first.\n${GOOD}`],
  ])("plan() takes the one JSON object wherever in the answer it is: %s", async (_name, answer) => {
    using repository = testRepository();
    const agent = replying(answer);
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");
    expect(agent.prompts.length).toBe(1);
  });

  test("plan() tries again after a turn that failed, whatever it said", async () => {
    using repository = testRepository();
    const agent = replying(
      () => ({ text: GOOD, end: { reason: "agent-failed", message: "exit code 1" } }),
      envelope({ questions: ["a?"] }),
      GOOD,
    );
    await using ralph = await contextOn(repository, {
      agent,
      prompter: answering({ "a?": "x", "plan.write-prd": "yes" }),
    });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");
    expect(agent.prompts.length).toBe(3);
  });

  test("plan() asks the questions first when a draft comes with them", async () => {
    using repository = testRepository();
    const both = envelope({ questions: ["a?", "a?"], prdDraft: draft(story("US-007", 1)) });
    const prompter = answering({ "a?": "x", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent: replying(both, GOOD), prompter });

    await plan(ralph, { goal: GOAL });

    expect(prompter.asked.map(({ id }) => id)).toEqual(["plan.question", "plan.write-prd"]);
    expect(repository.read("scripts/ralph/prd.json")).toContain("US-001");
  });

  test("plan() tells the agent to draft after ten rounds, and takes no more questions", async () => {
    using repository = testRepository();
    const asks = Array.from({ length: 10 }, (_, index) => envelope({ questions: [`question ${index}?`] }));
    const agent = replying(...asks, envelope({ questions: ["one more?"] }), GOOD);
    const prompter = answering({ "plan.question": "x", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(agent.prompts[9]).not.toContain("Ask nothing more");
    expect(agent.prompts[10]).toContain("Ask nothing more");
    expect(agent.prompts[11]).toContain("no more questions after 10 rounds");
    expect(prompter.asked.filter(({ id }) => id === "plan.question").length).toBe(10);
  });
});
