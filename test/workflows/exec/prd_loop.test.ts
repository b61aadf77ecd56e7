import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prdBacklog } from "../../../lib/workflows/exec/backlog.ts";
import { formatPrd } from "../../../lib/workflows/exec/format.ts";
import type { Prd, Story } from "../../../lib/workflows/exec/types.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "../../loop/loop_world.ts";

const PRD = "scripts/ralph/prd.json";
const CLAIMS = { lines: ["<promise>COMPLETE</promise>"] };

function story(id: string, priority: number, criteria: readonly string[], more: Partial<Story> = {}): Story {
  return { id, title: `Story ${id}`, acceptanceCriteria: criteria, priority, passes: false, notes: "", ...more };
}

function files(...userStories: Story[]): { readonly files: Record<string, string> } {
  return { files: { [PRD]: formatPrd({ branchName: "main", userStories }) } };
}

async function prdOf(world: World): Promise<Prd> {
  return JSON.parse(await readFile(join(world.root, PRD), "utf8")) as Prd;
}

/** Writes `<id>.txt` for the story that the prompt is about, and says so. */
const OBEDIENT: Turns = async ({ cwd, environment }) => {
  await writeFile(join(cwd, `${environment["RALPH_ITEM"]}.txt`), "x\n");
  return CLAIMS;
};

