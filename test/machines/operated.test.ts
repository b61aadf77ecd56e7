/** `ralph queue retry|discard|drain|cancel`, and a worker that takes one job: real processes over a real database. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Clones, type Ended } from "./clones.ts";
import { Postgres } from "./postgres.ts";
import { needs } from "../needs.ts";

/** Waits until `go-ITEM` is there; `ended-ITEM` says that nothing has killed it. */
const WAITS = `#!/bin/sh
cat > /dev/null
echo "$RALPH_ITEM" >> "$TURNS"
until test -f "$HOME/go-$RALPH_ITEM" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done
echo done > "f\${RALPH_ITEM#US-000}.txt"
touch "$HOME/ended-$RALPH_ITEM"
echo "<promise>COMPLETE</promise>"
`;

interface Shown {
  readonly jobs: readonly { readonly attemptId: string; readonly itemId: string; readonly state: string }[];
}

/** Clones of a plan, and commands in them, all of which end with the test. */
class World {
  readonly clones: Clones;
  readonly root: string;
  readonly #url: string;

  constructor(url: string, stories: number) {
    this.#url = url;
    this.clones = new Clones(stories);
    onTestFinished(() => this.clones[Symbol.dispose]());
    this.root = this.clones.clone();
  }

  start(args: readonly string[], cwd: string = this.root): { readonly end: Promise<Ended>; readonly stop: () => void } {
    const stop = new AbortController();
    const end = this.clones.ralph(cwd, args, { RALPH_QUEUE: this.#url }, stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await end;
    });
    return { end, stop: () => stop.abort() };
  }

  worker(name: string, agent: string, ...flags: readonly string[]): ReturnType<World["start"]> {
    const file = join(this.clones.folder, `${name}.sh`);
    writeFileSync(file, agent);
    chmodSync(file, 0o755);
    const which = flags.includes("--agent") ? [] : ["--agent-cmd", file];
    const own = ["--directory", join(this.clones.folder, name, "project"), ...which, ...flags];
    return this.start(["worker", "--repository", `file://${this.clones.remote}`, ...own], this.clones.folder);
  }

  run(...flags: readonly string[]): ReturnType<World["start"]> {
    return this.start(["run", "--ui", "plain", ...flags]);
  }

  queue(...words: readonly string[]): Promise<Ended> {
    return this.start(["queue", ...words]).end;
  }

  /** The id of the item's job in this state, once there is one. */
  async job(item: string, state: string): Promise<string> {
    for (const end = performance.now() + 60_000; performance.now() < end;) {
      const { stdout } = await this.queue("status", "--json");
      const { jobs } = JSON.parse(stdout === "" ? '{"jobs":[]}' : stdout) as Shown;
      const found = jobs.find((job) => job.itemId === item && job.state === state);
      if (found !== undefined) return found.attemptId;
      await sleep(500);
    }
    throw new Error(`no job of ${item} is ${state}`);
  }

  go(item: string): void {
    writeFileSync(join(this.clones.folder, `go-${item}`), "");
  }

  ended(item: string): boolean {
    return existsSync(join(this.clones.folder, `ended-${item}`));
  }

  landed(): readonly string[] {
    const subjects = this.clones.run(this.root, ["git", "log", "--format=%s"]).split("\n");
    return subjects.filter((one) => one.startsWith("feat")).map((one) => one.slice(6, 13)).toSorted();
  }
}

