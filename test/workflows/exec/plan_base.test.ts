import { describe, expect, test } from "vitest";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { idAfter } from "../../../lib/workflows/exec/plan/base.ts";
import { answering, contextOn, draft, envelope, replying, story, testRepository } from "./exec_context.ts";

const FIRST = envelope({ prdDraft: { ...draft(story("US-001", 1)), branchName: "ralph/first" } });

/** A repository on the branch of a first goal, which is planned and not merged. */
async function afterFirst(repository: ReturnType<typeof testRepository>): Promise<void> {
  await using ralph = await contextOn(repository, {
    agent: replying(FIRST),
    prompter: answering({ "plan.write-prd": "yes" }),
  });
  await plan(ralph, { goal: "the first goal" });
}

const second = (id: string): string =>
  envelope({ prdDraft: { ...draft(story(id, 1, { title: "Another" })), branchName: "ralph/second" } });

describe("plan() of a second goal", () => {
  test("plan() starts it from the default branch, asked for, and its ids go on counting", async () => {
    using repository = testRepository({});
    await afterFirst(repository);
    const mainBefore = repository.git("rev-parse", "main");
    const agent = replying(second("US-001"), second("US-002"));
    const prompter = answering({ "plan.base": "main", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const planned = await plan(ralph, { goal: "the second goal" });

    expect(planned.status).toBe("approved");
    expect(prompter.asked[0]).toMatchObject({ id: "plan.base", initial: "main" });
    expect(agent.prompts[1]).toContain(
      "US-001 is the id of a finished story: give new stories other ids, from US-002 on",
    );
    expect(repository.git("rev-parse", "--abbrev-ref", "HEAD")).toBe("ralph/second");
    expect(repository.git("merge-base", "ralph/first", "ralph/second")).toBe(mainBefore);
    expect(repository.git("rev-parse", "main")).toBe(mainBefore);
    const shown = ralph.seen.flatMap((event) => event.type === "text" && event.title === "PRD" ? event.lines : []);
    expect(shown[0]).toBe("Starts from: main");
  });

  test("plan() starts it on top of the first one where a person or `base` says so", async () => {
    using repository = testRepository({});
    await afterFirst(repository);
    const prompter = answering({ "plan.existing-prd": "update", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent: replying(second("US-002")), prompter });

    await plan(ralph, { goal: "the second goal", base: "ralph/first" });

    expect(prompter.asked.map(({ id }) => id)).not.toContain("plan.base");
    expect(repository.git("merge-base", "--is-ancestor", "ralph/first", "ralph/second")).toBe("");
  });

  test("plan() refuses a base that is no branch before anything is asked or made", async () => {
    using repository = testRepository({});
    const agent = replying(FIRST);
    await using ralph = await contextOn(repository, { agent, prompter: answering({}) });

    await expect(plan(ralph, { goal: "a goal", base: "mian" })).rejects.toMatchObject({ code: "option-invalid" });
    expect(agent.prompts).toEqual([]);
  });
});

test.each([
  [["US-001", "US-012", "US-009"], "US-013"],
  [["T9"], "T10"],
  [["login", "logout"], null],
])("idAfter(%j) is %j", (ids, next) => {
  expect(idAfter(ids)).toBe(next);
});
