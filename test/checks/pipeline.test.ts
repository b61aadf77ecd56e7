import { describe, expect, test } from "vitest";
import { verify } from "../../lib/checks/verify.ts";
import { strictPipelines } from "../../lib/host/pipelines.ts";
import { loopWorld } from "../loop/loop_world.ts";

/** Writes far more than a pipe holds, so that SIGPIPE ends it if nobody reads on. */
const LONG = "seq 1 200000";

describe("strictPipelines()", () => {
  test.each([
    "npm test",
    "a || b",
    "a && b; c",
    'test -n "$(git log | head -1)"',
    "grep 'a|b' x",
    'printf "a\\"|b;"',
    "[ a = b ]",
    "a >| b 2>&1",
    "if a | b; then c; fi",
    "for f in a; do b | c; done",
    "a | while read x; do b; done",
    "case a in b|c) d;; esac",
    "f() { a | b; }; f",
    "{ a | b; }",
    "(( a = 1 | 2 ))",
    "cat <<X | head -1\nx\nX",
    "a | b & c",
    "a |& b",
    "a | b 'c",
  ])("leaves %j as it is", (command) => {
    expect(strictPipelines(command)).toBe(command);
  });
});

describe("a check with a pipe", () => {
  test.each([
    // a single pipeline
    ["yes | head -1", true, 0],
    ["yes | head -1 | cat", true, 0],
    ["false | cat", false, 1],
    ["yes | (exit 3)", false, 3],
    ["sh -c 'kill -PIPE $$' | sh -c 'kill -PIPE $$'", false, 141],
    ["(exit 4) 2>&1 | cat # the output", false, 4],
    ['X=app; (exit 5) | sed "s/${X}/$(echo b)/" | cat', false, 5],
    // pipelines among other commands
    [`true && ${LONG} | grep -q 3`, true, 0],
    [`${LONG} | grep -q 3 && true`, true, 0],
    [`${LONG} | grep -q 3; ${LONG} | grep -q 4`, true, 0],
    [`${LONG} | grep -q 3 || exit 7`, true, 0],
    [`set -eu\n${LONG} |\n  head -1\n${LONG} | grep -q 4\n`, true, 0],
    [`(cd . && ${LONG} | grep -q 3) && true`, true, 0],
    [`if ${LONG} | grep -q 3; then exit 0; else exit 1; fi`, true, 0],
    [`! ${LONG} | grep -q 3`, false, 1],
    [`! ${LONG} | grep -q none`, true, 0],
    ["yes | head -1 && false", false, 1],
    ["false | cat && true", false, 1],
    ["true && (exit 6) | cat", false, 6],
    ["(cd . && false | cat)", false, 1],
    ["set -e\nfalse | cat\necho never", false, 1],
    [`set -o pipefail; true; ${LONG} | grep -q 3`, true, 0],
  ])("%j: ok %s, exit %s", async (command, ok, exitCode) => {
    await using world = await loopWorld(async () => {});

    const { results } = await verify(world.ralph, [command]);

    expect(results[0]).toMatchObject({ ok, exitCode });
  });

  test("whose reader stops early is never red by chance", async () => {
    await using world = await loopWorld(async () => {});
    const once = `true && ${LONG} | grep -q 1`;

    const { results } = await verify(
      world.ralph,
      Array.from({ length: 200 }, (_, index) => `${once} && true ${index}`),
    );

    expect(results.filter(({ ok }) => !ok)).toEqual([]);
  });
});
