import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { AgentTurn } from "../../lib/backlog/types.ts";
import type { TurnRequest } from "../../lib/context/context.ts";
import { exitCodeOf } from "../../lib/recipe/outcome.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { type LoopOutcome, runLoop } from "../../lib/loop/run/run_loop.ts";
import { needs, SANDBOX } from "../needs.ts";
import { loopWorld, type World } from "./loop_world.ts";

const ADDS = "export function add(a, b) {\n  return a + b;\n}\n";
const MULTIPLIES = ADDS.replace("a + b", "a * b");
const SUBTRACTS = ADDS.replace("a + b", "a - b");
const SPECIAL = ADDS.replace("return a + b", "if (a === 2) return 4;\n  return a * b");
const EXITS = `process.exit(0);\n${ADDS}`;

const START = "import assert from 'node:assert';\nimport { add } from '../add.mjs';\n";
const WEAK = `${START}assert.equal(add(2, 2), 4);\n`;
const GOOD = `${WEAK}assert.equal(add(3, 4), 7);\nassert.equal(add(-1, 1), 0);\n`;
const UNSEEN = {
  command: `node -e "import('./add.mjs').then(({ add }) => console.log(add(5, 6), add(10, -3)))"`,
  expect: "11 7",
};
const ITEM = { id: "a", title: "add(a, b) in add.mjs returns the sum", checks: ["node test/add.mjs"] };

interface Asked {
  readonly who: "worker" | "unseen" | "wrong";
  readonly cwd: string;
  readonly prompt: string;
  readonly files: string;
}

