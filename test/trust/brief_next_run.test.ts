import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createBrief } from "../../lib/checks/brief/create_brief.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { createRalph, type RalphOptions } from "../../lib/recipe/create_ralph.ts";
import { untrustedBecause } from "../../lib/recipe/trust.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { restoredIn } from "./workflows.ts";

const CONFIG = '{ "verify": { "default": ["npm test"] }, "protect": ["check.sh"] }\n';
const FILES = { "ralph.config.json": CONFIG, "check.sh": "npm test\n" };
const KEY = { backlog: "memory", scope: "" };

async function world(): Promise<World> {
  return await loopWorld(async () => ({ lines: ["<ralph>DONE</ralph>"] }), { files: FILES });
}

/** The journal and the tree of a run that was killed after its first turn had begun. */
async function killed(one: World): Promise<void> {
  await one.ralph.journal.briefRead(KEY, (await createBrief(one.ralph, memoryBacklog([]))).record);
}

async function start(one: World, options: RalphOptions = {}): Promise<ReturnType<typeof runLoop>> {
  await using ralph = await createRalph({
    root: one.root,
    agent: one.ralph.agent,
    sinks: [{ emit: (event) => one.events.push(event) }],
    ...options,
  });
  return await runLoop(ralph, memoryBacklog([]));
}

function notes(one: World): readonly string[] {
  const messages = one.events.flatMap((event) => event.type === "note" ? [event.message] : []);
  return messages.filter((message) => !message.startsWith("failed, and run once more"));
}

describe("after a run that ended in order", () => {
  test("what differs is a person's work: one line says which keys and files", async () => {
    await using one = await world();
    await start(one);
    await one.write("ralph.config.json", CONFIG.replace("npm test", "npm run check"));
    await one.write(".ralph/prompts/review.md", "Read it.\n");
    rmSync(join(one.root, "check.sh"));

    await start(one);

    expect(notes(one)).toContain(
      "since the last run: .ralph/prompts/review.md (new), check.sh (removed), verify.default of ralph.config.json",
    );
  });

  test("nothing is said where nothing differs", async () => {
    await using one = await world();
    await start(one);
    await start(one);

    expect(notes(one).filter((message) => message.startsWith("since"))).toEqual([]);
  });
});

describe("after a run that was killed", () => {
  test("what differs is shown, and without a person the next run does not start", async () => {
    await using one = await world();
    await killed(one);
    await one.write("ralph.config.json", CONFIG.replace("npm test", "true"));

    await expect(start(one)).rejects.toMatchObject({ code: "brief-changed", exitCode: 3 });

    const shown = one.events.flatMap((event) => event.type === "text" ? event.lines : []);
    expect(shown).toContain("verify.default of ralph.config.json");
    expect(shown).toContain('+{ "verify": { "default": ["true"] }, "protect": ["check.sh"] }');
    await expect(start(one)).rejects.toMatchObject({ code: "brief-changed" }); // asking again changes nothing
  });

  test("`--accept-changes` agrees, and the run after it has nothing to ask", async () => {
    await using one = await world();
    await killed(one);
    await one.write("check.sh", "true\n");

    await start(one, { loop: { acceptChanges: true } });
    await start(one);

    expect(notes(one)).toContain("agreed to: check.sh");
  });

  test("where work goes and who made it are shown as well, branches are not", async () => {
    await using one = await world();
    await one.git("remote", "add", "origin", "../good");
    await killed(one);
    await one.git("config", "remote.origin.url", "../evil");
    await one.git("config", "url.https://ada:secret@evil.invalid/.insteadOf", "x");
    await one.git("config", "branch.main.merge", "refs/heads/main");

    await expect(start(one)).rejects.toMatchObject({
      details: { paths: "remote.origin.url of .git/config, url.https://evil.invalid/.insteadof of .git/config (new)" },
    });
  });

  test("a run that was killed and changed nothing asks nothing", async () => {
    await using one = await world();
    await killed(one);

    await start(one);

    expect(notes(one)).toEqual([]);
  });
});

describe("a recipe that was found and not named", () => {
  const RECIPE = 'import { one } from "./steps.ts";\nexport default one;\n';

  async function withRecipe(): Promise<World> {
    return await loopWorld(async () => {}, {
      files: { "ralph.recipe.ts": RECIPE, "steps.ts": "export const one = 1;\n" },
    });
  }

  async function problem(one: World): Promise<string | null> {
    await using ralph = await createRalph({ root: one.root, agent: one.ralph.agent });
    return await untrustedBecause(ralph, join(one.root, "ralph.recipe.ts"));
  }

  test("runs unattended only where the last run knew it and git tracks it", async () => {
    await using one = await withRecipe();
    const before = await problem(one);
    await start(one);

    expect([before, await problem(one)]).toEqual(["the last run did not know ralph.recipe.ts as it is", null]);
  });

  test.each(["ralph.recipe.ts", "steps.ts"])("does not run with another %s, tracked or not", async (path) => {
    await using one = await withRecipe();
    await start(one);
    await one.write(path, `${readFileSync(join(one.root, path), "utf8")}\n// more\n`);
    const changed = await problem(one);
    await one.git("commit", "-qam", "agent");

    expect([changed, await problem(one)]).toEqual([
      `git does not track ${path} as it is`,
      `the last run did not know ${path} as it is`,
    ]);
  });

  test("its imports are as they were after each turn", async () => {
    await using one = await loopWorld(async ({ cwd }) => {
      rmSync(join(cwd, "steps.ts"));
    }, { files: { "ralph.recipe.ts": RECIPE, "steps.ts": "export const one = 1;\n" } });

    const run = await runLoop(one.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]), {
      maxIterations: 1,
    });

    expect(restoredIn(run)).toEqual(["steps.ts"]);
    expect(existsSync(join(one.root, "steps.ts"))).toBe(true);
  });
});
