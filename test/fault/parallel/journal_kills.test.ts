import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { bunPath } from "../../../tools/runtimes.mjs";
import { gitIn, makeRepository } from "../../repository.ts";
import { LONG } from "../../sampled.ts";
import { runProgram } from "../crash/run_program.ts";
import { needs } from "../../needs.ts";

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), "killed_run.ts");
const STORIES = ["US-1", "US-2", "US-3", "US-4"];
const ENVIRONMENT = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

/** One point in so many. */
const STEP = LONG ? 1 : 19;

/** A plan of one task whose work is committed already. */
function planned(): ReturnType<typeof project> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-journal-")));
  const root = join(folder, "project");
  mkdirSync(root);
  const task = { t: "task", id: "t-1", spec: "a.md", name: "Write t-1", s: "p", accept: "Verify: `test -f t-1.txt`" };
  const lines = [{ t: "spec", spec: "a.md" }, task].map((line) => `${JSON.stringify(line)}\n`);
  const files = { "ralph/plan.jsonl": lines.join(""), "a.md": "# A\n", "t-1.txt": "done\n" };
  makeRepository(root, { files, environment: ENVIRONMENT });
  return { folder, root };
}

function project(): { readonly folder: string; readonly root: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-journal-")));
  const root = join(folder, "project");
  mkdirSync(join(root, "scripts/ralph"), { recursive: true });
  const userStories = STORIES.map((id) => ({
    id,
    title: `Write ${id}`,
    acceptanceCriteria: [`Verify: \`test -f ${id}.txt\``],
    priority: 1,
    passes: false,
    notes: "",
  }));
  writeFileSync(join(root, "scripts/ralph/prd.json"), JSON.stringify({ branchName: "main", userStories }, null, 2));
  writeFileSync(join(root, "notes.txt"), "first\n");
  makeRepository(root, { environment: ENVIRONMENT });
  writeFileSync(join(root, "notes.txt"), "mine\n");
  return { folder, root };
}

async function start(root: string, number: number, when: string, ...name: string[]): Promise<string> {
  const command = [await bunPath(), SCRIPT, root, `${number}`, when, ...name];
  return (await runProgram(command, { cwd: root, environment: ENVIRONMENT })).output.trim();
}

/** Items by the lines of the journal that say that they passed. */
function passedLines(root: string): readonly string[] {
  return readFileSync(join(root, ".git/ralph/journal.jsonl"), "utf8").split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line)).filter(({ type, settlement }) =>
      type === "settled" && settlement.status === "passed"
    )
    .map(({ itemId }) => itemId);
}

/** Each item once, nothing of a person's touched, nothing left behind. */
function shortcomings({ folder, root }: ReturnType<typeof project>, how: string): readonly string[] {
  const git = gitIn(root, ENVIRONMENT);
  const wrong: string[] = [];
  const subjects = git("log", "--format=%s").split("\n");
  for (const id of STORIES) {
    const times = subjects.filter((subject) => subject.startsWith(`feat: ${id} `)).length;
    if (times !== 1) wrong.push(`${id} was committed ${times} times`);
    if (git("show", `HEAD:${id}.txt`) !== "done\n") wrong.push(`${id}.txt is not there`);
  }
  const prd = JSON.parse(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8"));
  if (!prd.userStories.every(({ passes }: { readonly passes: boolean }) => passes)) wrong.push("not all have passed");
  if (git("status", "--porcelain").trimEnd() !== " M notes.txt") wrong.push(`status: ${git("status", "--porcelain")}`);
  if (readFileSync(join(root, "notes.txt"), "utf8") !== "mine\n") wrong.push("the person's edit is gone");
  if (git("worktree", "list").trim().includes("\n")) wrong.push("a worktree is left");
  if (existsSync(join(folder, ".project.ralph"))) wrong.push("the folder of trees is left");
  if (git("for-each-ref", "refs/ralph/work") !== "") wrong.push("work is kept");
  const damage = git("fsck", "--no-dangling", "--no-progress").trim();
  if (damage !== "") wrong.push(damage);
  return wrong.map((what) => `${how}: ${what}`);
}

describe("four workers that are killed", needs("Linux"), () => {
  test(
    "before and after each line of the journal and each move of the tree do each item once all the same",
    async () => {
      const wrong: string[] = [];
      const whole = project();
      const points = Number(/passed (\d+)$/.exec(await start(whole.root, 0, "before"))?.[1]);
      wrong.push(...shortcomings(whole, "without a kill"));
      rmSync(whole.folder, { recursive: true });
      let kills = 0;
      for (let point = 1; point <= points; point += STEP) {
        for (const when of ["before", "after"]) {
          const killed = project();
          const how = await start(killed.root, point, when);
          if (!how.startsWith("passed")) kills += 1;
          const again = await start(killed.root, 0, when);
          if (!/passed \d+$/.test(again)) wrong.push(`${how}: ${again}`);
          wrong.push(...shortcomings(killed, `${point} ${how}`));
          rmSync(killed.folder, { recursive: true });
        }
      }

      expect(wrong).toEqual([]);
      expect(points).toBeGreaterThan(20);
      expect(kills).toBeGreaterThan(points / STEP);
    },
    900_000,
  );

  test("after its commit, and again while that is made up for: the item is settled as passed, once", async () => {
    const killed = project();
    expect(await start(killed.root, 1, "before", "settled")).toBe("before settled");
    expect(await start(killed.root, 1, "after", "settling")).toBe("after settling");

    expect(await start(killed.root, 0, "before")).toMatch(/passed \d+$/);

    expect(shortcomings(killed, "twice")).toEqual([]);
    expect([...passedLines(killed.root)].sort()).toEqual(STORIES);
    rmSync(killed.folder, { recursive: true });
  }, 300_000);

  test(
    "after its commit, and a person changes its file: the item has passed, and the change stays theirs",
    async () => {
      const killed = project();
      const { root } = killed;
      await start(root, 1, "before", "settled");
      const landed = STORIES.find((id) => existsSync(join(root, `${id}.txt`)))!;
      writeFileSync(join(root, `${landed}.txt`), "by hand\n");

      expect(await start(root, 0, "before")).toMatch(/passed \d+$/);

      const git = gitIn(root, ENVIRONMENT);
      expect([...passedLines(root)].sort()).toEqual(STORIES);
      expect(git("show", `HEAD:${landed}.txt`)).toBe("done\n");
      expect(readFileSync(join(root, `${landed}.txt`), "utf8")).toBe("by hand\n");
      expect(git("log", "--format=%s").split("\n").filter((line) => line.startsWith(`feat: ${landed} `))).toHaveLength(
        1,
      );
      rmSync(killed.folder, { recursive: true });
    },
    300_000,
  );
});

describe("a run of a plan that is killed", needs("Linux"), () => {
  test("after the commit of a task's state, twice: the state is committed once", async () => {
    const { folder, root } = planned();
    for (let kill = 0; kill < 2; kill += 1) expect(await start(root, 1, "before", "settled")).toBe("before settled");

    expect(await start(root, 0, "before")).toMatch(/passed \d+$/);

    const subjects = gitIn(root, ENVIRONMENT)("log", "--format=%s").split("\n");
    expect(subjects.filter((subject) => subject.includes("Write t-1"))).toEqual([
      "ralph: task accept - Write t-1",
      "ralph: task done - Write t-1",
    ]);
    rmSync(folder, { recursive: true });
  }, 300_000);
});
