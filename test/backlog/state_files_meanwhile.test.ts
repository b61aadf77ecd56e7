/** Another program writes at any moment: only in the binary there is no instant between a look and a replacement. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { createStateFiles, type StateFiles } from "../../lib/backlog/state_files.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

interface Place extends AsyncDisposable {
  readonly root: string;
  readonly state: StateFiles;
  read(): Promise<string>;
}

async function place(): Promise<Place> {
  const folder = await temporaryDirectory("ralph-state");
  const root = folder.path;
  return {
    root,
    state: createStateFiles({ root, directory: join(root, "own"), host: createHost() }),
    read: () => readFile(join(root, "a.txt"), "utf8"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const more = (line: string) => (text: string | null): string => `${text ?? ""}${line}\n`;

/**
 * Appends `line 1`, `line 2` … by a process of its own, as long as `during` takes: every 15 ms, and on a busy machine a
 * few times slower than an update is, which gives up after 50 lost races.
 */
async function whileAppending({ root, state }: Place, during: () => Promise<void>): Promise<readonly string[]> {
  const file = join(root, "a.txt");
  const started = performance.now();
  for (let tries = 0; tries < 5; tries++) await state.update("a.txt", () => `${tries % 2}\n`);
  const every = Math.max(15, Math.ceil((performance.now() - started) * 4 / 5));
  const code = `const { openSync, writeSync, fstatSync, closeSync } = require("node:fs");
    let count = 0;
    const late = [];
    const timer = setInterval(() => {
      const file = openSync(${JSON.stringify(file)}, "a");
      writeSync(file, "line " + ++count + "\\n");
      if (fstatSync(file).nlink === 0) late.push(count);
      closeSync(file);
    }, ${every});
    process.stdin.on("end", () => { clearInterval(timer); console.log(JSON.stringify({ count, late })); }).resume();
    console.log("ready");`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  await during().finally(() => child.stdin.end());
  const { count, late } = JSON.parse(String((await lines.next()).value)) as { count: number; late: readonly number[] };
  // Stopped by the scheduler between its opening and its writing, it may have written into a file that was gone by then.
  const written = Array.from({ length: count }, (_, index) => index + 1).filter((one) => !late.includes(one));
  return written.map((one) => `line ${one}`);
}

const missing = (lines: readonly string[], ...texts: readonly string[]): readonly string[] => {
  const there = new Set(texts.flatMap((text) => text.split("\n")));
  return lines.filter((line) => !there.has(line));
};

test("update() keeps each of its lines, held or not", async () => {
  await using here = await place();
  const lines = await whileAppending(here, async () => {
    for (let round = 1; round <= 40; round++) {
      if (round === 20) await here.state.hold(["a.txt"]);
      await here.state.update("a.txt", more(`own ${round}`));
    }
  });

  expect(lines.length).toBeGreaterThan(0);
  const text = await here.read();
  expect(missing(lines, text)).toEqual([]);
  expect(missing(Array.from({ length: 40 }, (_, index) => `own ${index + 1}`), text)).toEqual([]);
});

test("restore() hands over each version that it reverts, the newest too", async () => {
  await using here = await place();
  const kept: (string | null)[] = [];
  const lines = await whileAppending(here, async () => {
    while (kept.length < 25) {
      await here.state.restore(await here.state.edited(["a.txt"]), async ({ found }) => {
        kept.push(found);
      });
    }
  });

  expect(lines.length).toBeGreaterThan(0);
  expect(missing(lines, await here.read(), ...kept.map((text) => text ?? ""))).toEqual([]);
});
