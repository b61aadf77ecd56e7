/** Ctrl-C typed in a terminal: it reaches Ralph and all of its foreground group. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";
import { needs } from "../needs.ts";

const CTRL_C = "\u0003";
const HANG = "setsid sleep 300 & (trap '' TERM INT HUP; sleep 300) & sleep 300";

describe("Ctrl-C in a terminal", needs("Linux"), () => {
  test("during an agent's turn", async () => {
    const project = faultProject(`cat > /dev/null; ${HANG}`);

    const { root, stdout } = await project.cli.terminal([/agent worker at work/, CTRL_C]).expectExit(130);

    expect(stdout).toContain("aborted");
    expect(passedIn(root)).toEqual([]);
    await expectNothingLeft(project, root);
    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("during a check", async () => {
    const prd = prdText([{
      ...stories(1)[0]!,
      acceptanceCriteria: [`Verify: \`[ -f work/1.txt ] && { echo; ${HANG}; }\``],
    }]);
    const project = faultProject(`${WORK}; sleep 0.5`, { prd });

    const { root } = await project.cli.terminal([/agent worker \d/, CTRL_C]).expectExit(130);

    expect(passedIn(root)).toEqual([]);
    await expectNothingLeft(project, root);
  });

  test("during a hook of the repository, which is named when it takes long: no attempt counts", async () => {
    const project = faultProject(WORK);
    project.cli.before(
      `printf '%s\\n' '#!/bin/sh' ${JSON.stringify(HANG)} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    );

    const { root } = await project.cli.terminal([/waits for the repository's hooks \(pre-commit\)/, CTRL_C])
      .expectExit(130);

    await expectNothingLeft(project, root);
    rmSync(join(root, ".git/hooks/pre-commit"));
    const { git } = await ralphCli(root).agent("worker", "exit 9").args("run").expectExit(0);
    expect(git("status", "--porcelain")).toBe("");
    expect(git("show", "--stat", "--format=")).toContain("work/1.txt");
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("at the question between two iterations", async () => {
    const project = faultProject(WORK, { count: 2 });

    const { root, git } = await project.cli.args("run", "--interactive").terminal([
      "Continue with the next iteration?",
      CTRL_C,
    ]).expectExit(130);

    expect(passedIn(root)).toEqual(["US-001"]);
    expect(git("status", "--porcelain")).toBe("");
    await expectNothingLeft(project, root);
  });

  test("at the planner's questions: nothing is lost, and the plan is resumed", async () => {
    const questions = JSON.stringify({
      questions: ["Which colour?"],
      uncertainties: [],
      prdDraft: null,
      recommendUnderstand: { shouldRun: false, reasons: [] },
    });
    const project = faultProject(`cat > /dev/null; printf '%s' '${questions}'`);

    const { root, read } = await project.cli.args("plan", "paint it").terminal([
      "Update this PRD or overwrite it?",
      "\r",
    ], ["Which colour?", CTRL_C]).expectExit(130);

    expect(read("scripts/ralph/plan_state.json")).not.toBeNull();
    expect(JSON.parse(read("scripts/ralph/plan_state.json") ?? "")).toMatchObject({
      goal: "paint it",
      pendingQuestions: ["Which colour?"],
    });
    passedIn(root);
    await expectNothingLeft(project, root);
  });

  test("twice is no quicker way to leave something behind", async () => {
    const project = faultProject(`cat > /dev/null; ${HANG}`);

    const { root, exitCode } = await project.cli.terminal([/agent worker at work/, CTRL_C], ["", CTRL_C], ["", CTRL_C])
      .start()
      .ended();

    expect([130, 128]).toContain(exitCode);
    passedIn(root);
    expect(await (await import("./processes.ts")).untilGone(project.mark, 3000)).toBeTypeOf("number");
  });
});
