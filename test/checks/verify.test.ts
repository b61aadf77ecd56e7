import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { $Type } from "dax";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { CheckContext } from "../../lib/backlog/types.ts";
import type { CheckLike } from "../../lib/checks/function.ts";
import { verify } from "../../lib/checks/verify.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { commandsWith } from "../fault/processes.ts";

const NO_TURN = async (): Promise<void> => {};

describe("verify()", () => {
  test("collects all failures, with exit code, tail and scope, and continues after the first", async () => {
    await using world = await loopWorld(NO_TURN);

    const checked = await verify(world.ralph, ["echo one; exit 3", {
      name: "two",
      command: "echo two >&2; exit 4",
      scope: "ui",
    }, "true"]);

    expect(checked.status).toBe("failed");
    expect(checked.results.map(({ name, scope, ok, exitCode, tail }) => ({ name, scope, ok, exitCode, tail }))).toEqual(
      [
        { name: "echo one; exit 3", scope: "", ok: false, exitCode: 3, tail: "one" },
        { name: "two", scope: "ui", ok: false, exitCode: 4, tail: "two" },
        { name: "true", scope: "", ok: true, exitCode: 0, tail: "" },
      ],
    );
  });

  test("no check at all is unverified, never passed", async () => {
    await using world = await loopWorld(NO_TURN);

    expect(await verify(world.ralph, [])).toEqual({ status: "unverified", results: [] });
  });

  test("a command of several scopes is run once, each has its result; what one scope names twice runs twice", async () => {
    await using world = await loopWorld(NO_TURN);
    const ran = "echo ran >> ran.log; wc -l < ran.log; exit 3";
    const check = (command: string, scope: string, more = {}): CheckLike => ({ name: scope, command, scope, ...more });

    const checked = await verify(world.ralph, [
      check(ran, "a"),
      check("true", "a"),
      check(ran, "b"),
      check(ran, "c", { expect: { exit: 3 } }),
      check(ran, "a"),
    ]);

    expect(checked.results.map(({ name, ok, exitCode, tail }) => [name, ok, exitCode, tail])).toEqual([
      ["a", false, 3, "1"],
      ["a", true, 0, ""],
      ["b", false, 3, "1"],
      ["c", true, 3, "2"],
      ["a", false, 3, "3"],
    ]);
  });

  test("a command that several scopes name alike is told once", async () => {
    await using world = await loopWorld(NO_TURN);
    const check = (name: string, scope: string): CheckLike => ({ name, command: "exit 3", scope });

    const checked = await verify(world.ralph, [check("exit 3", "a"), check("exit 3", "b"), check("task 2", "c")]);

    const told = world.events.filter(({ type }) => type === "check-start" || type === "check-end");
    expect(checked.results.map(({ scope }) => scope)).toEqual(["a", "b", "c"]);
    expect(told.map((event) => [event.type, "name" in event && event.name])).toEqual([
      ["check-start", "exit 3"],
      ["check-end", "exit 3"],
      ["check-start", "task 2"],
      ["check-end", "task 2"],
    ]);
  });

  test("takes command strings, dax commands, functions that build one, and check functions", async () => {
    await using world = await loopWorld(NO_TURN);

    const checked = await verify(world.ralph, [
      "test -f README.md",
      world.ralph.$`test -f README.md`,
      ($) => $`echo built && exit 5`,
      { name: "by hand", run: async ({ cwd }) => ({ ok: cwd === world.ralph.root, exitCode: null, tail: cwd }) },
      { name: "throws", run: () => Promise.reject(new Error("out of luck")) },
    ]);

    expect(checked.results.map(({ ok, exitCode }) => [ok, exitCode])).toEqual([
      [true, 0],
      [true, 0],
      [false, 5],
      [true, null],
      [false, null],
    ]);
    expect(checked.results[2]?.tail).toBe("built");
    expect(checked.results[4]?.tail).toContain("out of luck");
  });

  test("a bare function looks for itself; one that answers nothing, or what it should not, has failed", async () => {
    await using world = await loopWorld(NO_TURN);

    const checked = await verify(world.ralph, [
      async (_, { cwd }) => ({ ok: cwd === world.ralph.root, exitCode: null, tail: "seen" }),
      function looked() {
        return { ok: false, exitCode: 7, tail: "no" };
      },
      (async () => {}) as never,
      (() => ({ ok: "yes" })) as never,
      (() => {
        throw new Error("at once");
      }) as never,
    ]);

    expect(checked.results.map(({ name, ok, exitCode }) => [name, ok, exitCode])).toEqual([
      [expect.stringMatching(/^async \(_, \{ cwd \}\) => .{30,}…$/), true, null],
      ["looked", false, 7],
      [expect.stringMatching(/^async \(\) => \{/), false, null],
      [expect.stringMatching(/^\(\) => \(\{ ok: "yes"/), false, null],
      [expect.stringMatching(/^\(\) => \{ throw new Error/), false, null],
    ]);
    expect(checked.results.slice(2).map(({ tail }) => tail.split("\n")[0])).toEqual([
      "the check answered nothing: expected { ok, exitCode, tail }",
      'the check answered {"ok":"yes"}: expected { ok, exitCode, tail }',
      "Error: at once",
    ]);
  });

  test("an async function that returns a dax command's result is a check, with output, exit code and a telling name", async () => {
    await using world = await loopWorld(NO_TURN);

    const checked = await verify(world.ralph, [
      async ($) => await $`echo linted`,
      async ($) => $`echo broken >&2 && exit 3`,
      async ($) => {
        await Promise.all([$`echo one`, $`echo two`]);
        await $`exit 4`;
        return $`echo never`;
      },
    ], { logs: join(world.ralph.root, "logs") });

    expect(checked.results.map(({ ok, exitCode, tail }) => [ok, exitCode, tail.split("\n").sort()])).toEqual([
      [true, 0, ["linted"]],
      [false, 3, ["broken"]],
      [false, 4, ["one", "two"]],
    ]);
    expect(await readFile(join(join(world.ralph.root, "logs"), "check-2.log"), "utf8")).toBe("broken\n");
  });

  test("what prints nothing has no log, and no folder for it; a function has the folder for what it keeps", async () => {
    await using world = await loopWorld(NO_TURN);
    const logs = join(world.ralph.root, "logs");

    await verify(world.ralph, ["true"], { logs });
    expect(existsSync(logs)).toBe(false);
    await verify(world.ralph, ["true", "echo out; echo err >&2"], { logs });
    expect(readdirSync(logs)).toEqual(["check-2.log"]);
    expect((await readFile(join(logs, "check-2.log"), "utf8")).split("\n").sort()).toEqual(["", "err", "out"]);
    const found = await verify(world.ralph, [{
      name: "kept",
      run: async (context: CheckContext) => ({ ok: existsSync(context.logs ?? ""), exitCode: null, tail: "" }),
    }], { logs: join(logs, "more") });
    expect(found.status).toBe("passed");
  });

  test("two dax commands, and two functions alike, can be told apart by their names", async () => {
    await using world = await loopWorld(NO_TURN);
    const { $ } = world.ralph;
    const exits = (code: number) => async () => ({ ok: code === 0, exitCode: code, tail: "" });

    const checked = await verify(world.ralph, [$`exit 1`, $`touch ${"a b"}`, exits(0), exits(1)]);

    const [first, second, third, fourth] = checked.results.map(({ name, ok }) => [name, ok]);
    expect([first, second]).toEqual([["exit 1", false], ["touch 'a b'", true]]);
    expect(String(third?.[0])).toMatch(/^async \(\) => \(\{ ok: code === 0/);
    expect(fourth).toEqual([`${third?.[0]} (2)`, false]);
  });

  test("what an async function has started ends with its time", async () => {
    await using world = await loopWorld(NO_TURN);
    const config = { ...world.ralph.config, verify: { ...world.ralph.config.verify, timeout: 0.3 } };

    const checked = await verify({ ...world.ralph, config }, [async ($) => await $`sleep 300`]);

    expect(checked.results[0]).toMatchObject({ ok: false, exitCode: null, tail: "timed out after 0.3 s" });
    expect(await world.ralph.host.processes.sweep(world.ralph.host.processes.runToken)).toBe(0);
  });

  test("the compiler takes every form of a check, and nothing that only looks like one", () => {
    class Named {}
    const both = { name: "x", command: "true", run: async () => ({ ok: true, exitCode: 0, tail: "" }) };
    expectTypeOf(($: $Type) => $`true`).toExtend<CheckLike>();
    expectTypeOf(async ($: $Type) => await $`true`).toExtend<CheckLike>();
    expectTypeOf(async () => ({ ok: true, exitCode: null, tail: "" })).toExtend<CheckLike>();
    expectTypeOf({ name: "x", command: "true" }).toExtend<CheckLike>();
    expectTypeOf({ name: "x", run: both.run }).toExtend<CheckLike>();

    expectTypeOf(parseInt).not.toExtend<CheckLike>();
    expectTypeOf(() => 5).not.toExtend<CheckLike>();
    expectTypeOf(Named).not.toExtend<CheckLike>();
    expectTypeOf({ name: "x" }).not.toExtend<CheckLike>();
    expectTypeOf(async () => ({ passed: true })).not.toExtend<CheckLike>();
    expectTypeOf(async ($: $Type) => void await $`true`).not.toExtend<CheckLike>();
    expectTypeOf(both).not.toExtend<CheckLike>();
  });

  test("a function that hangs is over when its time is, and its signal says so", async () => {
    await using world = await loopWorld(NO_TURN);
    let told = false;
    const hangs = ({ signal }: CheckContext): Promise<never> =>
      new Promise(() => signal.addEventListener("abort", () => told = true));

    const checked = await verify(world.ralph, [{ name: "hangs", timeoutMs: 100, run: hangs }]);

    expect(checked.results[0]).toMatchObject({ ok: false, exitCode: null, tail: "timed out after 0.1 s" });
    expect(told).toBe(true);
  });

  test("a dax command that is a pipeline fails by any of its parts, as a string does", async () => {
    await using world = await loopWorld(NO_TURN);
    const { $ } = world.ralph;

    const checked = await verify(world.ralph, [$`sh -c "exit 1" | cat`, ($) => $`sh -c "exit 2" | cat`]);

    expect(checked.results.map(({ ok }) => ok)).toEqual([false, false]);
  });

  test.each([[{ name: "x" }], [undefined], [7], [""], ["\n # nothing"], [{ name: "x", command: " " }]])(
    "what is no check is refused: %j",
    async (check) => {
      await using world = await loopWorld(NO_TURN);

      await expect(verify(world.ralph, ["true", check as never])).rejects.toMatchObject({ code: "option-invalid" });
    },
  );

  test("in bash a failure before a pipe is one, here-documents work, and a reader that stops early is no failure", async () => {
    await using world = await loopWorld(NO_TURN);

    const checked = await verify(world.ralph, ["false | cat", "cat <<X | grep -q here\nhere\nX", "yes | head -1"]);

    expect(checked.results.map(({ ok }) => ok)).toEqual([false, true, true]);
  });

  test("a check that takes too long is ended with its grandchildren, string and dax command alike", async () => {
    await using world = await loopWorld(NO_TURN);
    const started = Date.now();

    const checked = await verify(world.ralph, [
      { name: "string", command: "sleep 3521 & sleep 3521", timeoutMs: 2000 },
    ]);
    const quick = {
      ...world.ralph,
      config: { ...world.ralph.config, verify: { ...world.ralph.config.verify, timeout: 2 } },
    };
    const built = await verify(quick, [world.ralph.$`sh -c ${"echo begun; sleep 3522 & sleep 3522"}`]);

    expect(checked.results[0]).toMatchObject({ ok: false, tail: expect.stringContaining("timed out after 2 s") });
    expect(built.results[0]).toMatchObject({
      ok: false,
      tail: expect.stringContaining("begun\ntimed out after 2 s"),
    });
    expect(Date.now() - started).toBeLessThan(20_000);
    expect(commandsWith("sleep 352")).toEqual([]);
  });

  test("an abort ends the running check and starts no other", async () => {
    await using world = await loopWorld(NO_TURN);
    const aborter = new AbortController();
    const events: string[] = [];
    const ralph = {
      ...world.ralph,
      events: { ...world.ralph.events, emit: ({ type }: { type: string }) => void events.push(type) },
    };

    const running = verify(ralph, ["sleep 60", "true"], { signal: aborter.signal });
    setTimeout(() => aborter.abort(), 200);

    expect(await running).toEqual({ status: "aborted", results: [] });
    expect(events).toEqual(["check-start"]);
  });

  test("logs the whole output of each check where it is told to", async () => {
    await using world = await loopWorld(NO_TURN);
    const logs = join(world.root, ".git/logs-of-test");

    await verify(world.ralph, ["seq 1 20000", "echo second"], { logs });

    expect((await readFile(join(logs, "check-1.log"), "utf8")).split("\n")).toHaveLength(20_001);
    expect(await readFile(join(logs, "check-2.log"), "utf8")).toBe("second\n");
  });

  test.each(
    [
      ["exit 3", { exit: 3 }, true, ""],
      ["exit 4", { exit: 3 }, false, "expected exit 3 (got: exit 4)"],
      ["exit 0", { exit: 3 }, false, "expected exit 3 (got: exit 0)"],
      ["exit 7", { exit: "non-zero" }, true, ""],
      ["true", { exit: "non-zero" }, false, "expected a failure (got: exit 0)"],
      ["no-such-command-here 2> /dev/null", { exit: "non-zero" }, false, "the command could not be run (exit 127)"],
      ["no-such-command-here 2> /dev/null", { exit: 127 }, false, "the command could not be run (exit 127)"],
      ["printf '5 pas'; sleep 0.1; echo sed", { output: "5 passed" }, true, "5 passed"],
      ["echo 4 passed", { output: "5 passed" }, false, '4 passed\nexpected the output to contain "5 passed"'],
      ["echo 5 passed; exit 1", { output: "5 passed" }, false, "5 passed"],
      ["kill -9 $$", { exit: "non-zero" }, false, "ended by SIGKILL"],
    ] as const,
  )("a check is judged by what it is expected to do: %s, %j", async (command, expected, ok, tail) => {
    await using world = await loopWorld(NO_TURN);

    const { results: [result] } = await verify(world.ralph, [{ name: "one", command, expect: expected }]);

    expect([result?.ok, result?.tail]).toEqual([ok, tail]);
  });

  test("a check that is expected to fail does not pass by timing out", async () => {
    await using world = await loopWorld(NO_TURN);

    const { results: [result] } = await verify(world.ralph, [{
      name: "one",
      command: "sleep 60",
      timeoutMs: 300,
      expect: { exit: "non-zero" },
    }]);

    expect([result?.ok, result?.tail]).toEqual([false, "timed out after 0.3 s"]);
  });
});
