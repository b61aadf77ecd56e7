import { describe, expect, test } from "vitest";
import { failureIn, failureOf, headlineOf, withFailure } from "../../lib/backlog/attempts.ts";
import { iterationText } from "../../lib/ui/text.ts";

test("a commit that a hook refused is shown with the hook's own words", () => {
  const ended = { result: "failed", settlement: "open", message: "refused by a hook of the repository:\nno tabs\n" };
  expect(iterationText(ended as Parameters<typeof iterationText>[0])).toBe(
    "failed: refused by a hook of the repository: no tabs",
  );
});

describe("headlineOf()", () => {
  test.each([
    ["a sentence as it is", "the agent only asked", "the agent only asked"],
    [
      "why a service is down",
      "service dev: failed\nnot ready within 3 s: connection refused\n\nbrowser /a: failed\nno page",
      "service dev: failed: not ready within 3 s: connection refused",
    ],
    [
      "what a page shows, at the end of its lines",
      "browser /a: exit 1\nhttp://h/a: HTTP 500 (a.png)\n  the page answers HTTP 500",
      "browser /a: exit 1: the page answers HTTP 500",
    ],
    [
      "what a hook printed",
      "failed the same way 3 times: the commit was refused by a hook of the repository:\nlint: 3 problems\n",
      "failed the same way 3 times: the commit was refused by a hook of the repository: lint: 3 problems",
    ],
    ["a check without output", "npm test: exit 1", "npm test: exit 1"],
  ])("is %s", (_name, reason, line) => {
    expect(headlineOf(reason)).toBe(line);
  });
});

describe("failureOf()", () => {
  test("tells what the notes say where no attempt is known, and of one that ended without a verdict", () => {
    const notes = withFailure("mine", "sent back: the button is blue");
    const left = { id: "r.1", number: 0, claim: null, turn: null, verification: null, status: "interrupted" } as const;

    expect(failureOf(null, failureIn(notes))).toBe("sent back: the button is blue");
    expect(failureOf(null, failureIn("mine"))).toBe("Nothing: this is the first attempt.");
    expect(failureOf(left)).toContain("still in the working tree");
  });
});
