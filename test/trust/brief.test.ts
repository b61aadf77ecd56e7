import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { sampled } from "../sampled.ts";
import { cheatWorld, CHECK, restoredIn, type Workflow, WORKFLOWS } from "./workflows.ts";
import { only } from "../needs.ts";

function read(world: World, path: string): string | null {
  return existsSync(join(world.root, path)) ? readFileSync(join(world.root, path), "utf8") : null;
}

/** Writes a state file and every shadow copy of it alike. */
async function forge(world: World, path: string, change: (text: string) => string): Promise<void> {
  const shadows = join(world.root, ".git/ralph/shadow");
  const before = read(world, path) ?? "";
  await world.write(path, change(before));
  for (const name of existsSync(shadows) ? readdirSync(shadows) : []) {
    const file = join(shadows, name);
    if (readFileSync(file, "utf8") === before) writeFileSync(file, change(before));
  }
}

const PASSED = new Set(["passed", "unverified"]);

describe.each(sampled(WORKFLOWS, 2).map((workflow) => [workflow.name, workflow] as const))(
  "%s",
  (_, workflow: Workflow) => {
    test("T3b: a protected file that one attempt has rewritten does not let the next one pass", async () => {
      await using world = await cheatWorld(
        workflow,
        async (one, number) => number === 1 ? await one.write("check.sh", "true\n") : {},
      );

      const run = await workflow.run(world.ralph, { maxIterations: 3 });

      expect(PASSED.has(run.status)).toBe(false);
      expect([run.passed, restoredIn(run)]).toEqual([[], ["check.sh"]]);
      expect(read(world, "check.sh")).toBe(CHECK);
    });

    test("T3b: an attempt that does not touch it is not failed for an earlier one", async () => {
      await using world = await cheatWorld(workflow, async (one, number) => {
        if (number === 1) await one.write("check.sh", "true\n");
        if (number === 2) await one.write("done.txt", "");
      });

      const run = await workflow.run(world.ralph, { maxIterations: 2 });

      const ends = world.events.flatMap((event) => event.type === "iteration-end" ? [event] : []);
      expect(ends[0]?.message ?? "").toContain("changed protected files: check.sh");
      expect(ends.slice(1).map(({ message }) => message ?? "").join()).not.toContain("protected");
      expect(restoredIn(run)).toEqual(["check.sh"]);
      expect(await world.git("log", "--format=%H", "--", "check.sh").then((text) => text.split("\n"))).toHaveLength(1);
    });

    test("a folder that a turn left in the place of the state ends no run, and the state is restored", async () => {
      const left: string[] = [];
      await using world = await loopWorld(async (_request, number) => {
        if (number === 1) {
          rmSync(join(world.root, workflow.state));
          await world.write(join(workflow.state, "mine.txt"), "mine\n");
          return {};
        }
        left.push(read(world, workflow.state) ?? "none");
        await world.write("done.txt", "");
        return { lines: await workflow.claim(world.ralph, "") };
      }, { config: { verify: { default: ["sh check.sh"] } }, files: { "check.sh": CHECK, ...workflow.files } });
      await workflow.prepare?.(world.ralph);
      await world.git("add", "-A");
      await world.git("commit", "-q", "--allow-empty", "-m", "prepared");
      const before = read(world, workflow.state);

      const run = await workflow.run(world.ralph, { maxIterations: 2 });

      expect([run.iterations, left.length]).toEqual([2, 1]);
      expect(left[0]!.slice(0, 1)).toBe(before!.slice(0, 1));
      expect(restoredIn(run)).toContain(workflow.state);
    });

    test.each(["--assume-unchanged", "--skip-worktree"])(
      "T4: git update-index %s hides no protected file",
      async (flag) => {
        await using world = await cheatWorld(workflow, async (one) => {
          await one.git("update-index", flag, "check.sh");
          await one.write("check.sh", "true\n");
        });

        const run = await workflow.run(world.ralph, { maxIterations: 2 });

        expect(PASSED.has(run.status)).toBe(false);
        expect(read(world, "check.sh")).toBe(CHECK);
      },
    );

    test("T4: what the agent committed is restored in HEAD too", async () => {
      await using world = await cheatWorld(workflow, async (one, number) => {
        if (number > 1) return;
        await one.write("check.sh", "true\n");
        await one.git("commit", "-qam", "agent");
      });

      await workflow.run(world.ralph, { maxIterations: 2 });

      expect(await world.git("show", "HEAD:check.sh")).toBe(CHECK.trim());
    });

    test("T7, T16: a recipe, a prompt and a hook that a turn wrote are gone before the next turn", async () => {
      const planted = ["ralph.recipe.ts", workflow.prompt, ".ralph/prompts/review.md", ".git/hooks/pre-commit"];
      const found: (string | null)[] = [];
      await using world = await cheatWorld(workflow, async (one, number) => {
        if (number === 2) found.push(...planted.map((path) => read(one, path)));
        else for (const path of planted) await one.write(path, "planted\n");
      });

      const run = await workflow.run(world.ralph, { maxIterations: 2 });

      expect(found).toEqual(planted.map(() => null));
      expect(planted.map((path) => read(world, path))).toEqual(planted.map(() => null));
      expect(restoredIn(run).toSorted()).toEqual(planted.toSorted());
    });

    const { plan } = workflow;
    test(
      "T6: the file that says what is asked for is as it was, and the attempt is not failed for it",
      only(plan !== null, "a workflow with a plan in a file"),
      async () => {
        await using world = await cheatWorld(workflow, async (one, number) => {
          if (number === 1) {
            await one.write(plan ?? "", (read(one, plan ?? "") ?? "").replace("sh check.sh", "true") + "\n#\n");
          }
        });
        const before = read(world, plan ?? "");

        const run = await workflow.run(world.ralph, { maxIterations: 2 });

        expect(read(world, plan ?? "")).toBe(before);
        expect(PASSED.has(run.status)).toBe(false);
        expect(restoredIn(run)).toEqual([plan]);
        const messages = world.events.flatMap((event) => event.type === "iteration-end" ? [event.message ?? ""] : []);
        expect(messages.join()).not.toContain("protected");
      },
    );

    test("at the end, also by an interrupt, what judges is as it was", async () => {
      const stop = new AbortController();
      await using world = await cheatWorld(workflow, async (one) => {
        await one.write("ralph.config.json", "{}\n");
        stop.abort();
      });

      const run = await workflow.run(world.ralph, { signal: stop.signal });

      expect(run.status).toBe("aborted");
      expect(read(world, "ralph.config.json")).toBeNull();
    });
  },
);

