import { describe, expect, test } from "vitest";
import { loadAnswers, parseAnswers } from "../../lib/ui/answers.ts";
import { findAnswer } from "../../lib/ui/find_answer.ts";
import type { Question } from "../../lib/context/context.ts";

const own = (id: string, message = "?"): Question => ({ id, kind: "text", message });
const asked = (message: string): Question => ({ id: "plan.question", kind: "text", message, fromAgent: true });

describe("parseAnswers()", () => {
  test("parseAnswers() reads YAML and JSON alike, numbers and booleans as text", async () => {
    const yaml =
      "questions:\n  - match: port\n    answer: 80\n  - {match: tests, answer: true}\notherwise: as you like\nprompts:\n  plan.change: no\n";
    const json =
      '{\n\t"questions": [{"match": "port", "answer": 80}, {"match": "tests", "answer": true}],\n\t"otherwise": "as you like", "prompts": {"plan.change": "no"}}';
    const answers = {
      questions: [{ match: "port", answer: "80" }, { match: "tests", answer: "yes" }],
      otherwise: "as you like",
      prompts: { "plan.change": "no" },
    };

    expect(await parseAnswers(yaml, "a.yaml")).toEqual(answers);
    expect(await parseAnswers(json, "a.json")).toEqual(answers);
    expect(await parseAnswers("", "a.yaml")).toEqual({ questions: [], prompts: {} });
  });

  test.each<[string, string, RegExp]>([
    ["an answer without a match", "questions: [{answer: x}]", /^a\.yaml: questions\[0\]\.match: /],
    ["an answer that is a list", "prompts: {plan.change: [x]}", /^a\.yaml: prompts\.plan\.change: /],
    ["an unknown key", "question: []", /^a\.yaml: .*question/],
    ["a list", "- a", /^a\.yaml: /],
    ["an empty match", "questions: [{match: '', answer: x}]", /questions\[0\]\.match: must not be empty/],
    ["YAML that is none", "questions:\n  - match: a\n answer: b", /^a\.yaml: not valid YAML: line 3, column 1: /],
  ])("parseAnswers() names file and field of %s", async (_name, text, message) => {
    await expect(parseAnswers(text, "a.yaml")).rejects.toMatchObject({
      code: "answers-invalid",
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });

  test("loadAnswers() names a file that does not exist", async () => {
    await expect(loadAnswers("/nowhere/a.yaml")).rejects.toMatchObject({
      message: "/nowhere/a.yaml: the file does not exist",
    });
  });
});

describe("findAnswer()", () => {
  const answers = {
    questions: [{ match: "PORT", answer: "80" }, { match: "port number", answer: "81" }],
    otherwise: "as you like",
    prompts: { "plan.change": "nothing", "gate.run": "yes" },
  };

  test("findAnswer() takes the first match in the agent's question, ignoring case, and otherwise the rest", () => {
    expect(findAnswer(answers, asked("Which port number?"))).toBe("80");
    expect(findAnswer(answers, asked("Which path?"))).toBe("as you like");
    expect(findAnswer({ questions: [], prompts: {} }, asked("Which path?"))).toBeNull();
  });

  test("findAnswer() answers Ralph's own questions by their id alone", () => {
    expect(findAnswer(answers, own("plan.change"))).toBe("nothing");
    expect(findAnswer(answers, own("run.checks", "Which port?"))).toBeNull();
    expect(findAnswer(answers, own("toString"))).toBeNull();
  });

  test("findAnswer() never answers a gate", () => {
    expect(findAnswer(answers, { id: "gate.run", kind: "confirm", message: "Start?", initial: false, gate: "run" }))
      .toBeNull();
  });
});
