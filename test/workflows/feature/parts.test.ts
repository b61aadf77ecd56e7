import { describe, expect, test } from "vitest";
import { isFeatureName, matchFeature, parseDirectory } from "../../../lib/workflows/feature/directories.ts";
import { featureSignals, learningsByHand, learningsChange } from "../../../lib/workflows/feature/claim.ts";
import { changePrdText, parseFeaturePrd } from "../../../lib/workflows/feature/format.ts";
import { validateFeaturePrd } from "../../../lib/workflows/feature/validate.ts";
import { readDraft, withOwnState } from "../../../lib/workflows/feature/prd/finalize.ts";

const features = (...names: string[]) => names.flatMap((name) => parseDirectory(name) ?? []);

describe("feature directories", () => {
  test("both forms of dates are read, and nothing else", () => {
    expect(parseDirectory("2024-01-15-auth")).toMatchObject({ name: "auth", date: "2024-01-15" });
    expect(parseDirectory("20240115-user.auth_2")).toMatchObject({ name: "user.auth_2", date: "2024-01-15" });
    for (
      const name of [
        "2024-0115-auth",
        "2024-13-15-auth",
        "2024-02-30-auth",
        "2024-01-15",
        "auth",
        "screenshots",
        "2024-01-15--x",
        "2024-01-15-7",
      ]
    ) {
      expect(parseDirectory(name), name).toBeNull();
    }
  });

  test("a name matches the whole suffix, ignoring case; the newest date wins", () => {
    const all = features("2024-01-15-user-auth", "20240301-AUTH", "2024-02-01-auth", "2024-05-01-oauth");
    expect(matchFeature(all, "auth")?.directory).toBe("20240301-AUTH");
    expect(matchFeature(all, "user-auth")?.directory).toBe("2024-01-15-user-auth");
    expect(matchFeature(all, "th")).toBeNull();
    expect(() => matchFeature(features("2024-01-15-a", "20240115-A"), "a")).toThrow(/2024-01-15-a.*20240115-A/);
  });

  test("names are letters, digits, `_`, `.` and `-`, and not digits alone", () => {
    expect(["a", "a-b", "v1.2", "2fa", "A_b"].every(isFeatureName)).toBe(true);
    expect(["", "5", "02", "-a", ".a", "a b", "a/b", "ü"].some(isFeatureName)).toBe(false);
  });
});

describe("signals", () => {
  test("whole lines, several on one line; reasons are joined; ids are split", () => {
    const signals = featureSignals([
      "<ralph>RESET:US-1, US-2 US-1</ralph> <ralph>REASON:a < b</ralph>",
      "<ralph>REASON:c</ralph>",
      "I said <ralph>DONE</ralph>",
      "<ralph>LEARNING: use <Button> </ralph>",
    ]);
    expect(signals).toEqual({
      done: false,
      verified: false,
      learnings: ["use <Button>"],
      reset: ["US-1", "US-2"],
      reason: "a < b; c",
    });
  });

  test("learnings are kept once, whatever their case and white space", () => {
    const known = ["Use npm"];
    expect(learningsChange(known, ["use  npm", ""])).toEqual({});
    expect(learningsChange(known, ["x", " X ", "y"])).toEqual({ learnings: ["Use npm", "x", "y"] });
    expect(learningsByHand('{"run":{"learnings":["a","b",3]}}', '{"run":{"learnings":["a"]}}')).toEqual(["b"]);
    expect(learningsByHand("{ broken", "{}")).toEqual([]);
  });
});

