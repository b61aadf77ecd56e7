import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { appendClaims, type ClaimLine, CLAIMS_VARIABLE } from "../../../lib/backlog/claims.ts";
import type { AgentTurn } from "../../../lib/backlog/types.ts";
import type { TurnRequest } from "../../../lib/context/context.ts";
import type { LoopOutcome } from "../../../lib/loop/run/outcome.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import { verifyTasks } from "../../../lib/workflows/spec/commands/look.ts";
import { parsePlan, tasksOf } from "../../../lib/workflows/spec/plan_file.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";

const FILE = "ralph/plan.jsonl";
const SPEC = '{"t": "spec", "spec": "a.md"}';
const HUNG = { end: { reason: "timed-out", message: "had not ended" } } as const;

const task = (id: string, more = ""): string =>
  `{"t": "task", "id": "${id}", "spec": "a.md", "name": "do ${id}", ${more}"s": "p"}`;

/** One turn: the stage, the item's id, and how claims are made. */
type Turn = (
  stage: string,
  item: string,
  say: (command: string, rest?: Partial<ClaimLine>) => Promise<void>,
) => Promise<Partial<AgentTurn> | void>;

async function world(
  turn: Turn,
  lines: readonly string[],
  options: Parameters<typeof loopWorld>[1] = {},
): Promise<World> {
  const act = async ({ environment }: TurnRequest): Promise<Partial<AgentTurn> | void> => {
    const file = environment[CLAIMS_VARIABLE] ?? "";
    return await turn(
      environment["RALPH_STAGE"] ?? "",
      environment["RALPH_ITEM"] ?? "",
      (command, rest = {}) => appendClaims(file, [{ v: 1, command, at: 1, ...rest }]),
    );
  };
  const files = { [FILE]: [SPEC, ...lines, ""].join("\n"), "a.md": "# a\n", ...options.files };
  return await loopWorld(act, { ...options, files });
}

async function build({ ralph }: World): Promise<LoopOutcome> {
  return await runLoop(ralph, specBacklog(ralph));
}

async function reasonsOf(outcome: LoopOutcome): Promise<string> {
  return "reasons" in outcome ? outcome.reasons.join("\n") : "";
}

async function planIn({ ralph }: World): Promise<ReturnType<typeof parsePlan>> {
  return parsePlan(await ralph.state.read(FILE), FILE);
}

