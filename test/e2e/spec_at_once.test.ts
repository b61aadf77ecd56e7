import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ended, planWorld } from "./plan_world.ts";
import { randomNumbers, seedOfRun } from "../workflows/spec/random_numbers.ts";

const PROCESSES = Number(process.env["RALPH_PROCESSES"] ?? 4);
const MUTATIONS = Number(process.env["RALPH_MUTATIONS"] ?? 6);
const KILLS = Number(process.env["RALPH_PLAN_KILLS"] ?? 12);

describe("ralph task and ralph issue", () => {
  test(
    `lose nothing when ${PROCESSES} processes make ${MUTATIONS} changes each at once, and each commit is clean`,
    async () => {
      const world = planWorld();
      world.ralph("set-spec", "a.md");
      writeFileSync(join(world.root, "code.txt"), "a person's own change\n");
      writeFileSync(join(world.root, "staged.txt"), "staged by a person\n");
      world.git("add", "staged.txt");
      const loop = (process: number): string =>
        `i=0; while [ $i -lt ${MUTATIONS} ]; do i=$((i+1)); if [ $((i % 3)) -eq 0 ]; then eval "$RALPH issue add ${process}-$i"; ` +
        `else eval "$RALPH task add ${process}-$i"; fi >/dev/null || exit 9; done`;

      const ends = await Promise.all(
        Array.from({ length: PROCESSES }, (_, process) => ended(world.shell(loop(process)))),
      );

      expect(ends.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(ends.map(() => "0 "));
      const made = world.plan().filter(({ t }) => t !== "spec").map(({ t, name, desc }) => [t, name ?? desc].join(" "))
        .sort();
      const wanted = Array.from({ length: PROCESSES }, (_, process) => process)
        .flatMap((process) =>
          Array.from({ length: MUTATIONS }, (_, i) => `${(i + 1) % 3 === 0 ? "issue" : "task"} ${process}-${i + 1}`)
        ).sort();
      expect(made).toEqual(wanted);
      const commits = world.git("log", "--reverse", "--format=%h", "--", "ralph/plan.jsonl").split("\n");
      expect(commits.length).toBe(PROCESSES * MUTATIONS + 1);
      const stats = world.git("log", "--reverse", "--format=", "--numstat", `-${commits.length}`).split("\n").filter(
        Boolean,
      );
      expect(new Set(stats)).toEqual(new Set(["1\t0\tralph/plan.jsonl"]));
      expect(world.git("status", "--porcelain").split("\n")).toEqual(["M code.txt", "A  staged.txt"]);
    },
    1_800_000,
  );

  test(`leave file and index whole when they are killed ${KILLS} times at random moments`, async () => {
    const seed = seedOfRun();
    const random = randomNumbers(seed);
    const world = planWorld();
    world.ralph("set-spec", "a.md");
    let least = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const child = world.shell(`eval "exec $RALPH task add k${kill}"`);
      const end = ended(child);
      const isGroup = random.chance(0.5); // with its git, or Ralph alone
      const timer = setTimeout(() => {
        try {
          process.kill(isGroup ? -(child.pid as number) : child.pid as number, "SIGKILL");
        } catch {
          // it has ended
        }
      }, random.below(400));
      const { code } = await end;
      clearTimeout(timer);
      if (code === 0) least += 1;

      const hint = `RALPH_SEED=${seed}, kill ${kill}`;
      expect(world.plan().every(({ t }) => typeof t === "string"), hint).toBe(true);
      expect(world.git("diff", "--cached", "--name-only"), hint).toMatch(/^(ralph\/plan\.jsonl)?$/);
      // A killed writer's file beside the plan goes with the next change.
      const status = world.git("status", "--porcelain").split("\n").filter((line) =>
        !line.startsWith("?? ralph/.plan.jsonl.")
      );
      expect(["", "M ralph/plan.jsonl", "MM ralph/plan.jsonl", "M  ralph/plan.jsonl"], hint).toContain(
        status.join("\n"),
      );
    }

    const last = world.ralph("task", "add", "after all");

    expect(last, `RALPH_SEED=${seed}`).toMatchObject({ exitCode: 0, stderr: "" });
    expect(world.git("status", "--porcelain")).toBe("");
    world.git("fsck", "--strict");
    const names = world.plan().filter(({ t }) => t === "task").map(({ name }) => name);
    expect(names.length).toBeGreaterThan(least);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("after all");
  }, 1_800_000);
});
