import { expect, test } from "vitest";
import { ONE, planText, PROJECT, STATE, summaryOf, TWO } from "../workflows/gsd/planning.ts";
import { ralphCli } from "./cli.ts";

const TASK = '<task type="auto">\n  <name>More</name>\n</task>';

test("`ralph next` says what it leaves out: a long plan, an <expect> that is not understood, older plans", async () => {
  const long = planText("three.txt", {
    task: Array.from({ length: 9 }, () => TASK).join("\n"),
    verification: "<command>npm test</command>\n<expect>all green</expect>",
  });
  const files = {
    ...PROJECT,
    ".planning/STATE.md": STATE.replace("Phase: 1 of 2 (Base)", "Phase: 2 of 2 (More)").replace("0 of 2", "0 of 1"),
    [summaryOf(TWO)]: "done\n",
    ".planning/phases/02-more/02-01-PLAN.md": long,
  };
  const next = await ralphCli().files(files).args("next").expectExit(0);
  const valid = await ralphCli().files(files).args("validate").expectExit(0);

  const size =
    "02-01 has 10 tasks: GSD gives a plan 2 or 3, so that it fits into the agent's context; `ralph plan 02` splits it";
  expect(next.stdout).toContain(`  ▲ ${size}\n`);
  expect(next.stdout).toContain(
    "  ▲ 02-01: not run, since its <expect> is not understood: npm test (expected: all green)\n",
  );
  expect(next.stdout).toContain("  ▲ 1 older plan has no SUMMARY: 01-01; ");
  expect(valid.stdout).toContain(`warning: ${size}\n`);
});

test("`ralph verify` without a check names the form that a PLAN.md has", async () => {
  const verified = await ralphCli().files({ ...PROJECT, [ONE]: planText("one.txt") }).args("verify").expectExit(1);

  expect(verified.stderr).toContain("in the plan, in a task's `<verify>` or in `<verification>`");
  expect(verified.stderr).not.toContain("in a criterion");
});
