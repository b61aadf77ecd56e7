import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ServiceConfig } from "../../lib/config/load.ts";
import type { RalphContext } from "../../lib/context/context.ts";
import { ensureDirectory } from "../../lib/host/files.ts";
import { processStart } from "../../lib/host/process_table.ts";
import type { CheckOutcome } from "../../lib/backlog/types.ts";
import { openServices, type Services } from "../../lib/services/create_services.ts";
import { freePort } from "../e2e/feature_app.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { isAlive } from "../fault/processes.ts";

/** Answers on a port with a status, and names its pid in a file. */
const SERVER = `import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
const [port, status = "200", life = "0"] = process.argv.slice(2);
console.log("starting");
createServer((_, response) => { response.statusCode = Number(status); response.end("x"); })
  .on("error", (error) => { console.error(error.code); process.exit(7); })
  .listen(Number(port), "127.0.0.1", () => { writeFileSync("pid", String(process.pid)); console.log("up"); });
if (life !== "0") setTimeout(() => { console.error("out of memory"); process.exit(9); }, Number(life));
`;

async function world(
  ...services: (Partial<ServiceConfig> & { readonly ready: string })[]
): Promise<World & { readonly ralph: RalphContext }> {
  return await loopWorld(async () => {}, {
    files: { "server.mjs": SERVER },
    config: {
      services: services.map((service, index) => ({
        name: `s${index}`,
        readyTimeout: 15,
        restartBeforeVerify: true,
        ...service,
      })),
    },
  });
}

async function bringUp(services: Services): Promise<CheckOutcome> {
  const [check] = services.checks();
  return await check!.run!({ cwd: ".", item: null, base: null, signal: new AbortController().signal });
}

async function pidOf({ root }: World): Promise<number> {
  return Number(await readFile(join(root, "pid"), "utf8"));
}