describe("prd.json, version 2", () => {
  const text =
    `{\n\t"branchName": "b", "schemaVersion": 2,\n\t"z": {"y": [1, {"x": null}]},\n\t"project": "P",\n\t"userStories": [{"browserSteps": ["s"], "id": "US-1", "title": "a & b", "acceptanceCriteria": ["c"]}]}`;

  test("a change keeps unknown keys, their order, the indentation and the end of the file", () => {
    const changed = changePrdText(text, "p", {
      run: { currentStoryId: "US-1" },
      stories: new Map([["US-1", { retries: 1 }]]),
    });
    const data = JSON.parse(changed);
    expect(Object.keys(data)).toEqual(["branchName", "schemaVersion", "z", "project", "userStories", "run"]);
    expect(Object.keys(data.userStories[0])).toEqual(["browserSteps", "id", "title", "acceptanceCriteria", "retries"]);
    expect(data.z).toEqual({ y: [1, { x: null }] });
    expect(changed).toContain('\n\t"project"');
    expect(changed.endsWith("}")).toBe(true);
    expect(changePrdText(text, "p", {})).toBe(text);
  });

  test("what is left out has its default", () => {
    expect(parseFeaturePrd(text, "p")).toMatchObject({
      description: "",
      run: { startedAt: null, learnings: [] },
      userStories: [{ tags: [], passes: false, retries: 0, blocked: false, lastResult: null, notes: "" }],
    });
  });

  test("every message", () => {
    const story = { id: "a", title: "t", acceptanceCriteria: ["c"] };
    const valid = { schemaVersion: 2, project: "p", branchName: "b", userStories: [story] };
    expect(validateFeaturePrd(valid)).toEqual([]);
    expect(validateFeaturePrd(null)).toEqual(["PRD must be a JSON object"]);
    expect(validateFeaturePrd({ ...valid, userStories: [] })).toEqual(["userStories must have at least one story"]);
    expect(validateFeaturePrd({ ...valid, userStories: {} })).toEqual(["userStories must be an array"]);
    expect(validateFeaturePrd({ ...valid, userStories: [story, story] })).toEqual([
      "userStories: the id a is used more than once",
    ]);
    expect(validateFeaturePrd({ ...valid, run: { learnings: [1], currentStoryId: 3 } })).toEqual([
      "run.currentStoryId must be a string",
      "run.learnings must be an array of strings",
    ]);
    expect(validateFeaturePrd({ ...valid, userStories: [{ ...story, tags: "ui", passes: "no", lastResult: "x" }] }))
      .toEqual([
        "userStories[0].tags must be an array of strings",
        "userStories[0].passes must be a boolean",
        "userStories[0].lastResult must be an object or null",
      ]);
  });
});

describe("a draft of prd.json", () => {
  const prd = {
    schemaVersion: 2,
    project: "p",
    branchName: "b",
    userStories: [{
      id: "a",
      title: "t",
      acceptanceCriteria: ["c"],
      passes: true,
      retries: 2,
      blocked: true,
      notes: "n",
    }],
  };

  test("is read from a file, a fence, or an answer around it", () => {
    const json = JSON.stringify(prd);
    for (const text of [json, `Here:\n\`\`\`json\n${json}\n\`\`\`\nDone.`, `Sure! ${json} Anything else?`]) {
      expect(readDraft(text).status, text).toBe("valid");
    }
    expect(readDraft("no")).toEqual({
      status: "invalid",
      problems: ["no JSON object was found: neither in the file nor in the answer"],
    });
    expect(readDraft('{"schemaVersion": 2}')).toMatchObject({
      status: "invalid",
      problems: expect.arrayContaining(["missing required field: project"]),
    });
  });

  test("loses the state that the agent gave it, and keeps that of stories that stay the same", () => {
    const draft = readDraft(JSON.stringify(prd));
    if (draft.status !== "valid") throw new Error("not valid");
    expect(withOwnState(draft.prd, null, "h")).toMatchObject({
      prdSha256: "h",
      userStories: [{ passes: false, retries: 0, blocked: false, notes: "" }],
    });
    const before = parseFeaturePrd(
      JSON.stringify({ ...prd, run: { startedAt: "s", currentStoryId: "gone", learnings: ["l"], verifiedAt: "v" } }),
      "p",
    );
    expect(withOwnState(draft.prd, before, "h")).toMatchObject({
      run: { startedAt: "s", learnings: ["l"] },
      userStories: [{ passes: true, retries: 2 }],
    });
    const other = { ...draft.prd, userStories: [{ ...draft.prd.userStories[0]!, acceptanceCriteria: ["d"] }] };
    const updated = withOwnState(other, before, "h");
    expect(updated.userStories[0]).toMatchObject({ passes: false, retries: 0 });
    expect(updated.run).toEqual({ startedAt: "s", currentStoryId: null, learnings: ["l"] });
  });
});
