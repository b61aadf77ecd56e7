import { spawn } from "node:child_process";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { takeLock } from "../../lib/host/lock.ts";
import { processStart } from "../../lib/host/process_table.ts";
import { fixtureCommand } from "../fixtures/processes/fixture_command.ts";
import { waitUntil } from "../fixtures/processes/survivors.ts";

const host = createHost();

async function holderText(over: Record<string, unknown> = {}): Promise<string> {
  const started = await processStart(process.pid);
  return JSON.stringify({
    pid: process.pid,
    started,
    since: "2020-01-01T00:00:00.000Z",
    purpose: "run",
    cookie: "c",
    nonce: "n",
    ...over,
  });
}

async function endedPid(): Promise<number> {
  const child = spawn("true");
  await new Promise((resolve) => child.on("exit", resolve));
  return child.pid!;
}

describe("takeLock()", () => {
  test("removes what a killed taker left beside the lock, and nothing of a living one", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const dead = `.run.lock.${await endedPid()}-0123abcd.ralph-tmp`;
    const living = `.run.lock.${process.pid}-0123abcd.ralph-tmp`;
    for (const name of [dead, living]) writeFileSync(join(folder.path, name), "{}");

    await takeLock(join(folder.path, "run.lock"), { purpose: "run", host });

    expect(readdirSync(folder.path).toSorted()).toEqual([living, "run.lock"]);
  });

  test("holds, refuses with the holder, and is free after release()", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "deep", "run.lock");

    const first = await takeLock(path, { purpose: "run", host });
    const second = await takeLock(path, { purpose: "status", host });

    if (first.status !== "held") throw new Error(first.status);
    expect(first.tookOver).toBeNull();
    expect(second).toMatchObject({
      status: "busy",
      holder: { pid: process.pid, purpose: "run", runToken: host.processes.runToken },
    });
    await first.release();
    await first.release();
    const third = await takeLock(path, { purpose: "run", host });
    expect(third.status).toBe("held");
    await first.release();
    expect(readdirSync(join(folder.path, "deep"))).toEqual(["run.lock"]);
  });

  test("waits for a living holder", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "store.lock");
    const first = await takeLock(path, { purpose: "store", host });
    if (first.status !== "held") throw new Error(first.status);

    const waiting = takeLock(path, { purpose: "store", host, waitMs: 5000 });
    await wait(60);
    await first.release();

    expect((await waiting).status).toBe("held");
  });

  test("gives up when the wait is over", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "store.lock");
    await takeLock(path, { purpose: "store", host });
    const start = performance.now();

    const second = await takeLock(path, { purpose: "store", host, waitMs: 150 });

    expect(second.status).toBe("busy");
    expect(performance.now() - start).toBeGreaterThan(140);
  });

  test("never takes over a living holder, however old its lock is", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    writeFileSync(path, await holderText());

    expect((await takeLock(path, { purpose: "run", host })).status).toBe("busy");
  });

  test.each([
    ["whose process is gone", async () => ({ pid: await endedPid() })],
    ["whose pid another process has by now", async () => ({ started: "another boot:1" })],
  ])("takes over from a holder %s", async (_, over) => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    writeFileSync(path, await holderText({ cookie: "older", ...(await over()) }));

    const lock = await takeLock(path, { purpose: "run", host });

    expect(lock).toMatchObject({ status: "held", tookOver: { runToken: "older", purpose: "run" } });
    expect(JSON.parse(readFileSync(path, "utf8")).pid).toBe(process.pid);
    expect(readdirSync(folder.path)).toEqual(["run.lock"]);
  });

  test.each([[""], ['{"pid": 12'], ["null"], ["\0\0\0"]])(
    "takes over a torn lock file (%j) once it stays as it is",
    async (text) => {
      await using folder = await temporaryDirectory("ralph-lock-");
      const path = join(folder.path, "run.lock");
      writeFileSync(path, text);
      const start = performance.now();

      const lock = await takeLock(path, { purpose: "run", host });

      expect(lock).toMatchObject({ status: "held", tookOver: { pid: 0 } });
      expect(performance.now() - start).toBeGreaterThan(900);
    },
  );

  test("does not take over a torn lock file whose writer finishes it", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    writeFileSync(path, "");

    const taking = takeLock(path, { purpose: "run", host });
    await wait(200);
    writeFileSync(path, await holderText());

    expect((await taking).status).toBe("busy");
  });

  test("continues when one died while it was taking over", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    const dead = await holderText({ pid: await endedPid() });
    const { hashText } = await import("../../lib/host/files.ts");
    writeFileSync(path, dead);
    writeFileSync(join(folder.path, `.run.lock.${hashText(dead).slice(0, 16)}.taking`), dead.replace('"n"', '"m"'));

    expect((await takeLock(path, { purpose: "run", host })).status).toBe("held");
    expect(readdirSync(folder.path)).toEqual(["run.lock"]);
  });

  test("knows when nothing ran any more of what a dead holder had started", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    const booted = Date.now() - uptime() * 1000;
    const now = Math.floor(Date.now() / 1000) * 1000;
    const overAt = async (since: number, touched: number): Promise<number | null> => {
      writeFileSync(path, await holderText({ pid: await endedPid(), since: new Date(since).toISOString() }));
      utimesSync(path, touched / 1000, touched / 1000);
      const lock = await takeLock(path, { purpose: "run", host });
      if (lock.status !== "held") throw new Error(lock.status);
      await lock.release();
      return lock.overAt;
    };

    expect(await overAt(now - 5000, now)).toBe(now); // by the watchdog
    expect(await overAt(now, now)).toBe(null);
    const before = booted - 60_000; // a power cut
    expect(Math.abs((await overAt(before, before) ?? 0) - booted)).toBeLessThan(2000);
  });

  test("exactly one of 20 processes takes over a dead holder's lock", async () => {
    await using folder = await temporaryDirectory("ralph-lock-");
    const path = join(folder.path, "run.lock");
    const start = join(folder.path, "start");
    writeFileSync(path, await holderText({ pid: await endedPid() }));
    const [file, ...arguments_] = fixtureCommand("take_lock.ts");
    const takers = Array.from({ length: 20 }, () => {
      const child = spawn(file, [...arguments_, path, start], { stdio: ["pipe", "pipe", "inherit"] });
      const taker = { child, output: "" };
      child.stdout.on("data", (chunk) => (taker.output += chunk));
      return taker;
    });
    await waitUntil(() => takers.every(({ output }) => output.startsWith("ready")), 25_000);

    writeFileSync(start, "");
    await waitUntil(() => takers.every(({ output }) => /(held|busy)/.test(output)), 10_000);

    const ends = takers.map(({ output }) => output.split("\n")[1]);
    for (const { child } of takers) child.kill("SIGKILL");
    expect(ends.filter((end) => end === "held")).toHaveLength(1);
    expect(ends.filter((end) => end === "busy")).toHaveLength(19);
  });
});

describe("processStart()", () => {
  test("is the same each time, differs between processes, and is null for none", async () => {
    const child = spawn("sleep", ["60"]);
    const own = await processStart(process.pid);
    const other = await processStart(child.pid!);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("exit", resolve));

    expect(own).toMatch(/.+/);
    expect(await processStart(process.pid)).toBe(own);
    expect(other).not.toBe(own);
    expect(await processStart(child.pid!)).toBeNull();
    expect(await processStart(0)).toBeNull();
  });
});