describe("`ralph queue` of a run", { timeout: 180_000, ...needs("postgresql") }, () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await Postgres.start();
  });

  afterAll(() => postgres[Symbol.dispose]());

  test("`retry` has the run take up an item whose job a worker refused", async () => {
    const world = new World(postgres.url, 2);
    const run = world.run();
    world.worker("good", WAITS);
    await expect.poll(() => world.clones.turnLines(), { interval: 100 }).toHaveLength(1);
    const [first = ""] = world.clones.turnLines();
    const second = first === "US-0001" ? "US-0002" : "US-0001";
    const bad = world.worker("bad", "", "--agent", "codex", "--endpoint", "nonsense");
    const id = await world.job(second, "failed");
    bad.stop();
    const unknown = await world.queue("retry", id, "run-x.1");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("the job run-x.1 is not in the queue"),
    ]);
    await expect.poll(async () => (await world.queue("status")).stdout, { interval: 500 }).toContain("failed, parked");
    const retried = await world.queue("retry", id);
    expect(retried, retried.stderr).toMatchObject({
      exitCode: 0,
      stdout: `${id} ${second} the run takes its item up again\n`,
    });
    world.go(first);
    world.go(second);
    const { exitCode, stderr } = await run.end;

    expect(exitCode, stderr).toBe(0);
    expect(world.clones.turnLines().toSorted()).toEqual(["US-0001", "US-0002"]);
    expect(world.landed()).toEqual(["US-0001", "US-0002"]);
    expect(world.clones.refs()).toEqual([]);
    expect((await world.queue("status")).stdout).not.toContain("failed,");
  });

  test("`discard` parks the item and ends its turn; then its job leaves the list", async () => {
    const world = new World(postgres.url, 1);
    const run = world.run();
    world.worker("w", WAITS);
    const id = await world.job("US-0001", "active");
    expect((await world.queue("discard", id)).stdout).toBe(`${id} US-0001 is given up, and the run parks its item\n`);
    const { exitCode, stderr } = await run.end;
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("no worker could do it: it was discarded")]);
    expect(world.clones.refs()).toEqual([]);
    const late = await world.queue("retry", id);
    expect([late.exitCode, late.stderr]).toEqual([2, expect.stringContaining("--retry-blocked")]);
    expect((await world.queue("discard", id)).stdout).toContain("left the list");
    expect((await world.queue("status")).stdout).toContain("0 waiting, 0 active, 0 done, 0 failed");
    await sleep(9_000); // a heartbeat
    world.go("US-0001");
    await sleep(1_000);
    expect(world.ended("US-0001")).toBe(false);

    const again = world.run("--retry-blocked");
    expect((await again.end).exitCode).toBe(0);
    expect(world.landed()).toEqual(["US-0001"]);
  });

  test("a job that is discarded as its result is pushed is used, and leaves the list", async () => {
    const world = new World(postgres.url, 1);
    const hook = join(world.clones.remote, "hooks", "post-receive");
    // the worker's push ends when the job has been given up
    writeFileSync(hook, "#!/bin/sh\ngrep -q refs/ralph/attempts/ || exit 0\nsleep 8\n", { mode: 0o755 });
    const run = world.run();
    world.worker("w", WAITS);
    const id = await world.job("US-0001", "active");
    world.go("US-0001");
    await expect.poll(() => world.clones.refs().join(), { interval: 100 }).toContain("refs/ralph/attempts/");
    expect((await world.queue("discard", id)).exitCode).toBe(0);

    expect((await run.end).exitCode).toBe(0);

    expect(world.landed()).toEqual(["US-0001"]);
    expect((await world.queue("status")).stdout).toContain("0 waiting, 0 active, 0 done, 0 failed");
  });

  test("`drain` takes back what no worker has, lands what is worked on, and ends the run as a stop does", async () => {
    const world = new World(postgres.url, 3);
    const run = world.run();
    world.worker("w", WAITS);
    await expect.poll(() => world.clones.turnLines(), { interval: 100 }).toHaveLength(1);
    const [first = ""] = world.clones.turnLines();
    const drained = await world.queue("drain");
    expect(drained.exitCode, drained.stderr).toBe(0);
    await expect.poll(async () => (await world.queue("status")).stdout, { interval: 500 }).toContain(
      "0 waiting, 1 active",
    );
    world.go(first);
    const { exitCode, stderr } = await run.end;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("stop")]);
    expect(world.clones.turns()).toBe(1);
    expect(world.landed()).toEqual([first]);
    expect(world.clones.refs()).toEqual([]);
    const none = await world.queue("drain");
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("no run hands out jobs here")]);

    for (const item of ["US-0001", "US-0002", "US-0003"]) world.go(item);
    expect((await world.run().end).exitCode).toBe(0);
    expect(world.landed()).toEqual(["US-0001", "US-0002", "US-0003"]);
    expect(world.clones.turns()).toBe(3);
  });

  test("`cancel` ends the turns of a run that was killed, and the next run has them made anew", async () => {
    const world = new World(postgres.url, 2);
    world.worker("w", WAITS);
    const run = world.clones.killable(world.root, ["run", "--ui", "plain"], { RALPH_QUEUE: postgres.url });
    await expect.poll(() => world.clones.turnLines(), { interval: 100 }).toHaveLength(1);
    run.kill("SIGKILL");
    await expect.poll(async () => (await world.queue("status")).stdout, { interval: 1_000, timeout: 60_000 }).toContain(
      "coordinator  none",
    );
    const taken = await world.queue("cancel");
    expect(taken.exitCode, taken.stderr).toBe(0);
    expect(taken.stdout.match(/is taken back/g)).toHaveLength(2);
    await sleep(9_000); // a heartbeat
    for (const item of ["US-0001", "US-0002"]) world.go(item);
    const again = await world.run().end;

    expect(again.exitCode, again.stderr).toBe(0);
    expect(world.clones.turns()).toBe(3);
    expect(world.landed()).toEqual(["US-0001", "US-0002"]);
    expect(world.clones.refs()).toEqual([]);
  });

  test("`cancel` ends a run and the turns of its workers", async () => {
    const world = new World(postgres.url, 2);
    const run = world.run();
    world.worker("w", WAITS);
    await expect.poll(() => world.clones.turnLines(), { interval: 100 }).toHaveLength(1);
    const taken = await world.queue("cancel");
    expect(taken.exitCode, taken.stderr).toBe(0);
    expect((await run.end).exitCode).toBe(130);
    expect((await world.queue("status")).stdout).toContain("0 waiting, 0 active");
  });

  test("`worker --once` waits for a job, works on it and ends; two workers of one machine have two names", async () => {
    const world = new World(postgres.url, 2);
    const agent = readFileSync(world.clones.agent, "utf8");
    const [one, other] = [world.worker("one", agent, "--once"), world.worker("other", agent, "--once")];
    await expect.poll(async () => (await world.queue("status")).stdout, { interval: 500 }).toMatch(
      /workers {6}\S+, \S+/,
    );
    const run = world.run();
    const ends = await Promise.all([one.end, other.end, run.end]);

    expect(ends.map(({ exitCode }) => exitCode), JSON.stringify(ends)).toEqual([0, 0, 0]);
    expect(world.landed()).toEqual(["US-0001", "US-0002"]);
    const idle = world.worker("two", agent, "--once", "--parallel", "2");
    expect(await idle.end).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--once is one job") });
  });

  test("a worker whose push breaks pushes again, and no turn is paid twice", async () => {
    const world = new World(postgres.url, 1);
    const hook = join(world.clones.remote, "hooks", "pre-receive");
    writeFileSync(
      hook,
      `#!/bin/sh\nif grep -q attempts && ! test -f "${world.clones.folder}/broke"; then touch "${world.clones.folder}/broke"; exit 1; fi\n`,
    );
    chmodSync(hook, 0o755);
    const worker = world.worker("w", readFileSync(world.clones.agent, "utf8"), "--once");
    const run = await world.run().end;

    expect(run.exitCode, run.stderr).toBe(0);
    expect(existsSync(join(world.clones.folder, "broke"))).toBe(true);
    expect(world.clones.turns()).toBe(1);
    expect((await worker.end).exitCode).toBe(0);
  });
});
