import { describe, expect, test } from "vitest";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { prdBacklog } from "../../../lib/workflows/exec/backlog.ts";
import { formatPrd } from "../../../lib/workflows/exec/format.ts";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import type { Prd } from "../../../lib/workflows/exec/types.ts";
import {
  answering,
  contextOn,
  draft,
  envelope,
  replying,
  story,
  type TestRepository,
  testRepository,
} from "./exec_context.ts";

const PRD = "scripts/ralph/prd.json";
const YES = { "plan.existing-prd": "update", "plan.write-prd": "yes" };
const ONE = draft(story("US-001", 1)) as Prd;
const TWO = draft(story("US-001", 1), story("US-002", 2)) as Prd;

/** The branch of the PRD has worked off its story. */
function worked(repository: TestRepository): void {
  repository.git("switch", "--quiet", "--create", "ralph/feature");
  repository.write(PRD, formatPrd({ ...ONE, userStories: [{ ...ONE.userStories[0]!, passes: true }] }));
  repository.write("one.txt", "1");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "-m", "feat: US-001");
  repository.git("switch", "--quiet", "main");
}

describe("the branch of a plan", () => {
  test("the plan is committed on the work branch, and the branch that the person is on stays as it is", async () => {
    using repository = testRepository();
    const before = repository.git("rev-parse", "main");
    const agent = replying(envelope({ prdDraft: ONE }));
    await using ralph = await contextOn(repository, { agent, prompter: answering(YES) });

    await plan(ralph, { goal: "one" });

    expect(repository.git("branch", "--show-current")).toBe("ralph/feature");
    expect(repository.git("rev-parse", "main")).toBe(before);
    expect(repository.git("log", "--format=%s")).toBe("ralph: plan approved\nstart");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("a second plan on a branch that was merged: what was approved is what is there", async () => {
    using repository = testRepository({ [PRD]: formatPrd(ONE) });
    worked(repository);
    repository.git("merge", "--quiet", "--no-ff", "ralph/feature", "-m", "merge");
    const agent = replying(envelope({ prdDraft: TWO }));
    await using ralph = await contextOn(repository, { agent, prompter: answering(YES) });

    const planned = await plan(ralph, { goal: "two" });

    expect(planned.status).toBe("approved");
    expect(repository.git("branch", "--show-current")).toBe("ralph/feature");
    const { userStories } = JSON.parse(repository.read(PRD)) as Prd;
    expect(userStories.map(({ id, passes }) => [id, passes])).toEqual([["US-001", true], ["US-002", false]]);
    expect(repository.git("merge-base", "--is-ancestor", "main", "HEAD")).toBe("");
  });

  test("a draft on a branch that holds other work is fed back", async () => {
    using repository = testRepository({ [PRD]: formatPrd(ONE) });
    worked(repository);
    const agent = replying(
      envelope({ prdDraft: TWO }),
      envelope({ prdDraft: { ...TWO, branchName: "ralph/second" } }),
    );
    await using ralph = await contextOn(repository, { agent, prompter: answering(YES) });

    expect((await plan(ralph, { goal: "two" })).status).toBe("approved");

    expect(agent.prompts[1]).toContain("the branch ralph/feature exists and holds commits that are not here");
    expect(repository.git("branch", "--show-current")).toBe("ralph/second");
  });

  test("a run refuses a branch whose PRD asks for something else, and starts nothing there", async () => {
    using repository = testRepository({ [PRD]: formatPrd(ONE) });
    worked(repository);
    repository.write(PRD, formatPrd(TWO));
    repository.git("commit", "--quiet", "--all", "-m", "another plan");
    const agent = replying("");
    await using ralph = await contextOn(repository, { agent });

    const run = runLoop(ralph, prdBacklog(ralph));

    await expect(run).rejects.toMatchObject({ code: "branch-differs", exitCode: 3 });
    expect(repository.git("branch", "--show-current")).toBe("main");
    expect(agent.prompts).toEqual([]);
  });

  test("a run continues on the branch that has worked off a part of the same PRD", async () => {
    using repository = testRepository({ [PRD]: formatPrd(ONE) });
    worked(repository);
    await using ralph = await contextOn(repository, { agent: replying("") });

    expect((await runLoop(ralph, prdBacklog(ralph))).status).toBe("passed");
    expect(repository.git("branch", "--show-current")).toBe("ralph/feature");
  });
});