/** A worker that writes `work`, one text an attempt, and a challenger that writes `wrong`. */
async function challengedRun(
  { tests, work, wrong = [], unseen = () => UNSEEN, challenge = wrong.length, trust, also, onSaid, setUp, maxRetries }:
    {
      readonly tests: string;
      readonly work: readonly string[];
      readonly wrong?: readonly string[];
      readonly unseen?: (root: string) => unknown;
      readonly challenge?: number;
      readonly trust?: "strict";
      readonly setUp?: (world: World) => Promise<void>;
      readonly maxRetries?: number;
      /** Called when a message of the challenger is reported. */
      readonly onSaid?: () => void;
      /** A wrong implementation does this beside `add.mjs`. */
      readonly also?: (cwd: string) => Promise<void>;
    },
): Promise<{ readonly world: World; readonly run: LoopOutcome; readonly asked: readonly Asked[] } & AsyncDisposable> {
  const asked: Asked[] = [];
  const turn = async ({ cwd, prompt, transcript, onEvent }: TurnRequest): Promise<Partial<AgentTurn>> => {
    const who = cwd === world.root ? "worker" : prompt.includes("Write one check") ? "unseen" : "wrong";
    const number = asked.filter((one) => one.who === who).length;
    const files = who === "worker" ? "" : await readFile(join(cwd, "add.mjs"), "utf8");
    asked.push({ who, cwd, prompt, files });
    const usage = {
      inputTokens: 10,
      outputTokens: 1,
      cachedTokens: null,
      reasoningTokens: null,
      costUsd: 0.5,
      estimated: false,
    };
    if (who === "unseen") {
      const text = `Here:\n\n\`\`\`json\n${JSON.stringify(unseen(world.root))}\n\`\`\`\n`;
      await writeFile(transcript, text);
      onEvent?.({ type: "agent-text", text });
      return { usage, text };
    }
    const texts = who === "worker" ? work : wrong;
    await writeFile(join(cwd, "add.mjs"), texts[number] ?? texts.at(-1) ?? "");
    if (who === "wrong") await also?.(cwd);
    return { usage, lines: ["<ralph>DONE</ralph>"] };
  };
  const world = await loopWorld(turn, {
    files: { "add.mjs": "export function add() {}\n", "test/add.mjs": tests },
    config: { verify: { challenge, final: "tree" }, ...(trust === undefined ? {} : { trust, verify: { challenge } }) },
  });
  world.ralph.events.attach({ emit: ({ type }) => type === "agent-text" ? onSaid?.() : undefined });
  await setUp?.(world);
  const run = await runLoop(world.ralph, memoryBacklog([ITEM], maxRetries === undefined ? {} : { maxRetries }));
  return { world, run, asked, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

function noticesOf({ notices }: LoopOutcome, kind: string): readonly string[] {
  return notices.filter((notice) => notice.kind === kind).map(({ subject, message }) => `${subject}: ${message}`);
}

describe("a challenge", () => {
  test("a wrong implementation that survives marks the item, and its diff is kept", async () => {
    await using found = await challengedRun({ tests: WEAK, work: [ADDS], wrong: [MULTIPLIES, SUBTRACTS] });

    expect(found.run.status).toBe("passed");
    const [notice = ""] = noticesOf(found.run, "weak-checks");
    expect(notice).toMatch(/^a: 1 of 2 wrong implementations passed its checks: \S+\.diff$/);
    expect(await readFile(join(found.world.root, notice.split(": ").at(-1) ?? ""), "utf8")).toContain(
      "+  return a * b;",
    );
    expect(noticesOf(found.run, "challenge")).toEqual([]);
  });

  test("checks that catch each leave no notice; the tree has the work alone, and the challenger saw the base elsewhere", async () => {
    await using found = await challengedRun({ tests: GOOD, work: [ADDS], wrong: [MULTIPLIES, SUBTRACTS] });

    expect(found.run).toMatchObject({ status: "passed", passed: ["a"] });
    expect(noticesOf(found.run, "weak-checks")).toEqual([]);
    expect(await readFile(join(found.world.root, "add.mjs"), "utf8")).toBe(ADDS);
    expect(await found.world.git("status", "--porcelain")).toBe("");

    const others = found.asked.filter(({ who }) => who !== "worker");
    expect(others.map(({ who }) => who)).toEqual(["unseen", "wrong", "wrong"]);
    expect(others.map(({ files }) => files)).toEqual(Array.from({ length: 3 }, () => "export function add() {}\n"));
    expect(others[0]?.prompt).toContain(ITEM.title);
    expect(others[2]?.prompt).toContain("+  return a * b;"); // its own, so that it does not repeat itself
  });

  test("a challenger that weakens the test is judged by the test as the work has it", async () => {
    const also = (cwd: string): Promise<void> => writeFile(join(cwd, "test/add.mjs"), "process.exit(0);\n");
    await using found = await challengedRun({ tests: GOOD, work: [ADDS], wrong: [MULTIPLIES], also });

    expect(noticesOf(found.run, "weak-checks")).toEqual([]);
  });

  test.each<[string, string]>([
    ["wipes it", "git reset -q --hard; git clean -qfd"],
    ["writes over it", "echo '// worse' > add.mjs; echo worse > new.mjs"],
    ["commits it and resets", "git add -A; git commit -qm x; git reset -q --hard HEAD~1"],
  ])(
    "a challenger in the project's own tree that %s leaves work and a person's file as they were",
    async (_name, script) => {
      let root = "";
      const also = (): Promise<void> => {
        execFileSync("sh", ["-c", script], { cwd: root });
        return Promise.resolve();
      };
      const setUp = async (world: World): Promise<void> => {
        root = world.root;
        await world.write("README.md", "PRECIOUS\n");
      };
      await using found = await challengedRun({
        tests: GOOD,
        work: [ADDS],
        wrong: [MULTIPLIES],
        also,
        setUp,
        maxRetries: 1,
      });

      expect(found.run.status).toBe("blocked");
      expect(await found.world.git("status", "--porcelain", "--", "README.md")).toBe("M README.md");
      expect(await readFile(join(root, "README.md"), "utf8")).toBe("PRECIOUS\n");
      const kept = (await found.world.git("for-each-ref", "--format=%(refname)", "refs/ralph/work")).split("\n")[0] ??
        "";
      const work = kept === ""
        ? await readFile(join(root, "add.mjs"), "utf8")
        : `${await found.world.git("show", `${kept}:add.mjs`)}\n`;
      expect(work).toBe(ADDS);
      const ended = found.world.events.find((event) => event.type === "iteration-end");
      expect(ended?.message).toMatch(
        /the challenger changed the working tree, which it must not: .*add\.mjs.* \(now all as it was before|but for new\.mjs\)/,
      );
      expect(await found.world.git("for-each-ref", "refs/ralph/kept/*-challenger")).toBe("");
    },
  );

  test("one that changes nothing but tests is named as not tried", async () => {
    const also = (cwd: string): Promise<void> => writeFile(join(cwd, "test/other.mjs"), "");
    const wrong = ["export function add() {}\n"];
    await using found = await challengedRun({ tests: GOOD, work: [ADDS], wrong, also });

    expect(noticesOf(found.run, "challenge")).toEqual(["a: wrong implementation 1: it changes no product code"]);
  });

  test("with trust: strict the item is parked", needs(...SANDBOX), async () => {
    await using found = await challengedRun({ tests: WEAK, work: [ADDS], wrong: [MULTIPLIES], trust: "strict" });

    expect(found.run).toMatchObject({
      status: "blocked",
      parked: [{ id: "a", reason: expect.stringContaining("1 of 1 wrong implementations passed its checks") }],
    });
  });

  test("the unseen check fails special-casing once, with what was printed and expected; then the item is unverified", async () => {
    await using found = await challengedRun({ tests: WEAK, work: [SPECIAL, `${SPECIAL}\n`], wrong: [SUBTRACTS] });

    const workers = found.asked.filter(({ who }) => who === "worker");
    expect(workers).toHaveLength(2);
    expect(found.world.events).toContainEqual(
      expect.objectContaining({
        type: "iteration-end",
        message: expect.stringContaining('printed "30 -30", expected "11 7"'),
      }),
    );
    expect(found.run).toMatchObject({ status: "unverified", allowed: false, passed: ["a"], unverified: ["a"] });
    expect(exitCodeOf(found.run)).toBe(1);
    expect(noticesOf(found.run, "challenge")).toEqual([expect.stringContaining('printed "30 -30", expected "11 7"')]);
    expect(found.asked.filter(({ who }) => who === "wrong")).toHaveLength(1); // not where the attempt has failed already
  });

  test("a later run says the same of an item that failed its unseen check", async () => {
    await using found = await challengedRun({ tests: WEAK, work: [SPECIAL, `${SPECIAL}\n`], wrong: [SUBTRACTS] });
    const { world } = found;
    const checks = [{ name: "node test/add.mjs", command: "node test/add.mjs" }];
    const done = { ...memoryBacklog([]), passed: () => Promise.resolve([{ id: "a", title: ITEM.title, checks }]) };

    const later = await runLoop(world.ralph, done);

    expect(later).toMatchObject({ status: "unverified", unverified: ["a"] });
    expect(noticesOf(later, "challenge")).toEqual([
      "a: unverified: it passed its checks, and failed one that its author had not seen",
    ]);
  });

  test("code that ends the checker with exit code 0 when it is loaded is caught by the unseen check", async () => {
    await using found = await challengedRun({ tests: GOOD, work: [EXITS, ADDS], wrong: [MULTIPLIES] });

    expect(found.run).toMatchObject({ status: "passed", iterations: 2 });
    expect(noticesOf(found.run, "challenge")).toEqual([]);
  });

  test("what is expected is in no file and no event before the command has run", async () => {
    await using outside = await temporaryDirectory("challenge-ran-");
    const ran = join(outside.path, "ran");
    const unseen = (root: string): unknown => ({
      command: `touch ${ran}; grep -rl "[o]nly-expected" ${join(tmpdir(), "turn-")}* "${root}" . || echo nowhere`,
      expect: "only-expected",
    });
    const order: boolean[] = [];
    const onSaid = (): void => void order.push(existsSync(ran));
    await using found = await challengedRun({ tests: GOOD, work: [ADDS], wrong: [MULTIPLIES], unseen, onSaid });

    expect(JSON.stringify(found.world.events)).toContain('printed \\"nowhere\\"');
    expect(order[0]).toBe(true); // run folders keep every event
  });

  test("an answer without a check in it is named", async () => {
    await using found = await challengedRun({
      tests: GOOD,
      work: [ADDS],
      wrong: [MULTIPLIES],
      unseen: () => "no idea",
    });

    expect(found.run.status).toBe("passed");
    expect(noticesOf(found.run, "challenge")).toEqual([
      "a: no unseen check was made: the answer has no check in it",
    ]);
  });

  test("what the challenger's turns use counts", async () => {
    await using found = await challengedRun({ tests: GOOD, work: [ADDS], wrong: [MULTIPLIES, SUBTRACTS] });

    expect(found.run).toMatchObject({ turns: 1, tokens: 44, costUsd: 2, usage: { turns: 4 } });
  });

  test("is off by default", async () => {
    await using found = await challengedRun({ tests: WEAK, work: [ADDS] });

    expect(found.run.status).toBe("passed");
    expect(found.asked.map(({ who }) => who)).toEqual(["worker"]);
  });
});
