/** Plans of a phase that build on nothing unfinished, worked on at once. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { gsdBacklog } from "../../../lib/workflows/gsd/backlog.ts";
import type { GsdItemData } from "../../../lib/workflows/gsd/item_data.ts";
import { overlap } from "../../../lib/loop/parallel/dispatch.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";
import { backlogContract } from "../../../lib/testing/backlog_contract.ts";
import { fileOf } from "./gsd_world.ts";
import { ONE, planText, PROJECT, ROADMAP, STATE, summaryOf, TWO } from "./planning.ts";

const STATE_FILE = ".planning/STATE.md";
const ROADMAP_FILE = ".planning/ROADMAP.md";
const LAST = ".planning/phases/01-base/01-03-PLAN.md";
const FREE = { front: "depends_on: []" };

/** Three plans of a phase that say that they build on nothing, and one of the next phase. */
const FILES: Readonly<Record<string, string>> = {
  ...PROJECT,
  [STATE_FILE]: STATE.replace("Plan: 0 of 2", "Plan: 0 of 3"),
  [ROADMAP_FILE]: ROADMAP.replace("0/2", "0/3").replace("— Two\n", "— Two\n- [ ] 01-03-PLAN.md — Last\n"),
  [ONE]: planText("one.txt", FREE),
  [TWO]: planText("two.txt", FREE),
  [LAST]: planText("last.txt", FREE),
};

/** An agent that carries out the plan in its prompt, and notes a decision; `seen` is who was at work with whom. */
async function world(
  files: Readonly<Record<string, string>>,
  together: number,
): Promise<{ readonly one: World; readonly seen: (readonly string[])[] }> {
  const atWork = new Set<string>();
  const seen: (readonly string[])[] = [];
  let release = (): void => {};
  const all = new Promise<void>((resolve) => (release = resolve));
  const one = await loopWorld(async ({ prompt, cwd }) => {
    const plan = /^\.planning\/phases\/\S+-PLAN\.md$/m.exec(prompt)?.[0] ?? "";
    const id = /([^/]+)-PLAN\.md$/.exec(plan)?.[1] ?? "";
    atWork.add(id);
    seen.push([...atWork].toSorted());
    if (atWork.size >= together) release();
    if (together > 1 && !id.startsWith("02")) await all;
    writeFileSync(join(cwd, /grep -q right ([^<\s]+)/.exec(files[plan] ?? "")?.[1] ?? "none"), "right\n");
    await mkdir(dirname(join(cwd, plan)), { recursive: true });
    writeFileSync(join(cwd, summaryOf(plan)), `# Summary of ${id}\n`);
    appendFileSync(join(cwd, STATE_FILE), `- decided in ${id}\n`);
    atWork.delete(id);
    return { lines: ["###PLAN_COMPLETE###"] };
  }, { files });
  return { one, seen };
}

/** The content of both files, without the plan that came last and the order of lines that agents added. */
function recorded(one: World): readonly string[] {
  const state = (fileOf(one, STATE_FILE) ?? "").replace(/^Last activity: .*$/m, "");
  const notes = state.split("\n").filter((line) => line.startsWith("- decided")).toSorted();
  const rest = state.replaceAll(/^- decided.*\n/gm, "");
  return [rest, ...notes, (fileOf(one, ROADMAP_FILE) ?? "").replaceAll(/\d{4}-\d\d-\d\d/g, "DATE")];
}

test("plans of a phase at once leave what they leave one after another, with what each agent noted", async () => {
  const { one: alone } = await world(FILES, 1);
  await using _alone = alone;
  const { one, seen } = await world(FILES, 3);
  await using _one = one;

  const first = await runLoop(alone.ralph, gsdBacklog(alone.ralph), { workers: 1 });
  const run = await runLoop(one.ralph, gsdBacklog(one.ralph), { workers: 3 });

  expect([first.status, run.status, run.passed.length]).toEqual(["passed", "passed", 4]);
  expect(seen).toContainEqual(["01-01", "01-02", "01-03"]);
  expect(seen.at(-1)).toEqual(["02-01"]);
  expect(recorded(one)).toEqual(recorded(alone));
  expect(recorded(one).slice(1, 5)).toEqual(["01-01", "01-02", "01-03", "02-01"].map((id) => `- decided in ${id}`));
  expect(fileOf(one, STATE_FILE)).toContain("Phase: 2 of 2 (More)\nPlan: 1 of 1");
  expect(fileOf(one, STATE_FILE)).toContain("Progress: [██████████] 100%");
  expect(fileOf(one, ROADMAP_FILE)).toContain("| 1. Base | 3/3 | Complete");
  expect(await one.git("status", "--porcelain")).toBe("");
});

test.each([
  ["that it depends on", { [TWO]: planText("two.txt", { front: 'depends_on: ["01-01"]' }) }],
  ["of an earlier wave", {
    [ONE]: planText("one.txt", { front: "wave: 1" }),
    [TWO]: planText("two.txt", { front: "wave: 2" }),
  }],
  ["before it, where it names neither dependencies nor a wave", { [TWO]: planText("two.txt") }],
])("a plan waits for one %s", async (_, files) => {
  const { [LAST]: _last, ...two } = FILES;
  const { one } = await world({ ...two, ...files }, 1);
  await using _one = one;

  const next = await gsdBacklog(one.ralph).next({ parked: [], inFlight: ["01-01"] });

  expect(next.status).toBe("waiting");
});

