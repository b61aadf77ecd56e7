import { appendFile, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { hasOwnMarker } from "../../lib/git/conflict_markers.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

const ITEMS = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks: [`grep -q "line ${id}" list`] }));

/** Both items append to one file at once; a later turn does with the conflict what `resolve` makes of the text. */
function appending(resolve: (text: string, id: string) => string, end = "\n"): Turns {
  let begun = 0;
  let open = (): void => {};
  const both = new Promise<void>((settle) => (open = settle));
  return async ({ cwd, prompt }, number) => {
    const id = /write (\w)/.exec(prompt)?.[1] ?? "";
    const path = join(cwd, "list");
    if (number > 2) {
      await writeFile(path, resolve(await readFile(path, "utf8"), id));
      return DONE;
    }
    await appendFile(path, `line ${id}${end}`);
    if (++begun === 2) open();
    await both;
    return DONE;
  };
}

/** Both items change one file at once, and write one of their own; what a later turn does is given. */
function atOnce(change: (path: string, id: string) => Promise<void>, later: (root: string) => Promise<void>): Turns {
  let begun = 0;
  let open = (): void => {};
  const both = new Promise<void>((settle) => (open = settle));
  return async ({ cwd, prompt }, number) => {
    const id = /write (\w)/.exec(prompt)?.[1] ?? "";
    if (number > 2) {
      await later(cwd);
      return DONE;
    }
    await change(join(cwd, "data"), id);
    await writeFile(join(cwd, id), "");
    if (++begun === 2) open();
    await both;
    return DONE;
  };
}

/** The list as it landed last. */
async function landedIn(world: World): Promise<string> {
  return await world.git("show", "HEAD:list");
}

function failures(world: World): readonly string[] {
  return world.events.flatMap((event) =>
    event.type === "iteration-end" && event.result !== "verified" ? [event.message ?? ""] : []
  );
}

describe("a conflict that Ralph wrote into a tree", () => {
  test("says in words which side is which, and the prompt what it conflicts with", async () => {
    let seen = "";
    await using world = await loopWorld(
      appending((text) => {
        seen = text;
        return text.split("\n").filter((line) => !/^[<=>]{7}/.test(line)).join("\n");
      }),
      { files: { list: "start\n" } },
    );

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 3 });
    const [first, second] = /write b/.test(world.prompts.at(-1) ?? "") ? ["a", "b"] : ["b", "a"];
    expect(seen).toBe(
      `start\n<<<<<<< merged since: feat: write ${first}\nline ${first}\n======= merged since above, yours below\n` +
        `line ${second}\n>>>>>>> yours: ${second}\n`,
    );
    expect(world.prompts.at(-1)).toContain("the work at it so far conflicts with what was merged since: list");
    expect(world.prompts.at(-1)).not.toContain("ended without a verdict");
    expect((await landedIn(world)).split("\n").toSorted()).toEqual(["line a", "line b", "start"]);
  });

  test.each<readonly [string, (text: string, id: string) => string, string, Record<string, string>]>([
    ["nothing is done about it", (text) => text, "\n", {}],
    ["only the outer markers are removed", (text) => text.replaceAll(/^[<>]{7}.*\n/gm, ""), "\n", {}],
    ["one side is taken, and its marker left", (text) => text.replace(/^<{7}[^]*?^={7}.*\n/m, ""), "\n", {}],
    ["the lines end as on Windows", (text) => text, "\r\n", {}],
    ["markers are longer by an attribute", (text) => text, "\n", {
      ".gitattributes": "list conflict-marker-size=12\n",
    }],
  ])("is not landed where %s: the attempt names the file", async (_name, resolve, end, files) => {
    await using world = await loopWorld(appending(resolve, end), { files: { list: `start${end}`, ...files } });
    await world.git("config", "merge.conflictStyle", "diff3");

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS, { maxRetries: 2 }), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked" });
    expect(run.passed).toHaveLength(1);
    expect(hasOwnMarker(await landedIn(world))).toBe(false);
    expect(failures(world)).toContainEqual(expect.stringContaining("conflict not resolved in list"));
  });

  test("is not passed by a run with one worker that the work comes back to", async () => {
    await using world = await loopWorld(appending((text) => text), { files: { list: "start\n" } });
    await runLoop(world.ralph, memoryBacklog(ITEMS), { workers: 2, maxIterations: 3 });
    expect(await world.git("for-each-ref", "refs/ralph/work")).not.toBe("");
    const done = (await landedIn(world)).includes("line a") ? "a" : "b";

    const again = await world.again(async () => DONE);
    const run = await runLoop(again, memoryBacklog(ITEMS.filter(({ id }) => id !== done), { maxRetries: 1 }));

    expect(run).toMatchObject({ status: "blocked", passed: [] });
    expect(hasOwnMarker(await landedIn(world))).toBe(false);
  });

  test.each<readonly [string, (path: string, id: string) => Promise<void>]>([
    ["is binary", (path, id) => writeFile(path, `\0${id}\n`)],
    ["is removed on one side", (path, id) => id === "a" ? rm(path) : writeFile(path, "b\n")],
    [
      "is a link on one side",
      (path, id) => id === "a" ? rm(path).then(() => symlink("x", path)) : writeFile(path, "b\n"),
    ],
  ])("is not landed in a file that %s, where git writes no marker", async (_name, change) => {
    const seen: string[] = [];
    const turns = atOnce(change, async (root) => {
      seen.push(await readFile(join(root, "data.unresolved"), "utf8"));
    });
    await using world = await loopWorld(turns, { files: { data: "\0start\n" } });
    const checked = ITEMS.map((item) => ({ ...item, checks: [`test -f ${item.id}`] }));

    const run = await runLoop(world.ralph, memoryBacklog(checked, { maxRetries: 2 }), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked" });
    expect(run.passed).toHaveLength(1);
    expect(failures(world)).toContainEqual(expect.stringContaining("conflict not resolved in data.unresolved"));
    expect(seen[0]).toMatch(
      /^<{7} merged since: .+\n(?:git show|data is)[^]*^={7} .+\n(?:git show|data is)[^]*^>{7} yours: /m,
    );
    expect(await world.git("ls-tree", "--name-only", "HEAD")).not.toContain("unresolved");
  });

  test("is over in a file without markers when the text beside it is deleted", async () => {
    const turns = atOnce((path, id) => writeFile(path, `\0${id}\n`), async (root) => {
      await writeFile(join(root, "data"), "\0both\n");
      await rm(join(root, "data.unresolved"));
    });
    await using world = await loopWorld(turns, { files: { data: "\0start\n" } });
    const checked = ITEMS.map((item) => ({ ...item, checks: [`test -f ${item.id}`] }));

    const run = await runLoop(world.ralph, memoryBacklog(checked), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 3 });
    expect(await world.git("show", "HEAD:data")).toBe("\0both");
    expect(await world.git("ls-tree", "--name-only", "HEAD")).not.toContain("unresolved");
  });

  test("is known by Ralph's own labels alone", () => {
    expect(hasOwnMarker("Title\n=======\n<<<<<<< HEAD\n>>>>>>> branch\n")).toBe(false);
    expect(hasOwnMarker("text\n>>>>>>> yours: US-002\n")).toBe(true);
    expect(hasOwnMarker("- list\n  >>>>>>> yours: US-002\n")).toBe(true); // as a formatter leaves it
  });
});