describe("a plan ends", () => {
  test("a task that is too large in every part is cut three times, then left to a person", async () => {
    const stages: string[] = [];
    await using at = await world(async (stage, item, say) => {
      stages.push(stage);
      if (stage === "BUILD") return HUNG;
      await say("task add", { id: `${item}x`, record: { name: `part of ${item}`, parent: item } });
    }, [task("t-a")]);

    const outcome = await build(at);

    expect(stages).toEqual(["BUILD", "DECOMPOSE", "BUILD", "DECOMPOSE", "BUILD", "DECOMPOSE", "BUILD"]);
    expect(outcome.status).toBe("blocked");
    expect(await reasonsOf(outcome)).toContain("it came of 3 decompositions and is not cut again");
    expect(tasksOf(await planIn(at)).map(({ id, kill, depth }) => [id, kill, depth])).toEqual([["t-axxx", null, 3]]);
  });

  test("issues of tasks of issues are looked into three times, then left to a person", async () => {
    let stages = 0;
    await using at = await world(async (stage, item, say) => {
      stages += 1;
      if (stage === "BUILD") {
        await writeFile(join(at.root, `${item}.txt`), "x");
        await say("issue add", { id: `i-${item}`, text: `found by ${item}` });
        return void await say("task done", { id: item });
      }
      if (stage === "VERIFY") return void await say("task accept");
      const [issue = ""] = (await planIn(at)).lines.flatMap(({ entry }) =>
        entry.type === "issue" ? [entry.issue.id] : []
      );
      await say("issue done", { id: issue });
      await say("task add", { id: `t-of-${issue}`, record: { name: `fix ${issue}` } });
    }, [task("t-a")]);

    const outcome = await build(at);

    expect([outcome.status, stages]).toEqual(["blocked", 11]); // BUILD, VERIFY, and three times INVESTIGATE, BUILD, VERIFY
    expect(await reasonsOf(outcome)).toMatch(/found by the task of an issue, 3 times in a row: decide it yourself/);
    expect(await reasonsOf(outcome)).toMatch(/--created-from i-t-of/);
  });

  test("what INVESTIGATE adds may change no test, and what replaces a task may change the tests that it could", async () => {
    const grant = '"accept": "Changes tests: `test/*`", ';
    await using at = await world(
      async (stage, item, say) => {
        if (stage === "INVESTIGATE") {
          await say("task add", { id: "t-i", record: { name: "fix", notes: "Changes tests: `**`" } });
          return void await say("issue done", { id: "i-1" });
        }
        if (stage === "BUILD" && item === "t-a") return void await say("task done", { id: item });
        if (stage !== "VERIFY") return;
        await say("task reject", { id: "t-a", text: "wrong way" });
        await say("task add", { id: "t-b", record: { name: "another way", supersedes: "t-a" } });
      },
      [task("t-a", grant)],
      { config: { maxRetries: 1 } },
    );

    await build(at);

    const [replacing] = tasksOf(await planIn(at));
    expect(replacing).toMatchObject({ id: "t-b", record: { changes_tests: ["test/*"] } });
    expect(replacing?.notes).toBe("It replaces t-a (do t-a), which was rejected: wrong way");
    await at.ralph.state.update(FILE, () => `${SPEC}\n{"t": "issue", "id": "i-1", "spec": "a.md", "desc": "d"}\n`);
    const again = await at.again();
    await runLoop(again, specBacklog(again), { limits: { iterations: 1 } });
    expect(tasksOf(await planIn(at))[0]).toMatchObject({
      id: "t-i",
      notes: "",
      record: { changes_tests: [], issue_rounds: 1 },
    });
  });
});

describe("a turn that hung", () => {
  test("after its task was done and committed is judged by the checks, and nothing is decomposed", async () => {
    const stages: string[] = [];
    await using at = await world(async (stage, item, say) => {
      stages.push(stage);
      if (stage === "VERIFY") return void await say("task accept");
      await writeFile(join(at.root, "one"), "1");
      await at.git("add", "one");
      await at.git("commit", "-qm", "feat: one");
      await say("task done", { id: item });
      return HUNG;
    }, [task("t-a", '"accept": "Verify: `test -f one`", ')]);

    expect((await build(at)).status).toBe("passed");
    expect(stages).toEqual(["BUILD", "VERIFY"]);
  });

  test("before it said that its task was done: DECOMPOSE finds nothing left, and one more BUILD turn says so", async () => {
    const stages: string[] = [];
    await using at = await world(async (stage, _item, say) => {
      stages.push(stage);
      if (stage === "VERIFY") return void await say("task accept");
      if (stage === "DECOMPOSE") return void await say("task done", { id: "t-a" });
      await writeFile(join(at.root, "one"), "1");
      if (stages.length === 1) return HUNG;
      await say("task done", { id: "t-a" });
    }, [task("t-a", '"accept": "Verify: `test -f one`", ')]);

    expect((await build(at)).status).toBe("passed");
    expect(stages).toEqual(["BUILD", "DECOMPOSE", "BUILD", "VERIFY"]);
  });

  test("left files that belong to the first part that passes, so that a clean checkout has them", async () => {
    await using at = await world(
      async (stage, item, say) => {
        if (stage === "VERIFY") return void await say("task accept");
        if (stage === "DECOMPOSE") {
          return void await say("task add", {
            id: "t-p",
            record: { name: "part one", parent: "t-a" },
          });
        }
        await writeFile(join(at.root, item === "t-a" ? "lib.txt" : "main.txt"), "x");
        if (item === "t-a") return HUNG;
        await say("task done", { id: item });
      },
      [task("t-a")],
      { config: { verify: { default: ["test -f lib.txt"] } } },
    );

    expect((await build(at)).status).toBe("passed");
    expect(await at.git("show", "--name-only", "--format=", "HEAD~1")).toContain("lib.txt");
  });
});

