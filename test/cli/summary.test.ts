import { expect, test } from "vitest";
import { outcomeLines } from "../../lib/cli/summary.ts";
import type { Outcome } from "../../lib/steps/outcome.ts";
import { createStyle } from "../../lib/ui/style.ts";

const STYLE = createStyle({ colour: false, ascii: true });

function lines(outcome: Outcome & Readonly<Record<string, unknown>>, goOn = "ralph run"): readonly string[] {
  return outcomeLines(outcome, STYLE, goOn).slice(1);
}

test("outcomeLines() says why a plan failed and how it goes on", () => {
  expect(lines({ status: "failed", reason: "invalid-prd", messages: ["the PRD has no stories", "raw"] })).toEqual([
    "x failed",
    "  the PRD has no stories",
    "hint: `ralph plan --resume` goes on",
  ]);
});

test("outcomeLines() says that a trespass's files are left to the person", () => {
  const trespassed = { status: "failed", reason: "trespassed", iterations: 1, reasons: ["wrote: x.txt"] } as const;

  expect(lines(trespassed, "ralph understand")).toEqual([
    "x failed: 0 verified in 1 iteration",
    "  wrote: x.txt",
    "hint: the files are as the agent left them: take back what you do not want; `ralph understand` goes on",
  ]);
});

test("outcomeLines() names the way back for what was parked in an earlier run", () => {
  expect(lines({ status: "blocked", iterations: 0, reasons: ["US-1: no"] })).toEqual([
    "x blocked: 0 verified in 0 iterations",
    "  US-1: no",
    "hint: `ralph status` shows where it stands; `ralph run --retry-blocked` takes up again what was parked",
  ]);
});

test("outcomeLines() names the checks that a recipe's last verify() found failing", () => {
  const failures = [{ name: "npm test", exitCode: 1 }, { name: "by hand", exitCode: null }];

  expect(lines({ status: "failed", results: [], failures })).toEqual([
    "x failed",
    "  npm test: exit 1",
    "  by hand: failed",
  ]);
});
