import { describe, expect, test } from "vitest";
import { type Command, type FlagTable, parseLine, splitCommand } from "../../lib/cli/command.ts";
import { COMMANDS } from "../../lib/program/commands.ts";
import { editDistance, nearest, type RalphError } from "../../lib/errors/ralph_error.ts";

const FLAGS: FlagTable = {
  "no-color": { type: "boolean", summary: "" },
  verbose: { type: "boolean", summary: "", variable: "RALPH_VERBOSE" },
  feature: { type: "text", summary: "", variable: "RALPH_FEATURE" },
  loop: { type: "optional", summary: "" },
  verify: { type: "text", summary: "", many: true },
  branch: { type: "text", summary: "", empty: true, variable: "RALPH_BRANCH" },
  ui: { type: "text", summary: "", choices: ["rich", "plain"] },
};
const COMMAND: Command = {
  name: "try",
  summary: "",
  usage: "",
  arity: [0, 9],
  flags: FLAGS,
  load: () => Promise.reject(new Error("not loaded")),
};

function parse(
  line: readonly string[],
  variables: Record<string, string> = {},
): { readonly given: Record<string, readonly string[]>; readonly words: readonly string[] } {
  const { arguments: words, flags } = parseLine(COMMAND, line, variables);
  return {
    given: Object.fromEntries(Object.keys(FLAGS).filter(flags.has).map((name) => [name, flags.all(name)])),
    words,
  };
}

describe("parseLine", () => {
  test.each<[string[], Record<string, string[]>, string[]]>([
    [["--no-color", "x"], { "no-color": ["true"] }, ["x"]],
    [["--no-color=true", "x"], { "no-color": ["true"] }, ["x"]],
    [["--verbose", "true"], { verbose: ["true"] }, ["true"]],
    [["--verbose=false", "x"], {}, ["x"]],
    [["--feature", "007"], { feature: ["007"] }, []],
    [["--feature=02.10"], { feature: ["02.10"] }, []],
    [["02.10", "1e3"], {}, ["02.10", "1e3"]],
    [["--loop"], { loop: [""] }, []],
    [["--loop", "5", "x"], { loop: ["5"] }, ["x"]],
    [["--loop=5"], { loop: ["5"] }, []],
    [["--loop", "x"], { loop: [""] }, ["x"]],
    [["--verify", "a", "--verify=b=c"], { verify: ["a", "b=c"] }, []],
    [["--branch", "", "x"], { branch: [""] }, ["x"]],
    [["--branch="], { branch: [""] }, []],
    [["--feature", "-1", "x"], { feature: ["-1"] }, ["x"]],
    [["--loop", "-1"], { loop: ["-1"] }, []],
    [["--feature=-x"], { feature: ["-x"] }, []],
    [["--", "--feature"], {}, ["--feature"]],
    [["a", "-"], {}, ["a", "-"]],
    [[""], {}, [""]],
  ])("reads %j", (line, given, words) => {
    expect(parse(line)).toEqual({ given, words });
  });

  test.each<[string[], string]>([
    [["--featrue", "x"], "unknown flag `--featrue` for `ralph try`"],
    [["-x"], "unknown flag `-x` for `ralph try`"],
    [["--feature"], "--feature needs a value: `--feature VALUE`"],
    [["--feature", "--verbose"], "--feature needs a value: `--feature VALUE`"],
    [["--feature="], "--feature must not be empty"],
    [["--verbose=3"], "--verbose takes no value (got: 3)"],
    [["--ui", "gum"], "--ui must be one of rich, plain (got: gum)"],
    [["--__proto__", "x"], "unknown flag `--__proto__` for `ralph try`"],
  ])("refuses %j", (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });

  test("a value that begins with - is said to need =, and a flag after a flag is not taken for one", () => {
    const hintOf = (line: readonly string[]): string => {
      try {
        parse(line);
      } catch (error) {
        return (error as RalphError).hint;
      }
      return "";
    };

    expect(hintOf(["--feature", "-x"])).toBe(
      "a value that begins with `-` is written with `=`: `--feature=-x`",
    );
    expect(hintOf(["--feature", "--verbose"])).not.toContain("=");
  });

  test("a flag beats its variable, a set variable stands in, an empty one counts only where empty means something", () => {
    expect(parse(["--feature", "a"], { RALPH_FEATURE: "b" }).given).toEqual({ feature: ["a"] });
    expect(parse([], { RALPH_FEATURE: "b", RALPH_VERBOSE: "1" }).given).toEqual({ feature: ["b"], verbose: ["true"] });
    expect(parse([], { RALPH_FEATURE: "", RALPH_BRANCH: "", RALPH_VERBOSE: "0" }).given).toEqual({ branch: [""] });
  });

  test("an open command leaves what follows its first argument alone", () => {
    const { arguments: words, rest, flags } = parseLine({ ...COMMAND, open: true }, [
      "--feature",
      "f",
      "file.ts",
      "--mine",
      "1",
    ], {});

    expect([words, rest, flags.text("feature")]).toEqual([["file.ts"], ["--mine", "1"], "f"]);
  });
});

describe("splitCommand", () => {
  test("finds the command behind flags that take a value", () => {
    expect(splitCommand(["--root", "status", "run", "--quiet"], COMMANDS)).toEqual({
      name: "run",
      line: ["--root", "status", "--quiet"],
    });
  });

  test("finds none on a line of flags", () => {
    expect(splitCommand(["--version"], COMMANDS).name).toBeNull();
  });
});

describe("nearest", () => {
  test.each([["exce", "exec"], ["verfiy", "verify"], ["stat", "status"], ["zzz", null], ["x", null]])(
    "%s is %s",
    (word, found) => {
      expect(nearest(word, COMMANDS.map(({ name }) => name))).toBe(found);
    },
  );

  test("two neighbours that changed places are one mistake", () => {
    expect([editDistance("abc", "acb"), editDistance("", "ab"), editDistance("kitten", "sitting")]).toEqual([1, 2, 3]);
  });
});

describe("the command table", () => {
  test("every command loads and runs", async () => {
    for (const command of COMMANDS) {
      expect([command.name, typeof (await command.load()).run]).toEqual([command.name, "function"]);
    }
  });

  test("consents have no variable", () => {
    for (const { flags } of COMMANDS) {
      expect([flags["approve"]?.variable, flags["answers"]?.variable]).toEqual([undefined, undefined]);
    }
  });
});
