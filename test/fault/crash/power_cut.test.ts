import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LONGEST_MS, wrongAtSome } from "./wrong_at_some.ts";
import { readTree } from "./disk.ts";
import { powerCutPoints } from "./power_cut.ts";
import { crashProject, LEAVING } from "./projects.ts";
import { named, type Operation, traced } from "./trace.ts";
import { needs } from "../../needs.ts";

const SEED = Number(process.env["RALPH_SEED"] ?? 20261122);

describe("a power cut", needs("strace"), () => {
  test("each step is on the disk before the next one relies on it", async () => {
    const project = crashProject("exec", "committed");
    onTestFinished(() => project.remove());
    const { root, environment } = project;

    const { operations } = await traced(project.command, { root, environment, log: join(project.folder, "strace") });

    const steps = operations.map((operation) => named(operation, root));
    const settling = operations.findIndex((one) => one.type === "write" && one.bytes.includes('"type":"settling"'));
    const before = steps.slice(0, settling);
    const agents = before.findLastIndex((step) => /^rename .*-> \.git\/refs\/heads\/main$/.test(step));
    expect(agents, "the agent's commit").toBeGreaterThan(0);
    expect(before.lastIndexOf("sync src/1.txt"), "the work").toBeGreaterThan(agents);
    expect(before.slice(agents).filter((step) => step.startsWith("sync .git/objects/")).length).toBeGreaterThan(2);
    expect(before.slice(agents)).toContain("sync .git/refs/heads/main");
    const journal = steps.indexOf("sync .git/ralph/journal.jsonl", settling);
    const state = steps.findIndex((step, index) =>
      index > settling && /^(?:rename|exchange) .*-> scripts\/ralph\/prd\.json$/.test(step)
    );
    const moves = steps.flatMap((step, index) =>
      index > state && /^rename .*-> \.git\/refs\/heads\/main$/.test(step) ? [index] : []
    );
    const commit = moves[1] ?? -1; // the first one takes the agent's own commits back
    expect(journal, "the journal").toBeLessThan(state);
    expect(state, "the state").toBeLessThan(commit);
    expect(steps.slice(state + 1, state + 2), "the folder of the state").toEqual(["sync scripts/ralph"]);
    const settled = steps.indexOf("write .git/ralph/journal.jsonl", commit);
    expect(steps.slice(commit, settled), "the branch").toContain("sync .git/refs/heads");
    expect(steps.slice(commit, settled), "the index").toContain("sync .git/index");
  });

  test.each(["tree", "committed"] as const)(
    "a branch that a turn moved is synced, one that it left is not: %s",
    async (leaving) => {
      const project = crashProject("exec", leaving);
      onTestFinished(() => project.remove());
      const { root, environment } = project;

      const { operations } = await traced(project.command, { root, environment, log: join(project.folder, "strace") });

      const isLine = (type: string, operation: Operation): boolean =>
        operation.type === "write" && operation.bytes.includes(`"type":"${type}"`);
      const steps = operations.map((operation) => named(operation, root));
      const begun = operations.findLastIndex((operation) => isLine("begun", operation));
      const turn = steps.slice(begun, operations.findLastIndex((operation) => isLine("settling", operation)));
      expect(turn).toContain("sync src/3.txt");
      const files = turn.filter((step) => /^sync \.git\/(?:index|refs\/heads\/main)$/.test(step));
      expect(files.toSorted()).toEqual(leaving === "tree" ? [] : ["sync .git/index", "sync .git/refs/heads/main"]);
    },
  );

  // what each agent leaves differs by workflow, so that all of both are seen
  const cases = (["exec", "spec", "sprint"] as const).map((workflow, index) => ({
    workflow,
    leaving: LEAVING[index]!,
  }));

  test.for(cases)(
    "loses nothing in $workflow, work in the $leaving",
    { timeout: LONGEST_MS },
    async ({ workflow, leaving }) => {
      const project = crashProject(workflow, leaving);
      onTestFinished(() => project.remove());
      const points = await powerCutPoints(project, readTree(project.root));

      expect(points.length).toBeGreaterThan(100);
      expect(await wrongAtSome(points, { seed: SEED, count: 1 })).toEqual([]);
    },
  );
});