describe("what VERIFY and INVESTIGATE write", () => {
  test("is not committed", async () => {
    await using at = await world(async (stage, item, say) => {
      await writeFile(join(at.root, `${stage}.txt`), "x");
      await say(...(stage === "BUILD" ? ["task done", { id: item }] : ["task accept"]) as [string, Partial<ClaimLine>]);
    }, [task("t-a")]);

    const outcome = await build(at);

    expect(outcome.passed).toEqual(["t-a"]); // a review is no work that passed
    expect(await at.git("ls-files")).not.toContain("VERIFY.txt");
  });
});

describe("a spec that was set and not planned", () => {
  test("is not COMPLETE", async () => {
    await using at = await world(async () => {}, []);
    await at.ralph.state.update(FILE, () => '{"t": "spec", "spec": "a.md", "planned": false}\n');

    const outcome = await build(at);

    expect(outcome.status).toBe("blocked");
    expect(await reasonsOf(outcome)).toBe("nothing is planned for a.md: `ralph plan a.md` does so");
  });

  test("nor is one with a line that nobody can read, and a circle is named before the first turn", async () => {
    await using torn = await world(async () => {}, ["garbage"]);
    const circle = [task("t-a"), task("t-b", '"deps": ["t-c"], '), task("t-c", '"deps": ["t-b"], ')];
    await using round = await world(async () => {}, circle);

    expect(await reasonsOf(await build(torn))).toContain("ralph/plan.jsonl:2: expected one JSON object");
    const outcome = await build(round);
    expect([outcome.iterations, await reasonsOf(outcome)]).toEqual([
      0,
      "the tasks depend on each other in a circle: t-b → t-c → t-b",
    ]);
  });
});

describe("a finished plan that is run again", () => {
  const accept = '"accept": "Verify: `test -f t-a.txt`", ';
  const worker: Turn = async (stage, item, say) => {
    await say(stage === "VERIFY" ? "task accept" : "task done", stage === "VERIFY" ? {} : { id: item });
    return stage === "VERIFY" ? { lines: ["[RALPH] SPEC_COMPLETE"] } : undefined;
  };
  /** A plan of one task, which a run has built and accepted. */
  async function finished(): Promise<World> {
    const at = await world(async (stage, item, say) => {
      if (stage === "BUILD") await writeFile(join(at.root, "t-a.txt"), "x");
      return await worker(stage, item, say);
    }, [task("t-a", accept)]);
    expect((await build(at)).status).toBe("passed");
    return at;
  }

  test("passes by the checks of what was accepted, and so does `ralph verify`", async () => {
    await using at = await finished();
    const ralph = await at.again();

    const outcome = await runLoop(ralph, specBacklog(ralph));
    const verified = await verifyTasks(await at.again());

    expect([outcome.status, outcome.iterations]).toEqual(["passed", 0]);
    expect([verified.status, verified.results.map(({ name, scope }) => [name, scope])]).toEqual([
      "passed",
      [["test -f t-a.txt", "t-a"]],
    ]);
  });

  test("opens a task whose checks fail by now", async () => {
    await using at = await finished();
    await at.git("rm", "-q", "t-a.txt");
    await at.git("commit", "-qm", "gone");
    const ralph = await at.again();

    const outcome = await runLoop(ralph, specBacklog(ralph));

    expect([outcome.status, outcome.iterations, outcome.passed]).toEqual(["passed", 2, ["t-a"]]);
  });

  test("leaves the tasks of an earlier spec alone once there are others", async () => {
    await using at = await finished();
    await at.git("rm", "-q", "t-a.txt");
    await at.git("commit", "-qm", "gone");
    await at.write(FILE, `${SPEC}\n${task("t-b")}\n`);
    const ralph = await at.again();

    expect(
      await specBacklog(ralph).passed?.({ parked: [], passed: ralph.journal.passed({ backlog: "spec", scope: "" }) }),
    ).toEqual([]);
  });
});
