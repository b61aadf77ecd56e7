import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnReason } from "../../lib/host/start_child.ts";
import { describe, expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { createProcesses } from "../../lib/host/process_tree.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import type { ProcessEnd, ProcessRequest } from "../../lib/host/types.ts";
import { processesWith, sleepTag, waitUntil } from "../fixtures/processes/survivors.ts";
import { skipWithout } from "../skip_without.ts";

async function runShell(line: string, options: Partial<ProcessRequest> = {}): Promise<ProcessEnd> {
  skipWithout("bash");
  const host = createHost();
  await using processes = host.processes;
  return await processes.run({ file: "bash", arguments: ["-c", line], cwd: process.cwd(), ...options });
}

describe("processes.run()", () => {
  test("tells exit code and both streams of a script with a heredoc", async () => {
    const end = await runShell("cat <<X\nhere\nX\necho oops >&2; exit 3");

    expect(end).toMatchObject({ reason: "exited", exitCode: 3, signal: null, stdout: "here\n", stderr: "oops\n" });
  });

  test("tells the signal that ended a child", async () => {
    expect(await runShell("kill -9 $$")).toMatchObject({ reason: "exited", exitCode: null, signal: "SIGKILL" });
  });

  test("hands on input, and an absent one is empty", async () => {
    expect((await runShell("cat", { input: "ä\0b" })).stdout).toBe("ä\0b");
    expect((await runShell("cat; echo end")).stdout).toBe("end\n");
  });

  test("does not mind a child that leaves a large input unread", async () => {
    const end = await runShell("exec <&-; echo done", { input: new Uint8Array(5_000_000) });

    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stdout: "done\n" });
  });

  test.each([
    ["a missing program", { file: "ralph-no-such-program" }, /not found on PATH/],
    ["a missing path", { file: "/nowhere/program" }, /no such file/],
    ["a file that is not executable", { file: "/etc/passwd" }, /not executable/],
    ["a missing folder", { cwd: "/nowhere" }, /the folder \/nowhere does not exist/],
    ["an argument that is too long", { arguments: ["-c", "x".repeat(3_000_000)] }, /too long/],
  ])("tells %s as not-found", async (_, options, message) => {
    const end = await runShell("true", options);

    expect(end).toMatchObject({ reason: "not-found", exitCode: null });
    expect(end.stderr).toMatch(message);
    expect(end.tail).toBe(end.stderr);
  });

  test.each([
    ["EAGAIN", "not-started"],
    ["ENOMEM", "not-started"],
    ["EMFILE", "not-started"],
    ["ENOENT", "not-found"],
    ["EACCES", "not-found"],
  ])("a start that fails with %s is %s", (code, reason) => {
    expect(spawnReason(Object.assign(new Error("spawn failed"), { code }))).toBe(reason);
  });

  test("finds the program on the child's own PATH", async () => {
    await using folder = await temporaryDirectory("ralph-path-");
    mkdirSync(join(folder.path, "bin"));
    writeFileSync(join(folder.path, "bin", "only-here"), "#!/bin/sh\necho found\n", { mode: 0o755 });

    const end = await runShell("", {
      file: "only-here",
      arguments: [],
      environment: { PATH: `${folder.path}/bin:${process.env["PATH"]}` },
    });

    expect(end.stdout).toBe("found\n");
  });

  test("lays the request's environment over its own and takes Bun's switches away", async () => {
    const end = await runShell("env", {
      environment: { ADDED: "yes", HOME: undefined, BUN_OPTIONS: "--preload x", BUN_BE_BUN: "1" },
    });

    expect(end.stdout).toContain("ADDED=yes\n");
    expect(end.stdout).toMatch(/RALPH_TREE=\S*[a-z0-9]{16}\.1\n/);
    expect(end.stdout).not.toMatch(/^(HOME|BUN_OPTIONS|BUN_BE_BUN)=/m);
  });
});

