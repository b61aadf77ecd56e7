import { describe, expect, test } from "vitest";
import { verify } from "../../lib/checks/verify.ts";
import { isSinglePipeline } from "../../lib/checks/shell.ts";
import { loopWorld } from "../loop/loop_world.ts";

describe("isSinglePipeline()", () => {
  test.each([
    ["git log | head -1", true],
    ["npm test 2>&1 | tail -5", true],
    ["grep 'a;b && c' x | head -1", true],
    ['printf "a\\"|b;" | head -1', true],
    ["npm test", false],
    ["git log | head -1 && npm test", false],
    ["git log | head -1; npm test", false],
    ["git log | head -1\nnpm test", false],
    ["! git log | head -1", false],
    ["a || b", false],
    ["(a | b)", false],
    ['echo "$(npm test)" | head -1', false],
    ["cat <<X | head -1\nx\nX", false],
    ["a | b & c", false],
  ])("%j is %s", (command, expected) => {
    expect(isSinglePipeline(command)).toBe(expected);
  });
});

describe("a pipeline as a check", () => {
  test.each([
    ["yes | head -1", true, 0],
    ["yes | head -1 | cat", true, 0],
    ["false | cat", false, 1],
    ["yes | (exit 3)", false, 3],
    ["sh -c 'kill -PIPE $$' | sh -c 'kill -PIPE $$'", false, 141],
    ["yes | head -1 && false", false, 141],
  ])("%j: ok %s", async (command, ok, exitCode) => {
    await using world = await loopWorld(async () => {});

    const { results } = await verify(world.ralph, [command]);

    expect(results[0]).toMatchObject({ ok, exitCode });
  });
});
