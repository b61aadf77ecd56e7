import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gsdBacklog } from "../../../lib/workflows/gsd/backlog.ts";
import type { GsdItemData } from "../../../lib/workflows/gsd/item_data.ts";
import { lastSignal } from "../../../lib/workflows/gsd/claim.ts";
import type { AgentTurn } from "../../../lib/backlog/types.ts";
import type { RalphOptions } from "../../../lib/recipe/create_ralph.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "../../loop/loop_world.ts";
import { keepsContract } from "../../testing/keeps_contract.ts";
import { ONE, planText, PROJECT, STATE, summaryOf, THREE, TWO } from "./planning.ts";

const COMPLETE: Partial<AgentTurn> = { lines: ["###PLAN_COMPLETE###"] };
const SUMMARY = "# Summary\n";
const STATE_FILE = ".planning/STATE.md";
const ROADMAP_FILE = ".planning/ROADMAP.md";
/** One plan and nothing else to come. */
const ALONE = { [TWO]: null, [THREE]: null };

async function world(
  turns: (this: void, write: World["write"], prompt: string, number: number) => Promise<Partial<AgentTurn> | void>,
  files: Readonly<Record<string, string | null>> = {},
  options: RalphOptions = {},
): Promise<World> {
  let made: World | null = null;
  const play: Turns = async (request, number) =>
    await turns((path, text) => made!.write(path, text), request.prompt, number);
  const present = Object.entries({ ...PROJECT, ...files }).filter((entry): entry is [string, string] =>
    entry[1] !== null
  );
  made = await loopWorld(play, { ...options, files: Object.fromEntries(present) });
  return made;
}

function read(root: string, path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
}

function movedAside(root: string): readonly string[] {
  const runs = join(root, ".ralph/runs");
  return readdirSync(runs).flatMap((run) =>
    existsSync(join(runs, run, "moved-aside")) ? readdirSync(join(runs, run, "moved-aside")) : []
  );
}

for (const [name, files] of [["with", {}], ["without", { [STATE_FILE]: null, [ROADMAP_FILE]: null }]] as const) {
  keepsContract<GsdItemData, unknown>(`gsdBacklog() ${name} STATE.md and ROADMAP.md`, async (store) => {
    const plans = store === "checked" ? {} : { [ONE]: planText("one.txt").replace(/<verify>[^]*<\/verify>/, "") };
    const one = await world(async () => {}, { ...files, ...plans });
    return {
      backlog: gsdBacklog(one.ralph),
      reopen: async () => gsdBacklog(one.ralph),
      snapshot: async () => [STATE_FILE, ROADMAP_FILE, summaryOf(ONE)].map((path) => read(one.root, path)).join("\0"),
      root: one.root,
      state: one.ralph.state,
      async turn({ data: { summaryFile } }, cwd) {
        writeFileSync(join(cwd, summaryFile), SUMMARY);
        return { ...COMPLETE, changedFiles: [summaryFile] };
      },
      [Symbol.asyncDispose]: () => one[Symbol.asyncDispose](),
    };
  });
}