describe("prdBacklog() in the loop", () => {
  test("takes stories by priority, one commit each with work and state, and checks all once more at the end", async () => {
    await using world = await loopWorld(
      OBEDIENT,
      files(
        story("US-2", 2, ["Verify: `test -f US-2.txt`"]),
        story("US-1", 1, ["It is there. Verify: `test -f US-1.txt`"]),
      ),
    );

    const run = await runLoop(world.ralph, prdBacklog(world.ralph));

    expect(run).toMatchObject({ status: "passed", passed: ["US-1", "US-2"], iterations: 2, turns: 2 });
    expect(await world.git("log", "--format=%s")).toBe("feat: US-2 - Story US-2\nfeat: US-1 - Story US-1\nstart");
    expect(await world.git("show", "--name-only", "--format=", "HEAD")).toBe(
      `US-2.txt\n${PRD}\nscripts/ralph/progress.txt`,
    );
    expect(await world.git("status", "--porcelain")).toBe("");
    expect((await prdOf(world)).userStories.every(({ passes }) => passes)).toBe(true);
    const ends = world.events.filter(({ type }) => type === "check-end").slice(-2);
    expect(ends.map((event) => "scope" in event && event.scope)).toEqual(["US-2", "US-1"]);
  });

  test("where claims are optional checks alone decide: without the marker a story passes, with it a failing one does not", async () => {
    await using world = await loopWorld(async (request, number) => {
      if (number > 1) await OBEDIENT(request, number);
      return { lines: number === 1 ? ["<promise>COMPLETE</promise>"] : ["nothing to say"] };
    }, { ...files(story("US-1", 1, ["Verify: `test -f US-1.txt`"])), config: { provider: { claims: "optional" } } });

    expect(await runLoop(world.ralph, prdBacklog(world.ralph))).toMatchObject({ status: "passed", turns: 2 });
  });

  test("the failing check's tail stands in the notes and in the next prompt; a pass takes it away, the planner's notes stay", async () => {
    const notesSeen: string[] = [];
    await using world = await loopWorld(
      async (request, number) => {
        notesSeen.push((await prdOf(world)).userStories[0]!.notes);
        await writeFile(join(request.cwd, `try-${number}.txt`), "x");
        if (number === 2) await OBEDIENT(request, number);
        return CLAIMS;
      },
      files(
        story("US-1", 1, ["Verify: `test -f US-1.txt || { echo it is missing; false; }`"], { notes: "mind the gap" }),
      ),
    );

    await runLoop(world.ralph, prdBacklog(world.ralph));

    expect(notesSeen[1]).toContain("mind the gap\n[ralph] attempt 1 failed:");
    expect(notesSeen[1]).toContain("it is missing");
    expect(world.prompts[1]).toContain("it is missing");
    expect((await prdOf(world)).userStories[0]!.notes).toBe("mind the gap");
  });

  test("a manual edit of prd.json is put back: what the agent passed, deleted or broke", async () => {
    const breaks: readonly ((path: string) => Promise<void>)[] = [
      async (path) =>
        await writeFile(path, (await readFile(path, "utf8")).replace('"passes": false', '"passes": true')),
      async (path) => await writeFile(path, '{"branchName": "ma'),
      async (path) => await rm(path),
    ];
    for (const damage of breaks) {
      await using world = await loopWorld(
        async ({ cwd }) => await damage(join(cwd, PRD)),
        files(story("US-1", 1, ["Verify: `false`"])),
      );

      const run = await runLoop(world.ralph, prdBacklog(world.ralph), { limits: { sameFailure: 9, idle: 9 } });

      expect(run).toMatchObject({ status: "blocked", passed: [], turns: 3 });
      expect(world.events.filter(({ type }) => type === "state-restored")).toHaveLength(3);
      expect((await prdOf(world)).userStories[0]).toMatchObject({ id: "US-1", passes: false });
    }
  });

  test("a parked story stays parked in the next run, and comes back when asked or when its criteria change", async () => {
    const start = story("US-1", 1, ["Verify: `test -f US-1.txt`"]);
    await using world = await loopWorld(async (request, number) => {
      if (request.environment["RALPH_ITEM"] === "US-2") await OBEDIENT(request, number);
      return CLAIMS;
    }, files(start, story("US-2", 2, ["Verify: `test -f US-2.txt`"])));

    const first = await runLoop(world.ralph, prdBacklog(world.ralph));
    const second = await runLoop(await world.again(), prdBacklog(world.ralph));
    const retried = await runLoop(await world.again(OBEDIENT), prdBacklog(world.ralph), { retryBlocked: true });

    expect(first).toMatchObject({ status: "blocked", passed: ["US-2"], parked: [{ id: "US-1" }] });
    expect(second).toMatchObject({ status: "blocked", turns: 0, reasons: [expect.stringContaining("US-1")] });
    expect(retried).toMatchObject({ status: "passed", passed: ["US-1"] });
  });

  test("a story that an earlier one's check shows broken at the end is opened again", async () => {
    await using world = await loopWorld(async ({ cwd, environment }, number) => {
      const id = environment["RALPH_ITEM"];
      await writeFile(join(cwd, `${id}.txt`), "x");
      if (number === 2) await rm(join(cwd, "US-1.txt")); // the second story breaks the first
      return CLAIMS;
    }, files(story("US-1", 1, ["Verify: `test -f US-1.txt`"]), story("US-2", 2, ["Verify: `test -f US-2.txt`"])));

    const run = await runLoop(world.ralph, prdBacklog(world.ralph));

    expect(run).toMatchObject({ status: "passed", turns: 3 });
    expect(world.prompts[2]).toContain("US-1");
    expect(world.events.flatMap((event) => event.type === "items-reopened" ? event.ids : [])).toEqual([
      "US-1",
    ]);
    expect(await world.git("log", "--format=%s", "-3")).toBe(
      "feat: US-1 - Story US-1\nralph: US-1 sent back by the final check\nfeat: US-2 - Story US-2",
    );
  });

  test("without checks nothing is started, and the ways out are named", async () => {
    await using world = await loopWorld(OBEDIENT, files(story("US-1", 1, ["it works: `npm test`"])));

    const run = await runLoop(world.ralph, prdBacklog(world.ralph));

    expect(run.status).toBe("blocked");
    expect(run.status === "blocked" && run.reasons.join("\n")).toContain("--allow-unverified");
    expect(world.prompts).toEqual([]);
  });

  test("without checks, where that is allowed, only the marker as the last own line is a claim", async () => {
    const allow = {
      ...files(story("US-1", 1, ["it works"])),
      config: { verify: { allowUnverified: true }, maxRetries: 1 },
    };
    const lines: readonly (readonly [readonly string[], string])[] = [
      [["done", "<promise>COMPLETE</promise>"], "unverified"],
      [["<promise>COMPLETE</promise>", "but one thing is left"], "blocked"],
      [["it says <promise>COMPLETE</promise>"], "blocked"],
      [[], "blocked"],
    ];
    for (const [said, status] of lines) {
      await using world = await loopWorld(async () => ({ lines: said }), allow);

      expect([said, (await runLoop(world.ralph, prdBacklog(world.ralph))).status]).toEqual([said, status]);
    }
  });

  test("the marker of the other workflows is a claim with the attempt's nonce alone", async () => {
    const turn = (said: (nonce: string) => string): Turns => async ({ cwd, prompt }) => {
      await writeFile(join(cwd, "US-1.txt"), "x");
      return { lines: [said(/<promise (\w+)>/.exec(prompt)?.[1] ?? "")] };
    };
    const one = { ...files(story("US-1", 1, ["Verify: `test -f US-1.txt`"])), config: { maxRetries: 1 } };
    await using sealed = await loopWorld(turn((nonce) => `<ralph ${nonce}>DONE</ralph>`), one);
    await using plain = await loopWorld(turn(() => "<ralph>DONE</ralph>"), one);

    expect((await runLoop(sealed.ralph, prdBacklog(sealed.ralph))).status).toBe("passed");
    expect((await runLoop(plain.ralph, prdBacklog(plain.ralph))).status).toBe("unverified");
  });

  test("without checks, a marker that ends a file which the agent prints is no claim", async () => {
    await using world = await loopWorld(
      async () => ({ lines: ["End with this line:", "<promise>COMPLETE</promise>"] }),
      {
        files: {
          ...files(story("US-1", 1, ["it works"])).files,
          "HOWTO.md": "End with this line:\n\n<promise>COMPLETE</promise>\n",
        },
        config: { verify: { allowUnverified: true }, maxRetries: 1 },
      },
    );

    expect(await runLoop(world.ralph, prdBacklog(world.ralph))).toMatchObject({ status: "blocked", passed: [] });
  });

  test("no story at all is blocked, not passed; a broken or missing PRD is an error before any turn", async () => {
    await using empty = await loopWorld(OBEDIENT, files());
    await using broken = await loopWorld(OBEDIENT, { files: { [PRD]: '{"branchName": "x", "userStories": [{}]}' } });
    await using missing = await loopWorld(OBEDIENT);

    expect(await runLoop(empty.ralph, prdBacklog(empty.ralph))).toMatchObject({ status: "blocked", turns: 0 });
    await expect(runLoop(broken.ralph, prdBacklog(broken.ralph))).rejects.toMatchObject({
      code: "state-invalid",
      exitCode: 2,
    });
    await expect(runLoop(missing.ralph, prdBacklog(missing.ralph))).rejects.toMatchObject({ code: "state-missing" });
  });

  test("works on the PRD's branch; a name for this run wins, and an empty one stays", async () => {
    const prd = {
      files: { [PRD]: formatPrd({ branchName: "ralph/feature", userStories: [story("US-1", 1, ["Verify: `true`"])] }) },
    };
    await using own = await loopWorld(OBEDIENT, prd);
    await using named = await loopWorld(OBEDIENT, { ...prd, loop: { branch: "other" } });
    await using staying = await loopWorld(OBEDIENT, prd);

    await runLoop(own.ralph, prdBacklog(own.ralph));
    await runLoop(named.ralph, prdBacklog(named.ralph));
    await runLoop(staying.ralph, prdBacklog(staying.ralph), { branch: "" });

    expect(await own.git("branch", "--show-current")).toBe("ralph/feature");
    expect(await named.git("branch", "--show-current")).toBe("other");
    expect(await staying.git("branch", "--show-current")).toBe("main");
  });
});