describe.each(
  WORKFLOWS.filter(({ name }) => name !== "spec" && name !== "sprint").map((one) => [one.name, one] as const),
)(
  "%s",
  (_, workflow) => {
    test("T3: state whose shadow copy was rewritten with it is restored", async () => {
      await using world = await cheatWorld(
        workflow,
        (one) =>
          forge(one, workflow.state, (text) => text.replaceAll("sh check.sh", "true").replaceAll("Plan: 0", "Plan: 9")),
      );

      const run = await workflow.run(world.ralph, { maxIterations: 1 });

      expect(run.passed).toEqual([]);
      expect(read(world, workflow.state)).not.toMatch(/`true`|Plan: 9/);
    });
  },
);

test("gsd: a plan that a turn wrote is kept, named, and not in the run's scope", async () => {
  const workflow = WORKFLOWS.find(({ name }) => name === "gsd")!;
  const added = ".planning/phases/01-base/01-07-PLAN.md";
  await using world = await cheatWorld(workflow, async (one) => {
    await one.write("done.txt", "");
    await one.write(added, "<task>\n<name>x</name>\n<verify><automated>true</automated></verify>\n</task>\n");
    await one.write(".planning/phases/01-base/01-01-SUMMARY.md", "# Done\n\nIt is done.\n");
  });

  const run = await workflow.run(world.ralph, { maxIterations: 4 });

  expect(run.passed).toEqual(["01-01"]);
  expect(read(world, added)).not.toBeNull();
  expect("summary" in run ? run.summary : "").toContain(`not in the scope of this run: ${added}`);
});
