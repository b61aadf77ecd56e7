import { describe, expect, test } from "vitest";
import { changeYaml, readProgress } from "../../../lib/workflows/sprint/document.ts";
import {
  addMissingSteps,
  addSteps,
  completeStep,
  normalizeSteps,
  reopenStep,
} from "../../../lib/workflows/sprint/steps.ts";

const NOW = "2026-01-18T12:00:00Z";
const MARK = { iteration: 2, now: NOW };

function file(...steps: readonly string[]): string {
  return `# my sprint\nmode: ralph # free\nowner: ada\ndynamic-steps:\n${
    steps.map((step) => `  - ${step}\n`).join("")
  }`;
}

function stepsOf(text: string): readonly string[] {
  return readProgress(text, "P").steps.map(({ id, prompt, status }) => `${id} ${prompt} ${status}`);
}

describe("addSteps()", () => {
  test("gives the highest number + 1, whatever is pending", () => {
    const text = changeYaml(
      file("{ id: step-7, prompt: a, status: completed }", "{ id: odd, prompt: b, status: pending }"),
      "P",
      (document) => addSteps(document, ["c", "d"], MARK).join() === "step-8,step-9",
    );

    expect(stepsOf(text)).toEqual(["step-7 a completed", "odd b pending", "step-8 c pending", "step-9 d pending"]);
    expect(text).toContain(`added-at: ${NOW}`);
    expect(text).toContain("added-in-iteration: 2");
  });

  test("starts at step-1 where there is no list, or an empty one, and leaves the rest as it was", () => {
    for (const before of ["# top\nmode: ralph\n", "# top\nmode: ralph\ndynamic-steps: []\n"]) {
      const text = changeYaml(
        before,
        "P",
        (document) => addSteps(document, ['quote " colon: and 🎉\nsecond line'], MARK).length > 0,
      );

      expect(text.startsWith("# top\nmode: ralph\ndynamic-steps:\n  - id: step-1\n")).toBe(true);
      expect(readProgress(text, "P").steps[0]?.prompt).toBe('quote " colon: and 🎉\nsecond line');
    }
  });

  test("comments and unknown keys survive", () => {
    const text = changeYaml(
      file("{ id: step-1, prompt: a, status: pending, mood: good } # mine"),
      "P",
      (document) => addSteps(document, ["b"], MARK).length > 0,
    );

    expect(text).toContain("# my sprint\nmode: ralph # free\nowner: ada\n");
    expect(text).toContain("{ id: step-1, prompt: a, status: pending, mood: good } # mine");
  });
});

test("addMissingSteps() adds nothing the second time", () => {
  const add = (text: string): string =>
    changeYaml(text, "P", (document) => addMissingSteps(document, ["a", "a", "b"], MARK));
  const once = add("mode: ralph\n");

  expect(stepsOf(once)).toEqual(["step-1 a pending", "step-2 a pending", "step-3 b pending"]);
  expect(add(once)).toBe(once);
});

describe("completeStep()", () => {
  test("completes the first pending one of an id, and no other", () => {
    const before = file(
      "{ id: step-1, prompt: a, status: completed }",
      "{ id: step-1, prompt: b, status: pending }",
      "{ id: step-1, prompt: c, status: pending }",
    );
    const text = changeYaml(before, "P", (document) => completeStep(document, { id: "step-1" }, NOW) === "completed");

    expect(stepsOf(text)).toEqual(["step-1 a completed", "step-1 b completed", "step-1 c pending"]);
  });

  test.each([["step-1", "already"], ["step-9", "unknown"]])("%s is %s", (id, expected) => {
    let found = "";
    const before = file("{ id: step-1, prompt: a, status: completed }");
    expect(changeYaml(before, "P", (document) => {
      found = completeStep(document, { id }, NOW);
      return false;
    })).toBe(before);
    expect(found).toBe(expected);
  });

  test("is taken back by reopenStep()", () => {
    const before = file("{ id: step-1, prompt: a, status: completed, completed-at: x }");

    expect(changeYaml(before, "P", (document) => reopenStep(document, { id: "step-1", prompt: "a" }, "t"))).toContain(
      "status: pending }",
    );
    expect(changeYaml(before, "P", (document) => reopenStep(document, { id: "step-1", prompt: "other" }, "t"))).toBe(
      before,
    );
  });
});

describe("normalizeSteps()", () => {
  test("twelve steps called step-1 get ids of their own, and one claim that stamped them all completes one", () => {
    const damaged = file(
      ...Array.from(
        { length: 12 },
        (_, index) => `{ id: step-1, prompt: p${index}, status: completed, completed-at: "2026-01-20T09:00:00Z" }`,
      ),
    );
    const text = changeYaml(damaged, "P", (document) => normalizeSteps(document).length === 11);

    expect(stepsOf(text)).toEqual([
      "step-1 p0 completed",
      ...Array.from({ length: 11 }, (_, index) => `step-${index + 2} p${index + 1} pending`),
    ]);
    expect(text.match(/claimed-at: "2026-01-20T09:00:00Z"/g)).toHaveLength(11);
  });

  test("in a sprint that is completed every step stays completed", () => {
    const step = '{ id: step-1, prompt: p, status: completed, completed-at: "2026-01-20T09:00:00Z" }';
    const text = changeYaml(
      `status: completed\n${file(step, step)}`,
      "P",
      (document) => normalizeSteps(document).length === 1,
    );

    expect(stepsOf(text)).toEqual(["step-1 p completed", "step-2 p completed"]);
  });

  test("steps completed at times of their own stay completed; ids that are free stay as they are", () => {
    const before = file(
      "{ id: step-4, prompt: a, status: completed, completed-at: x }",
      "{ id: step-4, prompt: b, status: completed, completed-at: y }",
      "{ prompt: c }",
    );

    expect(stepsOf(changeYaml(before, "P", (document) => normalizeSteps(document).length > 0)))
      .toEqual(["step-4 a completed", "step-5 b completed", "step-6 c pending"]);
    const sound = file("{ id: a, prompt: a, status: pending }");
    expect(changeYaml(sound, "P", (document) => normalizeSteps(document).length > 0)).toBe(sound);
  });
});

describe("readProgress()", () => {
  test.each([
    ["mode: ralph\nbad: [\n", "state-invalid", /line [23]/],
    ["- a\n", "state-invalid", /keys and values/],
    ["status: x\n", "sprint-invalid", /line 1: expected a list of `phases`, or `mode: ralph`/],
    ["queue: []\ncompleted: []\n", "sprint-invalid", /line 1: expected a list of `phases`/],
    ["mode: free\n", "sprint-invalid", /its mode is free, expected standard or ralph/],
  ])("refuses %j", (text, code, message) => {
    expect(() => readProgress(text, "P")).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});
