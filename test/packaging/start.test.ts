import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import { ROOT } from "../../tools/runtimes.mjs";
import { finish, type Launch, ralphLaunches } from "./runtimes.ts";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };

describe.each(Object.entries(ralphLaunches()))("ralph from %s", (_name, launch: Launch) => {
  test("prints its version in a folder without anything", async () => {
    await using folder = await temporaryDirectory("ralph-start-");

    const finished = await finish(launch, ["--version"], folder.path);

    expect(finished).toEqual({ code: 0, stdout: expect.stringContaining(version) as string, stderr: "" });
  });

  test("ends with 2 for an unknown command", async () => {
    await using folder = await temporaryDirectory("ralph-start-");

    const finished = await finish(launch, ["exce"], folder.path);

    expect(finished).toMatchObject({ code: 2, stdout: "" });
    expect(finished.stderr).toContain("exec");
  });

  test("runs a recipe that imports `ralph` and zod", async () => {
    await using folder = await temporaryDirectory("ralph-start-");
    await writeAtomic(
      join(folder.path, "mine.recipe.mjs"),
      `import { defineRecipe, verify } from "ralph";
import { z } from "zod";
export default defineRecipe({
  name: "mine",
  args: z.object({ word: z.string().default("none") }),
  run: (ralph, { word }) => verify(ralph, [\`test \${word} = yes\`]),
});
`,
    );

    const passed = await finish(launch, ["run-recipe", "mine.recipe.mjs", "--word", "yes"], folder.path);
    const failed = await finish(launch, ["run-recipe", "mine.recipe.mjs", "--word", "no"], folder.path);

    expect([passed.code, failed.code], passed.stderr + failed.stderr).toEqual([0, 1]);
  });
});
