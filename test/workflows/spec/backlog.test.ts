import { describe, expect, test } from "vitest";
import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import type { SpecFindings } from "../../../lib/workflows/spec/turn_claims.ts";
import type { SpecItem } from "../../../lib/workflows/spec/item.ts";
import { planStore } from "../../../lib/workflows/spec/store.ts";
import { acceptTasks, addTasks, doneTask } from "../../../lib/workflows/spec/mutations.ts";
import type { Attempt, CheckResult } from "../../../lib/backlog/types.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";

const FILE = "ralph/plan.jsonl";
const SPEC = '{"t": "spec", "spec": "a.md"}';
const line = (id: string, more: string): string =>
  `{"t": "task", "id": "${id}", "spec": "a.md", "name": "do ${id}", ${more}}`;
const PENDING = line("t-1", '"accept": "Verify: `test -f one`", "s": "p"');
const DONE_ONE = line("t-1", '"accept": "Verify: `test -f one`", "s": "d", "done_at": "aaaaaaa", "timeout_ms": 1.0');
const DONE_TWO = line("t-2", '"s": "d", "done_at": "bbbbbbb"');

function plan(...lines: readonly string[]): { readonly files: Record<string, string> } {
  return { files: { [FILE]: [SPEC, ...lines].map((one) => `${one}\n`).join(""), "a.md": "# a\n" } };
}

async function item(world: World): Promise<SpecItem> {
  const next = await specBacklog(world.ralph).next({ inFlight: [], parked: [] });
  if (next.status !== "item") throw new Error(`no item: ${JSON.stringify(next)}`);
  return next.item;
}

const NOTHING = { id: "run.1", number: 1, claim: null, turn: null, verification: null } as const;

function failedCheck(scope: string): Attempt<SpecFindings> {
  const result: CheckResult = { name: "test -f one", scope, ok: false, exitCode: 1, tail: "", durationMs: 1 };
  const verification = { status: "failed", results: [result], failures: [result] } as const;
  return {
    ...NOTHING,
    claim: { status: "done" },
    verification,
    status: "failed",
    reason: "checks-failed",
    message: "test -f one: exit 1",
  };
}

