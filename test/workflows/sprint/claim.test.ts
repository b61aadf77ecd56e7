import { describe, expect, test } from "vitest";
import { signalLines } from "../../../lib/backlog/signals.ts";
import { findingsOf, parseResult } from "../../../lib/workflows/sprint/claim.ts";
import { readProgress } from "../../../lib/workflows/sprint/document.ts";
import type { SprintFindings, SprintProgress } from "../../../lib/workflows/sprint/types.ts";

const STEPS = [
  "{ id: step-1, prompt: one, status: completed }",
  "{ id: step-2, prompt: two, status: pending }",
  "{ id: step-3, prompt: three, status: pending }",
];
const progress = (steps: readonly string[] = STEPS, more = ""): SprintProgress =>
  readProgress(`mode: ralph\n${more}dynamic-steps:\n${steps.map((step) => `  - ${step}\n`).join("")}`, "P");

function claim(text: string, found: SprintProgress | null = progress(), prompt = ""): SprintFindings {
  const written = progress();
  return findingsOf({
    turn: { text, lines: signalLines(text, { prompt }) },
    written,
    found,
    step: written.steps[1] ?? null,
    claims: [],
    nonce: "k3f9ab",
  });
}

describe("RALPH_COMPLETE", () => {
  test.each([
    ["RALPH_COMPLETE: all done", "all done"],
    ["work\n**RALPH_COMPLETE: \"quoted\": colons, 🎉 and 'more'**\n", "\"quoted\": colons, 🎉 and 'more'"],
    ["RALPH_COMPLETE:", ""],
    ["RALPH_COMPLETE: first\nRALPH_COMPLETE: second", "second"],
    ["RALPH_COMPLETE k3f9ab: with the nonce\nmore", "with the nonce"],
    ["<ralph>RALPH_COMPLETE: in a tag</ralph>", "in a tag"],
    ["<promise>COMPLETE</promise>", ""],
    ["<promise k3f9ab>RALPH_COMPLETE</promise>\nmore", ""],
    ["###RALPH_COMPLETE###", ""],
  ])("in %j is the claim %j", (text, summary) => expect(claim(text).complete).toBe(summary));

  test.each([
    "When the goal is reached: RALPH_COMPLETE: [summary]",
    "RALPH_COMPLETE: [summary]",
    "RALPH_COMPLETE: [detailed summary]",
    "RALPH_COMPLETE: <summary>",
    "I will print RALPH_COMPLETE: later",
    "```\nRALPH_COMPLETE: in a fence\n```",
    "RALPH_COMPLETE",
    "RALPH_COMPLETED: no",
    "RALPH_COMPLETE: in the middle\nmore",
    "RALPH_COMPLETE zzzzzz: another attempt's",
  ])("in %j is none", (text) => expect(claim(text).complete).toBeNull());

  test("in an echo of the prompt is none", () => {
    const prompt = "# Goal\nWrite it.\nRALPH_COMPLETE: say it like this\nThen end.\n";

    expect(
      claim(`> # Goal\n> Write it.\n> RALPH_COMPLETE: say it like this\n> Then end.\nworking\n`, progress(), prompt)
        .complete,
    ).toBeNull();
  });
});

describe("manual edits", () => {
  test("a new step is a claim, also under an id that is taken", () => {
    const found = progress([
      ...STEPS,
      "{ id: step-1, prompt: mine, status: pending }",
      "{ id: step-1, prompt: mine, status: pending }",
    ]);

    expect(claim("", found).added).toEqual(["mine", "mine"]);
  });

  test("one step at most is completed, the iteration's own before others", () => {
    const all = progress(STEPS.map((step) => step.replace("pending", "completed")));

    expect(claim("", all).completed).toEqual({ id: "step-2", prompt: "two" });
    expect(claim("", progress([STEPS[0]!, STEPS[1]!, STEPS[2]!.replace("pending", "completed")])).completed).toEqual({
      id: "step-3",
      prompt: "three",
    });
    expect(claim("", progress()).completed).toBeNull();
  });

  test("status: needs-human asks for a person; a file that cannot be read claims nothing", () => {
    expect(claim("", progress(STEPS, "status: needs-human\n")).needsHuman).toBe("it set `status: needs-human`");
    expect(claim("", progress(STEPS, "status: needs-human\nhuman-needed: no key\n")).needsHuman).toBe("no key");
    expect(claim("", null)).toEqual({ added: [], completed: null, complete: null, needsHuman: null, claims: [] });
  });
});

describe("the JSON form", () => {
  test("says all of it, a summary of several lines too", () => {
    const summary = 'line "one": a\nline two 🎉';
    const result = {
      status: "goal-complete",
      summary: "s",
      completedStepIds: ["step-2", "step-3"],
      pendingSteps: [{ id: null, prompt: "more" }, { id: "step-3", prompt: "x" }],
      goalCompleteSummary: summary,
    };

    expect(claim(`done\n\n${JSON.stringify(result, null, 2)}\n`)).toEqual({
      added: ["more"],
      completed: { id: "step-2", prompt: "two" },
      complete: summary,
      needsHuman: null,
      claims: [],
    });
    expect(claim(`done\n\`\`\`json\n${JSON.stringify(result)}\n\`\`\`\n`).complete).toBe(summary);
  });

  test("needs-human carries its reason", () => {
    expect(
      claim('{"status":"needs-human","summary":"stuck","humanNeeded":{"reason":"no key","details":"ask ops"}}')
        .needsHuman,
    ).toBe("no key: ask ops");
    expect(claim('{"status":"needs-human","summary":"stuck"}').needsHuman).toBe("stuck");
  });

  test.each([
    '{"status":"goal-complete"} and more text',
    '{"status":"done"}',
    "{",
    "}",
    '{"a":{"status":"goal-complete"}} x',
    `${"{".repeat(500)}}`,
  ])("%j is none", (text) => {
    expect(parseResult(text)).toBeNull();
  });
});