describe("services", () => {
  test("start when they are asked for, start afresh before each verification, and end with the run, children included", async () => {
    const port = await freePort();
    await using place = await world({
      ready: `http://127.0.0.1:${port}/`,
      start: `sh -c 'node server.mjs ${port} 404; true'`,
    });
    let last = 0;
    {
      await using services = openServices(place.ralph);
      expect(services.base).toBe(`http://127.0.0.1:${port}`);
      expect(await bringUp(services)).toMatchObject({ ok: true });
      const first = await pidOf(place);
      expect(await bringUp(services)).toMatchObject({ ok: true });
      last = await pidOf(place);
      expect([first === last, isAlive(first), isAlive(last)]).toEqual([false, false, true]);
    }
    expect(isAlive(last)).toBe(false);
  });

  test("with restartBeforeVerify off the same process serves again, and one that died is started again, said with its log", async () => {
    const port = await freePort();
    await using place = await world({
      ready: `http://127.0.0.1:${port}/`,
      start: `node server.mjs ${port}`,
      restartBeforeVerify: false,
    });
    await using services = openServices(place.ralph);
    await bringUp(services);
    const first = await pidOf(place);
    await bringUp(services);
    expect(await pidOf(place)).toBe(first);

    process.kill(first, "SIGKILL");
    while (isAlive(first)) await new Promise((done) => setTimeout(done, 20));
    await new Promise((done) => setTimeout(done, 300));
    expect(await bringUp(services)).toMatchObject({
      ok: true,
      tail: expect.stringMatching(/had ended and was started again.*up/s),
    });
    expect(await pidOf(place)).not.toBe(first);
  });

  test("one that ends before it is ready fails at once with the tail of its log", async () => {
    const port = await freePort();
    await using place = await world({ ready: `http://127.0.0.1:${port}/`, start: "echo no database; exit 3" });
    await using services = openServices(place.ralph);

    expect(await bringUp(services)).toMatchObject({
      ok: false,
      tail: "the service s0 ended with exit code 3 before it was ready; the end of its log:\nno database",
    });
    expect(services.problem()).toBe("the service s0 is not ready");
  });

  test("a status of 500 or more is not ready; after the time it has, it is stopped", async () => {
    const port = await freePort();
    await using place = await world({
      ready: `http://127.0.0.1:${port}/`,
      start: `node server.mjs ${port} 503`,
      readyTimeout: 2,
    });
    await using services = openServices(place.ralph);

    const { ok, tail } = await bringUp(services);

    expect(ok).toBe(false);
    expect(tail).toMatch(/not ready at http:\S+ within 2 s: HTTP 503; the end of its log:\nstarting\nup/);
    expect(isAlive(await pidOf(place))).toBe(false);
  });

  test("without `start` the user runs it: waited for, never stopped", async () => {
    const port = await freePort();
    await using place = await world({ ready: `http://127.0.0.1:${port}/`, readyTimeout: 1 });
    await using services = openServices(place.ralph);
    expect(await bringUp(services)).toMatchObject({ ok: false, tail: expect.stringContaining("you run it") });

    const own = spawn("node", ["server.mjs", String(port)], { cwd: place.root, stdio: "ignore" });
    try {
      await expect.poll(() => readFile(join(place.root, "pid"), "utf8").catch(() => "")).not.toBe(
        "",
      );
      await services.prepare();
      expect(await bringUp(services)).toMatchObject({ ok: true });
      await services[Symbol.asyncDispose]();
      expect(isAlive(own.pid!)).toBe(true);
    } finally {
      own.kill("SIGKILL");
    }
  });

  test("a port that somebody else holds: an error with the process where it must be restarted, a note where it need not", async () => {
    const port = await freePort();
    const ready = `http://127.0.0.1:${port}/`;
    await using place = await world({ ready, start: `node server.mjs ${port}` });
    await using lenient = await world({ ready, start: `node server.mjs ${port}`, restartBeforeVerify: false });
    const foreign = spawn("node", ["server.mjs", String(port)], { cwd: place.root, stdio: "ignore" });
    try {
      await expect.poll(() => readFile(join(place.root, "pid"), "utf8").catch(() => "")).not.toBe(
        "",
      );
      await using services = openServices(place.ralph);
      await expect(services.prepare()).rejects.toMatchObject({
        code: "service-foreign",
        exitCode: 2,
        message: expect.stringContaining(`process ${foreign.pid} (`),
      });
      expect(await bringUp(services)).toMatchObject({
        ok: false,
        tail: expect.stringContaining(`process ${foreign.pid}`),
      });
      await using other = openServices(lenient.ralph);
      await other.prepare();
      expect(await bringUp(other)).toMatchObject({
        ok: true,
        tail: expect.stringContaining("from a process that Ralph did not start"),
      });
      expect(isAlive(foreign.pid!)).toBe(true);
    } finally {
      foreign.kill("SIGKILL");
    }
  });

  test("what a crashed run left behind is found by pid and start time; a process that has its pid by now is left alone", async () => {
    const port = await freePort();
    await using place = await world({ ready: `http://127.0.0.1:${port}/`, start: `node server.mjs ${port}` });
    const left = spawn("node", ["server.mjs", String(port)], { cwd: place.root, stdio: "ignore", detached: true });
    const other = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
    try {
      const started = await processStart(left.pid!);
      await ensureDirectory(place.ralph.repository!.ralphDirectory);
      await writeFile(
        join(place.ralph.repository!.ralphDirectory, "services.json"),
        JSON.stringify([
          { name: "s0", pid: left.pid, started },
          { name: "old", pid: other.pid, started: `${await processStart(other.pid!)}0` },
        ]),
      );
      await using services = openServices(place.ralph);

      await services.prepare();

      expect([isAlive(left.pid!), isAlive(other.pid!)]).toEqual([false, true]);
      expect(place.events).toContainEqual(
        expect.objectContaining({ message: "ended the service s0 that an earlier run left running" }),
      );
      expect(await bringUp(services)).toMatchObject({ ok: true });
    } finally {
      left.kill("SIGKILL");
      other.kill("SIGKILL");
    }
  });
});
