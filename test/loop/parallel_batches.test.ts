/** Items that are ready land together, and no worker waits for it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { CheckContext, CheckOutcome } from "../../lib/backlog/types.ts";
import type { EventOf } from "../../lib/events/types.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { pathExists } from "../../lib/host/files.ts";
import { needs, SANDBOX } from "../needs.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const GREEN: CheckOutcome = { ok: true, exitCode: 0, tail: "" };
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];

function nameIn(prompt: string): string {
  return /write (\w)/.exec(prompt)?.[1] ?? "none";
}

/**
 * Four workers: `a` lands when all are at work, `b` or `c` is checked on it. That check waits until the workers that made the others, `d` and
 * `e` are at work again; those turns wait until it is over.
 */
function crowd(landed: () => number): {
  readonly turns: Turns;
  readonly check: (context: CheckContext) => Promise<CheckOutcome>;
  readonly seen: readonly { readonly there: string; readonly of: string | undefined }[];
} {
  const began = new Set<string>();
  const seen: { readonly there: string; readonly of: string | undefined }[] = [];
  let gate: "closed" | "waiting" | "open" = "closed";
  const until = async (condition: () => boolean): Promise<void> => {
    await expect.poll(condition, { timeout: 30_000, interval: 20 }).toBe(true);
  };
  return {
    seen,
    async turns({ cwd, prompt }) {
      const name = nameIn(prompt);
      const isAgain = began.has(name);
      began.add(name);
      if (name === "a") await until(() => began.size === 4);
      if ("bcd".includes(name)) await until(() => landed() > 0);
      if ("de".includes(name)) await until(() => gate !== "closed");
      if ("fgh".includes(name)) await until(() => gate === "open");
      await writeFile(join(cwd, name), `${name}\n`);
      if (isAgain) await writeFile(join(cwd, "mended"), "x\n");
      return { lines: ["<ralph>DONE</ralph>"] };
    },
    async check({ cwd, item }) {
      const found = await Promise.all(NAMES.map(async (name) => await pathExists(join(cwd, name)) ? name : ""));
      const there = found.join("");
      seen.push({ there, of: item?.id });
      if (there.length === 1 || gate !== "closed") return GREEN;
      gate = "waiting";
      await until(() => began.size === NAMES.length);
      gate = "open";
      return GREEN;
    },
  };
}

function landings({ events }: World): readonly EventOf<"landing-end">[] {
  return events.filter((event): event is EventOf<"landing-end"> => event.type === "landing-end");
}

function tasks(names: readonly string[], checks: readonly string[] = []) {
  return memoryBacklog(
    names.map((name) => ({ id: name, title: `write ${name}`, checks: [`test -f ${name}`, ...checks] })),
  );
}

describe("work that is ready", () => {
  test("is checked together and lands as one commit each, while those who made it work on", async () => {
    const { turns, check, seen } = crowd(() => landings(world).length);
    await using world = await loopWorld(turns);

    const run = await runLoop(world.ralph, tasks(NAMES), { workers: 4, checks: [{ name: "all", run: check }] });

    expect(run).toMatchObject({ status: "passed", turns: 8 });
    const ids = landings(world).map(({ item }) => item.id);
    const at = landings(world).findIndex(({ with: others }) => others !== undefined);
    const first = landings(world)[at];
    const there = [...ids.slice(0, at), first?.item.id, ...first?.with ?? []].toSorted().join("");
    // all of them are there, and a function is called for each
    const called = seen.filter((one) => one.there === there).map((one) => one.of ?? "").toSorted();
    expect(called).toEqual([first?.item.id, ...first?.with ?? []].toSorted());
    const body = await world.git("log", "-1", "--format=%(trailers)", `--grep=write ${first?.item.id}`);
    expect(body.trim()).toBe(`Checked-with: ${first?.with?.join(", ")}`);
    expect((await world.git("rev-list", "--count", "HEAD")).trim()).toBe("9");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("and is red together is halved: the one whose fault it is fails, no other counts an attempt", async () => {
    const { turns, check } = crowd(() => landings(world).length);
    await using world = await loopWorld(turns);
    const apart = "test ! -f a || test ! -f d || test -f mended";

    const run = await runLoop(world.ralph, tasks(NAMES, [apart]), {
      workers: 4,
      checks: [{ name: "all", run: check }],
    });

    expect(run).toMatchObject({ status: "passed", turns: 9 });
    expect(landings(world).filter(({ result }) => result === "failed").map(({ item }) => item.id)).toEqual(["d"]);
    expect(world.prompts.at(-1)).toContain("fails together with what was merged since");
    const attempts = world.events.flatMap((event) => event.type === "iteration-start" ? [event.attempt] : []);
    expect(attempts.toSorted()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2]);
  });

  test('lands one by one with `trust: "strict"`', needs(...SANDBOX), async () => {
    let come = 0;
    await using world = await loopWorld(async ({ cwd, prompt }) => {
      come += 1;
      await expect.poll(() => come >= 3, { timeout: 30_000 }).toBe(true);
      await writeFile(join(cwd, nameIn(prompt)), "x\n");
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { config: { trust: "strict" } });

    await runLoop(world.ralph, tasks(["a", "b", "c"]), { workers: 3 });

    expect(landings(world).map(({ result, with: others }) => [result, others])).toEqual(
      Array.from({ length: 3 }, () => ["landed", undefined]),
    );
  });
});