describe("gsdBacklog() on the loop", () => {
  test("a verified plan: SUMMARY, STATE.md, ROADMAP.md and work in one commit", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      return COMPLETE;
    }, ALONE);

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.passed]).toEqual(["passed", ["01-01"]]);
    expect(read(one.root, STATE_FILE)).toContain("Plan: 1 of 2 in current phase\nStatus: In progress\n");
    expect(read(one.root, ROADMAP_FILE)).toContain("- [x] 01-01-PLAN.md — One");
    expect(await one.git("log", "-1", "--format=%s")).toBe("feat(01-01): One");
    expect(
      (await one.git("show", "--stat=200", "--format=", "HEAD")).replaceAll(/ +\|.*/g, "").split("\n").map((line) =>
        line.trim()
      ).slice(0, 4),
    ).toEqual([
      ROADMAP_FILE,
      STATE_FILE,
      summaryOf(ONE),
      "one.txt",
    ]);
  });

  test("a task that fails is tried once more, with the output in the prompt and no SUMMARY left in place", async () => {
    await using one = await world(async (write, _, number) => {
      await write("one.txt", number === 1 ? "wrong" : "right");
      await write(summaryOf(ONE), SUMMARY);
      return COMPLETE;
    }, {
      ...ALONE,
      [ONE]: planText("one.txt", {
        task:
          "<task><name>b</name>\n<verify><automated>cat one.txt; grep -q right one.txt</automated></verify>\n</task>"
            .replace("><", ">\n<"),
      }),
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.iterations]).toEqual(["passed", 2]);
    expect(one.prompts[1]).toMatch(
      /Attempt 1 failed:\n\n```\ntask 1: grep -q right one\.txt: exit 1\n\ntask 2: cat one\.txt; grep -q right one\.txt: exit 1\nwrong\n```/,
    );
    expect(movedAside(one.root)).toEqual(["1-01-01-SUMMARY.md"]);
    expect(read(one.root, summaryOf(ONE))).toBe(SUMMARY);
  });

  test("a task that fails twice blocks the plan and stops the loop; the next run tries again", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "wrong");
      return COMPLETE;
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));
    const second = await one.again(async () => ({ lines: ["###BLOCKED: needs issue #3 ###"] }));
    const again = await runLoop(second, gsdBacklog(second));

    expect([run.status, run.iterations]).toEqual(["blocked", 2]);
    expect("reasons" in run && run.reasons[0]).toMatch(/^01-01: task 1: grep -q right one\.txt: exit 1/);
    expect([again.status, "reasons" in again && again.reasons]).toEqual(["blocked", [
      "01-01: the agent is blocked: needs issue #3",
    ]]);
    expect(read(one.root, STATE_FILE)).toContain("Status: BLOCKED - 01-01: the agent is blocked: needs issue #3\n");
    expect(read(one.root, ROADMAP_FILE)).toBe(PROJECT[ROADMAP_FILE]);
  });

  test("a plan whose own verification fails stops at once, its SUMMARY moved aside", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      return COMPLETE;
    }, {
      [ONE]: planText("one.txt", {
        verification: '<check name="lint">\n<command>echo not clean; exit 3</command>\n</check>',
      }),
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.iterations]).toEqual(["failed", 1]);
    expect("reasons" in run && run.reasons).toEqual([
      "01-01: the plan's verification failed: plan lint: echo not clean; exit 3: exit 3\nnot clean",
    ]);
    expect([read(one.root, summaryOf(ONE)), movedAside(one.root)]).toEqual([null, ["1-01-01-SUMMARY.md"]]);
    expect(
      one.events.some((event) =>
        event.type === "note" && event.message.startsWith(`${summaryOf(ONE)} is of a plan that was not verified`)
      ),
    ).toBe(true);
  });

  test.each([
    ["TASK_FAILED", "###TASK_FAILED:Write #1###", 2, "blocked"],
    ["PLAN_FAILED", "###PLAN_FAILED:lint###", 1, "failed"],
    ["BLOCKED", "###BLOCKED:uncertain###", 1, "blocked"],
    ["no signal", "All done, honestly.", 2, "blocked"],
  ])("%s ends as it should, whatever the checks would say", async (_, line, iterations, status) => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      return { lines: [line, "I stop here."] };
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.iterations]).toEqual([status, iterations]);
  });

  test("a turn that times out or crashes blocks at once", async () => {
    await using one = await world(async () => ({
      end: { reason: "timed-out", message: "the agent had not ended after 1800 s" },
    }));

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.iterations, "reasons" in run && run.reasons]).toEqual(["blocked", 1, [
      "01-01: the agent had not ended after 1800 s",
    ]]);
  });

  test("a missing SUMMARY is asked for once more, then Ralph writes one and says so", async () => {
    await using one = await world(async (write, _, number) => {
      await write("one.txt", "right");
      return number === 1 ? COMPLETE : { lines: ["I would rather not"] };
    }, ALONE);

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.iterations]).toEqual(["passed", 2]);
    expect(one.prompts[1]).toContain(`Create ${summaryOf(ONE)}`);
    expect(one.prompts[1]).toContain("its SUMMARY is missing");
    expect(read(one.root, summaryOf(ONE))).toMatch(
      /written-by: ralph\n[^]*Ralph wrote this file[^]*1\. Write one\.txt[^]*- passed: task 1: grep -q right one\.txt\n$/,
    );
  });

  test("checkpoints are skipped, and listed in the SUMMARY", async () => {
    const task =
      '<task type="checkpoint:human-verify">\n<name>Look at it</name>\n<verify>\n<automated>exit 9</automated>\n</verify>\n</task>';
    await using one = await world(async (write, prompt) => {
      expect(prompt).toContain(
        '2. Look at it (a checkpoint for a person: SKIP it, and list it in the SUMMARY under "Skipped checkpoints")',
      );
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      return COMPLETE;
    }, { ...ALONE, [ONE]: planText("one.txt", { task }) });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect(run.status === "passed" && run.summary).toMatch(
      /^phase 01 \(Base\): ROADMAP.md lists 01-02, .*; 1 checkpoint that no one saw: 01-01 \(1\)$/,
    );
    expect(read(one.root, summaryOf(ONE))).toBe(
      `${SUMMARY}\n## Skipped checkpoints\n\nLeft out, since no one was watching:\n\n- Look at it\n`,
    );
  });

  test("a plan of checkpoints alone takes no agent: its SUMMARY lists them", async () => {
    await using one = await world(async () => {}, {
      ...ALONE,
      [ONE]: '<task type="checkpoint:decision">\n<name>Choose</name>\n</task>\n',
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, one.prompts, run.turns]).toEqual(["passed", [], 0]);
    expect(read(one.root, summaryOf(ONE))).toMatch(/## Skipped checkpoints\n\n.*\n\n- Choose\n$/);
    expect(read(one.root, ROADMAP_FILE)).toContain("- [x] 01-01");
  });

  test("what the agent writes into the position and the roadmap is put back; its own sections stay", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      await write(summaryOf(TWO), SUMMARY);
      await write(STATE_FILE, STATE.replace("Phase: 1 of 2", "Phase: 2 of 2").replace("- none", "- use X"));
      await write(ROADMAP_FILE, PROJECT[ROADMAP_FILE]!.replaceAll("[ ]", "[x]"));
      return COMPLETE;
    });

    await runLoop(one.ralph, gsdBacklog(one.ralph, { plan: "01-01" }));

    expect(read(one.root, STATE_FILE)).toContain("Phase: 1 of 2 (Base)\nPlan: 1 of 2");
    expect(read(one.root, STATE_FILE)).toContain("- use X");
    expect(read(one.root, ROADMAP_FILE)?.match(/\[x\]/g)?.length).toBe(1);
    expect([read(one.root, summaryOf(TWO)), movedAside(one.root)]).toEqual([null, ["1-01-02-SUMMARY.md"]]);
    expect(one.events.filter((event) => event.type === "state-restored")).toEqual([{
      type: "state-restored",
      paths: [STATE_FILE, ROADMAP_FILE],
    }]);
  });

  test("an agent that only notes a decision has nothing put back", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      await write(STATE_FILE, STATE.replace("- none", "- use X"));
      return COMPLETE;
    }, ALONE);

    await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect(one.events.filter((event) => event.type === "state-restored")).toEqual([]);
    expect(await one.git("show", `HEAD:${STATE_FILE}`)).toContain("- use X");
  });

  test("plans without a check are named before the first turn; an empty one is blocked", async () => {
    await using one = await world(async () => COMPLETE, { ...ALONE, [ONE]: "Do it by hand.\n" });
    await using empty = await world(async () => COMPLETE, { ...ALONE, [ONE]: "---\nplan: 01\n---\n# Plan\n" });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));
    const nothing = await runLoop(empty.ralph, gsdBacklog(empty.ralph));

    expect([run.status, "reasons" in run && run.reasons[0], one.prompts]).toEqual([
      "blocked",
      "1 item names no check and cannot pass: 01-01",
      [],
    ]);
    expect([nothing.status, "reasons" in nothing && nothing.reasons]).toEqual(["blocked", [
      `${ONE} has no task and no text: there is nothing to carry out`,
    ]]);
  });

  test("an interrupted plan is open again, although the agent had written its SUMMARY", async () => {
    const stop = new AbortController();
    await using one = await world(
      async (write) => {
        await write(summaryOf(ONE), SUMMARY);
        stop.abort();
        return { end: { reason: "aborted" } };
      },
      {},
      { signal: stop.signal },
    );

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));
    const next = await gsdBacklog(one.ralph).next({ inFlight: [], parked: [] });

    expect(run.status).toBe("aborted");
    expect(next.status === "item" && next.item.id).toBe("01-01");
    expect(movedAside(one.root)).toEqual(["1-01-01-SUMMARY.md"]);
  });

  test("an older plan by name leaves STATE.md's position alone", async () => {
    await using one = await world(async (write) => {
      await write("one.txt", "right");
      await write(summaryOf(ONE), SUMMARY);
      return COMPLETE;
    }, { [STATE_FILE]: STATE.replace("Phase: 1 of 2 (Base)\nPlan: 0 of 2", "Phase: 2 of 2 (More)\nPlan: 1 of 1") });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph, { plan: "01-01" }));

    expect([run.status, "summary" in run && run.summary]).toEqual(["passed", "01-01 is complete; next: 02-01"]);
    expect(read(one.root, STATE_FILE)).toContain(
      "Phase: 2 of 2 (More)\nPlan: 1 of 1 in current phase\nStatus: Ready to execute\n",
    );
  });
});

describe("lastSignal()", () => {
  test.each([
    [["###PLAN_COMPLETE###"], "PLAN_COMPLETE", ""],
    [["###PLAN_COMPLETE###", "Have a nice day"], undefined, undefined],
    [["###PLAN_COMPLETE k3f9ab###", "Have a nice day"], "PLAN_COMPLETE", ""],
    [["###PLAN_FAILED:a###", "###PLAN_COMPLETE###"], "PLAN_COMPLETE", ""],
    [["###PLAN_COMPLETE###", "###BLOCKED:issue #12 ### here###"], "BLOCKED", "issue #12 ### here"],
    [["###TASK_FAILED:C# build###"], "TASK_FAILED", "C# build"],
    [["I will print ###PLAN_COMPLETE### soon"], undefined, undefined],
    [["- ###BLOCKED:{reason}### - you cannot continue"], undefined, undefined],
    [["### PLAN_COMPLETE ###"], "PLAN_COMPLETE", ""],
  ])("%j", (lines, kind, payload) => {
    const found = lastSignal(lines, "k3f9ab");

    expect([found?.kind, found?.payload]).toEqual([kind, payload]);
  });
});
