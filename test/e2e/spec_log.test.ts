import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type PlanWorld, planWorld } from "./plan_world.ts";

interface Entry {
  readonly id: string;
  readonly desc: string;
  readonly branch: string | null;
  readonly author: string;
  readonly outcome: string;
  readonly readded: readonly unknown[];
}

function log(world: PlanWorld, ...args: readonly string[]): readonly Entry[] {
  const { exitCode, stdout, stderr } = world.ralph("log", ...args);
  expect(exitCode, stderr).toBe(0);
  return (JSON.parse(stdout) as { readonly tasks: readonly Entry[] }).tasks;
}

describe("ralph log", () => {
  test("tells on which branch and by whom, and filters by branch, date, commit and spec", () => {
    const world = planWorld();
    world.ralph("set-spec", "a.md");
    world.ralph("task", "add", "on main");
    world.git("checkout", "-q", "-b", "feature/coverage");
    world.git("config", "user.email", "we|ird'\"$(x)@example.com");
    world.ralph("task", "add", "on the branch");
    const before = world.git("rev-parse", "HEAD");
    world.ralph("task", "done");
    world.git("checkout", "-q", "main");
    world.git("merge", "-q", "--no-ff", "--no-edit", "feature/coverage");
    world.git("branch", "-q", "-D", "feature/coverage");

    const all = log(world, "--all");

    expect(all.map(({ desc, branch, author, outcome }) => [desc, branch, author, outcome])).toEqual([
      ["on the branch", "feature/coverage", "we|ird'\"$(x)@example.com", "pending"],
      ["on main", "feature/coverage", "we|ird'\"$(x)@example.com", "done"],
    ]);
    expect(log(world, "--branch", "feature/coverage").length).toBe(2);
    expect(log(world, "--branch", "main").map(({ desc }) => desc)).toEqual(["on main"]);
    expect(log(world, "--since", before).map(({ desc }) => desc)).toEqual(["on main"]);
    expect(log(world, "--since", "yesterday").length).toBe(2);
    expect(log(world, "--since", "2099-01-01")).toEqual([]);
    expect(log(world, "--spec", "a.md").length).toBe(2);
    expect(log(world, "--spec", "b.md")).toEqual([]);
    expect(world.ralph("log", "--text").stdout).toContain("feature/coverage");
  });

  test("tells a task that a revert brought back, and one whose file had another name twice", () => {
    const world = planWorld();
    world.ralph("set-spec", "a.md");
    world.ralph("task", "add", "a task");
    world.ralph("task", "done");
    world.ralph("task", "accept");
    world.git("revert", "--no-edit", "HEAD");
    world.git("mv", "ralph/plan.jsonl", "kept.jsonl");
    world.git("commit", "-q", "-m", "away");
    const line = '{"t": "task", "id": "t-away", "spec": "a.md", "name": "while it was away", "s": "p"}\n';
    appendFileSync(join(world.root, "kept.jsonl"), line);
    world.git("commit", "-q", "-am", "under the other name");
    const away = world.git("rev-parse", "--short", "HEAD");
    mkdirSync(join(world.root, "ralph"), { recursive: true });
    world.git("mv", "kept.jsonl", "ralph/plan.jsonl");
    world.git("commit", "-q", "-m", "back");

    const [task, other] = log(world, "--all");

    expect(task).toMatchObject({ desc: "a task", outcome: "done", readded: [{}] });
    expect(task?.readded.length).toBe(1);
    expect(other).toMatchObject({ desc: "while it was away", created: { commit: away } });
  });

  test("is empty before the first commit and without a plan", () => {
    const world = planWorld();

    expect(log(world)).toEqual([]);
    expect(log(world, "--all")).toEqual([]);
  });
});
