import { describe, expect, test } from "vitest";
import { validatePrd } from "../../../lib/workflows/exec/types.ts";

const story = { id: "US-001", title: "t", acceptanceCriteria: ["a"], priority: 1, passes: false, notes: "" };
const prd = (...userStories: unknown[]) => ({ branchName: "ralph/x", userStories });

describe("validatePrd()", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["null", null, ["PRD must be a JSON object"]],
    ["an array", [], ["PRD must be a JSON object"]],
    ["a text", "x", ["PRD must be a JSON object"]],
    ["no keys", {}, ["Missing required keys: branchName, userStories"]],
    [
      "missing and unexpected keys, sorted, and what else is wrong",
      { userStories: 7, zebra: 1, apple: 2 },
      [
        "Missing required keys: branchName",
        "Unexpected keys: apple, zebra",
        "userStories must be an array (got: int)",
      ],
    ],
    ["a number for the branch", { branchName: 7, userStories: [] }, ["branchName must be a string (got: int)"]],
    ["a fraction for the branch", { branchName: 1.5, userStories: [] }, ["branchName must be a string (got: float)"]],
    ["null for the branch", { branchName: null, userStories: [] }, ["branchName must be a string (got: NoneType)"]],
    ["a boolean for the branch", { branchName: true, userStories: [] }, ["branchName must be a string (got: bool)"]],
    ["a list for the branch", { branchName: [], userStories: [] }, ["branchName must be a string (got: list)"]],
    ["an object for the branch", { branchName: {}, userStories: [] }, ["branchName must be a string (got: dict)"]],
    ["an empty branch", { branchName: "", userStories: [] }, ["branchName must be non-empty"]],
    [
      "stories that are no array end it",
      { branchName: "", userStories: "x" },
      ["branchName must be non-empty", "userStories must be an array (got: str)"],
    ],
    ["a story that is no object", prd(story, []), ["userStories[1]: must be an object"]],
    [
      "a story's keys, and what is wrong with those that are there",
      prd({ id: 1, title: "t", extra: 1, another: 2 }, { ...story, id: 2 }),
      [
        "userStories[0]: missing keys: acceptanceCriteria, notes, passes, priority",
        "userStories[0]: unexpected keys: another, extra",
        "userStories[0].id: must be a string",
        "userStories[1].id: must be a string",
      ],
    ],
    [
      "every field of the wrong type, in order",
      prd({ id: 1, title: 2, acceptanceCriteria: 3, priority: "4", passes: 5, notes: 6 }),
      [
        "userStories[0].id: must be a string",
        "userStories[0].title: must be a string",
        "userStories[0].acceptanceCriteria: must be an array",
        "userStories[0].priority: must be an integer",
        "userStories[0].passes: must be a boolean",
        "userStories[0].notes: must be a string",
      ],
    ],
    [
      "a criterion that is no text",
      prd({ ...story, acceptanceCriteria: ["a", 1] }),
      ["userStories[0].acceptanceCriteria: all items must be strings"],
    ],
    ["true as priority", prd({ ...story, priority: true }), ["userStories[0].priority: must be an integer"]],
    ["1.5 as priority", prd({ ...story, priority: 1.5 }), ["userStories[0].priority: must be an integer"]],
  ])("validatePrd() refuses %s", (_name, data, errors) => {
    expect(validatePrd(data)).toEqual(errors);
  });

  test.each<[string, string]>([
    ["no stories", `{"branchName":"b","userStories":[]}`],
    ["1.0 as priority", `{"branchName":"b","userStories":[${JSON.stringify(story).replace(":1,", ":1.0,")}]}`],
    ["a negative priority", JSON.stringify(prd({ ...story, priority: -3 }))],
    ["no criteria", JSON.stringify(prd({ ...story, acceptanceCriteria: [] }))],
    ["an empty id and title", JSON.stringify(prd({ ...story, id: "", title: "" }))],
    ["ids and priorities given twice", JSON.stringify(prd(story, story))],
    ["a branch of white space", JSON.stringify({ branchName: " ", userStories: [] })],
  ])("validatePrd() accepts %s", (_name, text) => {
    expect(validatePrd(JSON.parse(text))).toEqual([]);
  });
});
