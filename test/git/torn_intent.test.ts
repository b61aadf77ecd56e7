import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { deadIntents } from "../../lib/git/intent.ts";

describe("deadIntents()", () => {
  test("removes the intent that a kill tore, and leaves a living Ralph's alone", async () => {
    await using folder = await temporaryDirectory("ralph-intent-");
    const directory = join(folder.path, "ralph");
    mkdirSync(directory);
    for (const pid of [process.pid, 4_194_399]) writeFileSync(join(directory, `git-intent.${pid}.json`), "");

    const dead = await deadIntents(directory);

    expect(dead).toEqual([]);
    expect(readdirSync(directory)).toEqual([`git-intent.${process.pid}.json`]);
  });
});