describe("specBacklog()", () => {
  test("puts a task back that was marked as done in a turn of which nothing is known", async () => {
    await using world = await loopWorld(async () => {}, plan(PENDING, DONE_TWO));
    const given = await item(world);
    await planStore(world.ralph).mutate((before) => doneTask(before, { id: "t-1", head: "abc1234" }));

    const settled = await specBacklog(world.ralph).settle(given, { ...NOTHING, status: "interrupted" });

    expect(settled.status).toBe("open");
    expect(await world.ralph.state.read(FILE)).toBe([SPEC, PENDING, DONE_TWO, ""].join("\n"));
  });

  test("leaves what other workers did meanwhile done when a task is tried again", async () => {
    const [two, three] = ["t-2", "t-3"].map((id) => line(id, '"s": "p"')) as [string, string];
    for (const status of ["interrupted", "failed"] as const) {
      await using world = await loopWorld(async () => {}, plan(PENDING, two, three));
      const backlog = specBacklog(world.ralph);
      const given = await item(world);
      const other = await backlog.next({ inFlight: [given.id], parked: [] });
      if (other.status !== "item") throw new Error("no second item");
      await backlog.settle(other.item, { ...NOTHING, status: "verified" });

      await backlog.settle(given, status === "failed" ? failedCheck("t-1") : { ...NOTHING, status });

      const left = await backlog.next({ inFlight: [], parked: [] });
      expect(left).toMatchObject({ status: "item", item: { id: "t-1" } });
      expect(await backlog.overview({ parked: [] })).toMatchObject({ passed: 1, open: 2 });
    }
  });

  test("an item holds its own task, however many are done: the journal does not grow with the plan", async () => {
    const many = Array.from({ length: 500 }, (_, index) => line(`t-d${index}`, '"s": "d"'));
    await using world = await loopWorld(async () => {}, plan(PENDING, ...many));
    expect(JSON.stringify(await item(world)).length).toBeLessThan(1000);
  });

  test("brings back, byte for byte, what VERIFY accepted when a check of all fails", async () => {
    await using world = await loopWorld(async () => {}, plan(DONE_ONE, DONE_TWO));
    const given = await item(world);
    await planStore(world.ralph).mutate((before) => acceptTasks(before));

    const settled = await specBacklog(world.ralph).settle(given, failedCheck(""));

    expect(settled.status).toBe("open");
    expect(await world.ralph.state.read(FILE)).toBe([SPEC, DONE_ONE, DONE_TWO, ""].join("\n"));
  });

  test("rejects the very task whose own check fails in VERIFY", async () => {
    await using world = await loopWorld(async () => {}, plan(DONE_ONE, DONE_TWO));
    const given = await item(world);
    await planStore(world.ralph).mutate((before) => acceptTasks(before));

    const settled = await specBacklog(world.ralph).settle(given, failedCheck("t-1"));

    expect(settled.reopened).toEqual(["t-1"]);
    const lines = (await world.ralph.state.read(FILE))?.trimEnd().split("\n").map((one) => JSON.parse(one));
    expect(lines?.map(({ t, id, s }) => [t, id, s])).toEqual([
      ["spec", undefined, undefined],
      ["task", "t-1", "p"],
      ["task", "t-2", "d"],
      ["reject", "t-1", undefined],
    ]);
    expect(lines?.[3]).toMatchObject({ done_at: "aaaaaaa", reason: "test -f one: exit 1" });
  });

  test("replaces a task that was taken apart by its parts, for all that waited for it", async () => {
    const killed = line("t-1", '"deps": ["t-0"], "s": "p", "kill": "timeout", "kill_log": "x.log"');
    await using world = await loopWorld(async () => {}, plan(killed, line("t-9", '"deps": ["t-1"], "s": "p"')));
    const given = await item(world);
    const parts = [{ id: "t-a", name: "a", parent: "t-1" }, { id: "t-b", name: "b", parent: "t-1", deps: ["t-a"] }];
    await planStore(world.ralph).mutate((before) => addTasks(before, parts));

    const settled = await specBacklog(world.ralph).settle(given, { ...NOTHING, status: "unverified" });

    expect(given.id).toBe("DECOMPOSE:t-1");
    expect(settled.status).toBe("passed");
    const tasks = (await planStore(world.ralph).load()).lines.flatMap(({ entry }) =>
      entry.type === "task" ? [entry.task] : []
    );
    expect(tasks.map(({ id, deps, depth }) => [id, deps, depth])).toEqual([
      ["t-9", ["t-a", "t-b"], 0],
      ["t-a", ["t-0"], 1],
      ["t-b", ["t-a", "t-0"], 1],
    ]);
  });

  test("done_at is the commit of the task's work, written with the next state, and no second time done", async () => {
    const [one, two] = ["t-1", "t-2"].map((id) => line(id, `"accept": "Verify: \`test -f ${id}\`", "s": "p"`));
    const seen: (readonly unknown[])[] = [];
    await using world = await loopWorld(async ({ prompt }, number) => {
      const text = await world.ralph.state.read(FILE) ?? "";
      seen.push(
        text.trimEnd().split("\n").map((record) => JSON.parse(record)).flatMap(({ t, s, done_at }) =>
          t === "task" && s === "d" ? [done_at] : []
        ),
      );
      if (number < 3) {
        const id = `t-${number}`;
        await world.write(FILE, text.replace(new RegExp(`("id": "${id}".*)"s": "p"`), '$1"s": "d"'));
        await world.write(`t-${number}`, prompt.slice(0, 9));
      }
    }, { ...plan(one as string, two as string), config: { maxRetries: 1 } });

    await runLoop(world.ralph, specBacklog(world.ralph));

    const commitOf = (subject: string): Promise<string> =>
      world.git("log", "--format=%h", "--abbrev=7", `--grep=${subject}`);
    const [first, second] = [await commitOf("feat: t-1"), await commitOf("feat: t-2")];
    expect(seen.slice(0, 3)).toEqual([[], [first], [first, second]]);
    expect(await world.git("show", `${first}:t-1`)).not.toBe("");
    expect(await world.git("show", `${first}:${FILE}`)).toContain('"s": "d"');
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("what VERIFY accepted unseen by any check is unverified, in the next run as well", async () => {
    const pending = line("t-2", '"s": "p"');
    await using world = await loopWorld(
      (_request, number) => world.write(FILE, `${SPEC}\n${number === 1 ? pending.replace('"p"', '"d"') : ""}\n`),
      plan(pending),
    );

    const first = await runLoop(world.ralph, specBacklog(world.ralph));
    const again = await world.again();
    const second = await runLoop(again, specBacklog(again));

    expect([first.status, first.turns]).toEqual(["unverified", 2]);
    expect([second.status, second.turns]).toEqual(["unverified", 0]);
  });

  test("gives up on a task that VERIFY rejected too often, and takes it up once more when asked", async () => {
    const tombs = ["a", "b", "c"].map((at) => `{"t": "reject", "id": "t-1", "done_at": "${at}", "reason": "bad"}`);
    await using world = await loopWorld(async () => {}, plan(PENDING.replace('"s"', '"reject": "bad", "s"'), ...tombs));
    const view = { inFlight: [], parked: [] };

    const blocked = await specBacklog(world.ralph).next(view);
    const again = await specBacklog({ ...world.ralph, loop: { ...world.ralph.loop, retryBlocked: true } }).next(view);

    expect(blocked).toEqual({ status: "blocked", reasons: ["t-1: rejected 3 times: bad"], givenUp: 1 });
    expect(again.status).toBe("item");
  });

  test("is never done while a line cannot be read, and names a circle", async () => {
    await using broken = await loopWorld(async () => {}, plan('{"t": "task", "id"'));
    await using circle = await loopWorld(
      async () => {},
      plan(line("t-1", '"deps": ["t-2"], "s": "p"'), line("t-2", '"deps": ["t-1"], "s": "p"')),
    );
    const view = { inFlight: [], parked: [] };

    expect(await specBacklog(broken.ralph).next(view)).toMatchObject({
      status: "blocked",
      reasons: [expect.stringContaining("plan.jsonl:2")],
    });
    expect(await specBacklog(circle.ralph).next(view)).toEqual({
      status: "blocked",
      reasons: ["the tasks depend on each other in a circle: t-1 → t-2 → t-1"],
    });
  });

  test("uses the prompt that the project has, with the task, the checks and the command that ends it below", async () => {
    await using world = await loopWorld(async () => {}, {
      files: { ...plan(PENDING).files, "ralph/PROMPT_build.md": "Do as I say.\n" },
    });

    await runLoop(world.ralph, specBacklog(world.ralph), { maxIterations: 1 });

    expect(world.prompts[0]).toMatch(/^Do as I say\.\n[\s\S]*t-1: do t-1[\s\S]*- `test -f one`/);
    expect(world.prompts[0]).toContain("run `ralph task done t-1`, once, at the end");
  });
});
