import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatPrd, parsePrd } from "../../../lib/workflows/exec/format.ts";
import { findJsonError, parseJson } from "../../../lib/errors/json_syntax.ts";
import type { Prd } from "../../../lib/workflows/exec/types.ts";
import { RalphError } from "../../../lib/errors/ralph_error.ts";

function thrownBy(run: () => unknown): RalphError {
  try {
    run();
  } catch (error) {
    if (RalphError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("formatPrd()", () => {
  test("formatPrd() writes two spaces, the fixed order of keys and a newline at the end", () => {
    const prd = {
      userStories: [{ notes: "", passes: false, priority: 1, acceptanceCriteria: ["a"], title: "T", id: "US-001" }],
      branchName: "ralph/x",
    };

    expect(formatPrd(prd)).toBe(`{
  "branchName": "ralph/x",
  "userStories": [
    {
      "id": "US-001",
      "title": "T",
      "acceptanceCriteria": [
        "a"
      ],
      "priority": 1,
      "passes": false,
      "notes": ""
    }
  ]
}
`);
  });

  test("formatPrd() and parsePrd() give back what they were given", () => {
    const story = fc.record({
      id: fc.string(),
      title: fc.string(),
      acceptanceCriteria: fc.array(fc.string()),
      priority: fc.integer(),
      passes: fc.boolean(),
      notes: fc.string(),
    });
    const prds = fc.record({ branchName: fc.string({ minLength: 1 }), userStories: fc.array(story) });

    fc.assert(fc.property(prds, (prd: Prd) => {
      expect(JSON.stringify(parsePrd(formatPrd(prd), "prd.json"))).toBe(
        JSON.stringify(JSON.parse(formatPrd(prd))),
      );
      expect(parsePrd(formatPrd(prd), "prd.json").userStories.length).toBe(prd.userStories.length);
    }));
  });
});

describe("parsePrd()", () => {
  test("parsePrd() gathers all that is wrong with the schema in one message", () => {
    const error = thrownBy(() => parsePrd(`{"branchName":"","userStories":7}`, "scripts/ralph/prd.json"));

    expect([error.code, error.exitCode]).toEqual(["state-invalid", 2]);
    expect(error.message).toBe(
      "scripts/ralph/prd.json: Invalid PRD schema: branchName must be non-empty; userStories must be an array (got: int)",
    );
  });

  test("parsePrd() names line and column of a syntax error", () => {
    const error = thrownBy(() => parsePrd(`{\n  "branchName": "b",\n  "userStories": [,]\n}\n`, "prd.json"));

    expect(error.message).toBe("prd.json: not valid JSON: line 3, column 19: expected a value");
  });

  test("parsePrd() reads a file that begins with a byte order mark", () => {
    expect(parsePrd(`\uFEFF{"branchName":"b","userStories":[]}`, "prd.json").branchName).toBe("b");
  });
});

describe("findJsonError()", () => {
  test.each<[string, string]>([
    ["", "1:1 a value"],
    ["{", "1:2 a key in double quotes"],
    ["{a: 1}", "1:2 a key in double quotes"],
    ['{"a" 1}', "1:6 `:`"],
    ['{"a": 1,}', "1:9 a key in double quotes"],
    ["[1 2]", "1:4 `,` or `]`"],
    ["[1,]", "1:4 a value"],
    ['["x]', "1:2 a closed string"],
    ['["a\tb"]', "1:2 a closed string"],
    ["{} x", "1:4 the end of the file"],
    ["[1,\n\n  nul]", "3:3 a value"],
    ["01", "1:2 the end of the file"],
  ])("findJsonError() of %j says %s", (text, said) => {
    const found = findJsonError(text);

    expect(found === null ? null : `${found.line}:${found.column} ${found.expected}`).toBe(said);
  });

  test("findJsonError() finds an error exactly where JSON.parse does", () => {
    const pieces = fc.array(
      fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', "1", "-2.5e3", "true", "null", " ", "\n", "x", '"'),
    );
    fc.assert(
      fc.property(fc.oneof(fc.json(), pieces.map((parts) => parts.join("")), fc.string()), (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(findJsonError(text) === null).toBe(valid);
      }),
      { numRuns: 2000 },
    );
  });

  test("parseJson() gives valid JSON back", () => {
    expect(parseJson("[1]", "x")).toEqual([1]);
  });
});