describe("the end of a tree", () => {
  /**
   * The ways to escape, and the mechanism that finds each: the process group (grandchildren), the descendants as the
   * table of processes had them at the end's first signal (a session without the mark), the mark in the environment (a
   * double fork). A process without mark and parent is found under Bun alone: `test/fault/late_process.test.ts`; one that
   * outlives a SIGKILL of Ralph by the watchdog and the next run's sweep: `watchdog.test.ts`, `own_session.test.ts`.
   */
  const cases: readonly (readonly [name: string, line: (tag: string) => string])[] = [
    ["grandchildren", (tag) => `sleep ${tag} & sleep ${tag}`],
    ["children that ignore SIGTERM", (tag) => `trap '' TERM; sleep ${tag} & sleep ${tag}; sleep ${tag}`],
    ["a session of its own", (tag) => `setsid sleep ${tag} & sleep ${tag}`],
    ["a session of its own without the mark", (tag) => `env -u RALPH_TREE setsid sleep ${tag} & sleep ${tag}`],
    ["a double fork", (tag) => `(setsid sh -c "sleep ${tag} & sleep ${tag} &" &); sleep 0.1; sleep ${tag}`],
    ["a session deep down", (tag) => `bash -c 'setsid bash -c "sleep ${tag}; true" & sleep ${tag}; true'; true`],
    ["a pipeline", (tag) => `sleep ${tag} | cat | cat`],
    ["a flood of output", (tag) => `sleep ${tag} & yes`],
    ["a child that forks all the time", (tag) => `while :; do sleep ${tag} & sleep 0.01; done`],
  ];

  test.each(cases)("a timeout ends %s", async (_, line) => {
    const tag = sleepTag();

    const end = await runShell(line(tag), { timeoutMs: 250, graceMs: 300 });

    expect(end).toMatchObject({ reason: "timed-out", exitCode: null });
    expect(end.durationMs).toBeLessThan(8000);
    expect(processesWith(tag)).toEqual([]);
  });

  test.each([
    ["in the background", (tag: string) => `sleep ${tag} >/dev/null 2>&1 & echo started`],
    ["that holds stdout", (tag: string) => `sleep ${tag} & echo started`],
    ["in a session of its own", (tag: string) => `setsid sleep ${tag} & echo started; sleep 0.05`],
    [
      "that left its session and ignores SIGTERM",
      (tag: string) => `setsid bash -c "trap '' TERM; sleep ${tag}; sleep ${tag}" & echo started; sleep 0.05`,
    ],
  ])("a child that ends by itself leaves nothing %s", async (_, line) => {
    const tag = sleepTag();

    const end = await runShell(line(tag));

    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stdout: "started\n" });
    expect(end.durationMs).toBeLessThan(8000);
    expect(processesWith(tag)).toEqual([]);
  });

  test("a filter that still holds stdout may finish its writing", async () => {
    const end = await runShell("exec > >(sed 's/^/> /'); for i in 1 2 3; do echo $i; done");

    expect(end.stdout).toBe("> 1\n> 2\n> 3\n");
  });

  test("silence ends a child after the idle time, output keeps it alive", async () => {
    const silent = await runShell("echo hi; sleep 60", { idleTimeoutMs: 200 });
    const busy = await runShell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done", { idleTimeoutMs: 350 });

    expect(silent).toMatchObject({ reason: "idle", stdout: "hi\n" });
    expect(busy).toMatchObject({ reason: "exited", exitCode: 0 });
  });

  test("an abort ends the tree; one that came before starts nothing", async () => {
    const tag = sleepTag();
    const abort = new AbortController();
    const running = runShell(`sleep ${tag} & sleep ${tag}`, { signal: abort.signal });
    await waitUntil(() => processesWith(tag).length > 0, 5000);

    abort.abort();

    expect(await running).toMatchObject({ reason: "aborted", signal: "SIGTERM" });
    expect(processesWith(tag)).toEqual([]);
    expect(await runShell("echo hi", { signal: abort.signal })).toMatchObject({ reason: "aborted", stdout: "" });
  });

  test("a child that cleans up on SIGTERM has the grace for it", async () => {
    const end = await runShell("trap 'sleep 0.3; echo clean; exit 7' TERM; while :; do sleep 0.05; done", {
      timeoutMs: 200,
    });

    expect(end).toMatchObject({ reason: "timed-out", exitCode: 7, stdout: "clean\n" });
  });

  test("a time limit that no timer holds is none that ends at once", async () => {
    const month = 30 * 24 * 60 * 60_000;
    const end = await runShell("sleep 0.2; echo hi", { timeoutMs: month, idleTimeoutMs: month });

    expect(end).toMatchObject({ reason: "exited", stdout: "hi\n" });
  });

  test("with the terminal handed over nothing is captured, and a timeout ends the tree all the same", async () => {
    const tag = sleepTag();

    const end = await runShell("exit 4", { terminal: true });
    const slow = await runShell(`sleep ${tag} & setsid sleep ${tag} & sleep ${tag}`, {
      terminal: true,
      timeoutMs: 250,
      graceMs: 200,
    });

    expect(end).toMatchObject({ reason: "exited", exitCode: 4, stdout: "", stderr: "", tail: "" });
    expect(slow.reason).toBe("timed-out");
    expect(processesWith(tag)).toEqual([]);
  });

  test("the terminal is handed over for as long as it is handed over, and only then", async () => {
    const { environment, ids } = createHost();
    const told: string[] = [];
    await using processes = createProcesses(environment, ids, {
      async lend(run) {
        told.push("bundled");
        const value = await run();
        told.push("back");
        return value;
      },
    });

    await processes.run({ file: "true", arguments: [], cwd: process.cwd() });
    expect(told).toEqual([]);
    await processes.run({ file: "true", arguments: [], cwd: process.cwd(), terminal: true });
    expect(told).toEqual(["bundled", "back"]);
  });

  test("disposing ends what still runs", async () => {
    const tag = sleepTag();
    const { processes } = createHost();
    const running = processes.run({ file: "sleep", arguments: [tag], cwd: process.cwd() });

    await processes[Symbol.asyncDispose]();

    expect(await running).toMatchObject({ reason: "aborted" });
    expect(processesWith(tag)).toEqual([]);
  });

  test("sweep() ends what carries another run's cookie, and nothing else", async () => {
    const tag = sleepTag();
    const host = createHost();
    await using processes = host.processes;
    const own = processes.run({ file: "sleep", arguments: [tag], cwd: process.cwd(), timeoutMs: 60_000 });
    const stray = processes.run({
      file: "env",
      arguments: ["RALPH_TREE=outer1.3:oldcookie.7", "sleep", `${tag}1`],
      cwd: process.cwd(),
      guarded: false,
    });
    await waitUntil(() => processesWith(tag).length === 1 && processesWith(`${tag}1`).length === 1, 5000);

    expect(await processes.sweep("oldcook")).toBe(0);
    expect(await processes.sweep("oldcookie")).toBe(1);

    expect((await stray).signal).toMatch(/^SIG(TERM|KILL)$/); // killed only where the machine is too busy for its end
    expect(processesWith(tag)).toHaveLength(1);
    await processes[Symbol.asyncDispose]();
    await own;
  });

  test("git's children are left alone: `guarded: false` ends with the child, not with what it started", async () => {
    const tag = sleepTag();

    const end = await runShell(`sleep ${tag} & echo done`, { guarded: false });
    const left = processesWith(tag);
    for (const pid of left) process.kill(pid, "SIGKILL");

    expect(end).toMatchObject({ reason: "exited", stdout: "done\n" });
    expect(left).toHaveLength(1);
  });
});