test("plans that change the same files say so, in the globs that they are kept apart by", async () => {
  const { one } = await world({
    ...FILES,
    [ONE]: planText("one.txt", { front: "depends_on: []\nfiles_modified:\n  - src/a.ts\n  - docs/ (new)" }),
    [TWO]: planText("two.txt", { front: "depends_on: []\nfiles_modified: [./docs/guide.md]" }),
  }, 1);
  await using _one = one;
  const backlog = gsdBacklog(one.ralph);
  const [first, second] = [
    await backlog.next({ parked: [], inFlight: [] }),
    await backlog.next({ parked: [], inFlight: ["01-01"] }),
  ].map((next) => next.status === "item" ? next.item : { touches: [] });

  expect([first?.touches, second?.touches]).toEqual([["src/a.ts", "docs/**"], ["docs/guide.md"]]);
  expect(overlap(first ?? {}, second ?? {})).toBe(true);
});

test("two plans in flight are settled in any order", async () => {
  const cases = backlogContract<GsdItemData, unknown>({
    async open() {
      const one = await loopWorld(async () => {}, { files: FILES });
      return {
        backlog: gsdBacklog(one.ralph),
        snapshot: () => {
          const files = [STATE_FILE, ROADMAP_FILE, summaryOf(ONE), summaryOf(TWO)].map((path) => fileOf(one, path));
          return Promise.resolve(files.join("\0").replaceAll(/^(Plan|Last activity): .*$/gm, ""));
        },
        root: one.root,
        state: one.ralph.state,
        async turn({ data: { summaryFile } }, cwd) {
          writeFileSync(join(cwd, summaryFile), "# Summary\n");
          return { lines: ["###PLAN_COMPLETE###"], changedFiles: [summaryFile] };
        },
        [Symbol.asyncDispose]: () => one[Symbol.asyncDispose](),
      };
    },
  });

  const [inAnyOrder] = cases.filter(({ name }) => name.includes("in any order"));

  await expect(inAnyOrder?.run()).resolves.toBeUndefined();
});

test("a plan settled twice beside others is counted once", async () => {
  const { one } = await world(FILES, 1);
  await using _one = one;
  const backlog = gsdBacklog(one.ralph);
  const view = { parked: [], passed: [] };
  const items = [];
  for (const inFlight of [[], ["01-01"]]) {
    const next = await backlog.next({ ...view, inFlight });
    if (next.status === "item") items.push(next.item);
  }
  for (const item of items.toReversed()) {
    writeFileSync(join(one.root, item.data.summaryFile), "# Summary\n");
    const claim = { status: "done" } as const;
    const attempt = {
      id: `run.${item.id}`,
      number: 1,
      status: "verified",
      claim,
      turn: null,
      verification: null,
    } as const;
    await backlog.settle(item, attempt);
    await gsdBacklog(one.ralph).settle(item, attempt); // as after a kill
  }

  expect(readFileSync(join(one.root, STATE_FILE), "utf8")).toContain("Progress: [█████░░░░░] 50%");
  expect(fileOf(one, ROADMAP_FILE)).toContain("| 1. Base | 2/3 | In progress");
});

test("what an attempt that failed leaves is continued without its SUMMARY, by workers and by a run with one", async () => {
  const { [LAST]: _last, ...two } = FILES;
  const begun: string[] = [];
  await using one = await loopWorld(async ({ prompt, cwd }) => {
    const plan = /^\.planning\/phases\/\S+-PLAN\.md$/m.exec(prompt)?.[0] ?? "";
    const there = (path: string): boolean => existsSync(join(cwd, path));
    if (plan === ONE) {
      begun.push(`${there("half.txt") ? "continued" : "new"}, ${there(summaryOf(ONE)) ? "SUMMARY" : "none"}`);
      writeFileSync(join(cwd, "half.txt"), "half\n");
    }
    if (plan !== ONE || begun.length === 3) {
      writeFileSync(join(cwd, /grep -q right ([^<\s]+)/.exec(two[plan] ?? "")?.[1] ?? "none"), "right\n");
    }
    writeFileSync(join(cwd, summaryOf(plan)), `# Summary ${begun.length}\n`);
    return { lines: ["###PLAN_COMPLETE###"] };
  }, { files: two });

  await runLoop(one.ralph, gsdBacklog(one.ralph), { workers: 2, limits: { iterations: 3 } });
  expect(begun).toEqual(["new, none", "continued, none"]);
  const run = await runLoop(one.ralph, gsdBacklog(one.ralph), { workers: 1 });

  expect(begun).toEqual(["new, none", "continued, none", "continued, none"]);
  expect(run.status).toBe("passed");
  expect(fileOf(one, summaryOf(ONE))).toBe("# Summary 3\n");
});
