import { expect, test } from "vitest";
import { claimOf } from "../../../lib/workflows/gsd/claim.ts";

const AT = { nonce: "k3f9ab", interactive: false, summaryOnly: false };

test.each([
  ["with its nonce, whatever follows", ["###PLAN_COMPLETE k3f9ab###", "All tests are green."], "done"],
  ["plain, as the last line", ["All tests are green.", "###PLAN_COMPLETE###"], "done"],
  ["plain, with a sentence behind it", ["###PLAN_COMPLETE###", "All tests are green."], "not-done"],
])("PLAN_COMPLETE %s", (_, lines, status) => {
  expect(claimOf({ lines }, AT).status).toBe(status);
});

test("a plain signal that does not count is not called missing: the next attempt can put it right", () => {
  const plain = claimOf({ lines: ["###PLAN_COMPLETE###", "All tests are green."] }, AT);
  const none = claimOf({ lines: ["All tests are green."] }, AT);

  expect("reason" in plain && plain.reason).toBe(
    "the line `###PLAN_COMPLETE###` lacks its nonce and is not the last line: print it as the prompt shows it",
  );
  expect("reason" in none && none.reason).toBe("the agent gave no signal: no line `###PLAN_COMPLETE###`");
});
