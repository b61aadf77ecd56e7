import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createContentHashes } from "../../lib/host/hash.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

test("createContentHashes() does not read an unchanged file again", async () => {
  await using folder = await temporaryDirectory("ralph-hash-");
  const path = join(folder.path, "large");
  writeFileSync(path, "");
  truncateSync(path, 200_000_000);
  await wait(2200);
  const hashes = createContentHashes();
  const timed = async (): Promise<{ hash: string | null; ms: number }> => {
    const before = process.cpuUsage(); // the machine may be busy
    const hash = await hashes(path);
    const { user, system } = process.cpuUsage(before);
    return { hash, ms: (user + system) / 1000 };
  };

  const first = await timed();
  const second = await timed();
  truncateSync(path, 200_000_001);
  const third = await timed();

  expect(second.hash).toBe(first.hash);
  expect(second.ms).toBeLessThan(first.ms / 5);
  expect(third.hash).not.toBe(first.hash);
});

test("createContentHashes() tells folders, and null for nothing", async () => {
  await using folder = await temporaryDirectory("ralph-hash-");
  const hashes = createContentHashes();

  expect(await hashes(folder.path)).toBe("folder");
  expect(await hashes(join(folder.path, "missing"))).toBeNull();
});
