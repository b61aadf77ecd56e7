/** HEAD leaves the branch that a run works on, or the branch loses its work: inside of a turn, and at other moments. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import type { LoopOutcome } from "../../lib/loop/run/outcome.ts";
import { loopWorld, type World } from "./loop_world.ts";

interface Case {
  /** A person does this while the first turn at the second item runs. */
  readonly inTurn?: string;
  /** The same, when something happens for the first time. */
  readonly person?: readonly [when: (event: RalphEvent) => boolean, script: string];
  /** Git runs these as hooks, by their names. */
  readonly hooks?: Readonly<Record<string, string>>;
  /** A hook of Ralph's runs this after each item. */
  readonly hook?: string;
}

interface Ran extends World {
  readonly outcome: LoopOutcome;
  /** The warnings of the run. */
  readonly said: string;
  readonly turns: number;
}

const FINAL = ({ type, ...event }: RalphEvent): boolean =>
  type === "step-start" && "step" in event && event.step === "final-check";

/** Two items, `a` and `b`, on the branch `work`. */
async function ran({ inTurn, person, hooks = {}, hook }: Case): Promise<Ran> {
  const sh = (cwd: string, script = ""): void => void execFileSync("sh", ["-ec", script], { cwd, stdio: "pipe" });
  let turns = 0;
  const world = await loopWorld(({ cwd, environment }) => {
    const item = environment["RALPH_ITEM"] ?? "";
    sh(cwd, `echo ${item} > ${item}.txt; echo ${item} >> other.txt`);
    turns += 1;
    if (turns === 2) sh(cwd, inTurn);
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files: { "other.txt": "other\n" } });
  for (const [name, script] of Object.entries(hooks)) {
    await writeFile(join(world.root, ".git/hooks", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  let waits = person;
  const push = world.events.push.bind(world.events);
  world.events.push = (event) => {
    if (waits?.[0](event) === true) {
      const [, script] = waits;
      waits = undefined;
      sh(world.root, script);
    }
    return push(event);
  };
  const items = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks: [`test -f ${id}.txt`] }));
  const own = hook === undefined ? [] : [{ id: "tidy", command: hook, parallel: false }];
  const outcome = await runLoop(world.ralph, memoryBacklog(items), { branch: "work", hooks: own });
  const said = world.events.flatMap((event) => event.type === "note" && event.level === "warn" ? [event.message] : []);
  return { ...world, outcome, said: said.join("\n"), turns };
}

/** All work is on the branch, each commit once; main is as it was. */
async function isWhole(world: Ran): Promise<void> {
  expect(world.outcome.status, world.said).toBe("passed");
  expect(await world.git("branch", "--show-current")).toBe("work");
  expect((await world.git("ls-files")).split("\n")).toEqual(expect.arrayContaining(["a.txt", "b.txt"]));
  expect(await world.git("status", "--porcelain")).toBe("");
  expect(await world.git("log", "--format=%s", "main")).toBe("start");
  const subjects = (await world.git("log", "--format=%s", "work")).split("\n");
  expect(subjects.filter((subject) => /write [ab]$/.test(subject))).toHaveLength(2);
  expect(world.turns).toBe(2);
}

const WENT = "or a person meanwhile, went to the branch main instead of work. HEAD is back on the branch work";

describe("a run whose branch is left", () => {
  test.each<readonly [string, Case, string]>([
    ["by a hook after each commit", { hooks: { "post-commit": "git switch -q main" } }, `a hook of git, ${WENT}`],
    [
      "by a hook before each commit",
      { hooks: { "pre-commit": "git switch -qc side || true" } },
      "the branch side while",
    ],
    ["by a hook of the run", { hook: "git switch -q main" }, `the hook tidy, ${WENT}`],
    [
      "by a person as the next item begins",
      { person: [(event) => event.type === "iteration-start" && event.item.id === "b", "git switch -q main"] },
      `a check or a hook, ${WENT}`,
    ],
    ["by a person while the final check runs", { person: [FINAL, "git switch -q main"] }, WENT],
    ["for a detached HEAD", { person: [FINAL, "git checkout -q --detach"] }, "went to a detached HEAD instead of work"],
    ["for an older commit", { person: [FINAL, "git checkout -q --detach main"] }, "went to a detached HEAD"],
  ])("%s goes back to it, says so, and commits nowhere else", async (_name, how, said) => {
    const world = await ran(how);
    await using _ = world;

    await isWhole(world);
    expect(world.said).toContain(said);
    if (!said.includes("side")) {
      expect(world.outcome.notices).toContainEqual({
        kind: "restored",
        subject: "HEAD",
        message: expect.stringContaining(said),
      });
    }
  });

  test("by a person who renames it goes on under the new name", async () => {
    const world = await ran({ person: [FINAL, "git branch -m work better"] });
    await using _ = world;

    expect(world.outcome.status).toBe("passed");
    expect(await world.git("branch", "--format=%(refname:short)")).toBe("better\nmain");
  });

  test("keeps what the person has committed and edited on the other one", async () => {
    const edit = "git switch -q main; echo theirs > theirs; git add theirs; git commit -qm theirs; echo x >> other.txt";
    const world = await ran({ person: [FINAL, edit] });
    await using _ = world;

    expect(world.outcome.status).toBe("passed");
    expect(await world.git("log", "--format=%s", "main")).toBe("theirs\nstart");
    expect(await world.git("log", "--format=%s", "work")).not.toContain("theirs");
    const ref = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/lost");
    expect(ref).toMatch(/^refs\/ralph\/lost\/\S+-tree$/);
    expect(await world.git("show", `${ref}:other.txt`)).toBe("other\nx");
    expect(world.said).toContain(`${ref} holds uncommitted changes that were in the way: other.txt`);
  });
});

describe("a branch that is reset", () => {
  test("while the final check runs has the work again", async () => {
    const world = await ran({ person: [FINAL, "git reset -q --hard HEAD~1"] });
    await using _ = world;

    await isWhole(world);
    expect(world.said).toMatch(/or a person meanwhile, rewrote history: [0-9a-f]{10} was no longer part of it/);
  });

  test("to before a person's own commit that was checked has not passed", async () => {
    const isChecked = ({ type }: RalphEvent): boolean => type === "check-end";
    let checks = 0;
    const reset = (event: RalphEvent): boolean => isChecked(event) && (checks += 1) === 4;
    const mine = "echo mine > mine.txt; git add mine.txt; git commit -qm mine";
    const world = await ran({
      hooks: { "post-commit": `git log -1 --format=%s | grep -q 'write b' && { ${mine}; } || true` },
      person: [reset, "git reset -q --hard HEAD~1"],
    });
    await using _ = world;

    expect(world.outcome).toMatchObject({
      status: "failed",
      reason: "final-check",
      reasons: [expect.stringMatching(/^the branch work does not hold [0-9a-f]{10}, which the final check saw/)],
    });
  });
});

test("what a person edits on another branch while a turn runs is named, with what brings it back", async () => {
  const world = await ran({ inTurn: "git checkout -q -f main; echo mine >> other.txt" });
  await using _ = world;

  expect(world.outcome.status).toBe("passed");
  const ref = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/lost");
  expect(ref).toMatch(/-tree$/);
  const text = `holds uncommitted changes that were in the way: other.txt (\`git checkout ${ref} -- other.txt\` brings`;
  expect(world.said).toContain(`${ref} ${text}`);
  expect(world.outcome.notices).toContainEqual({
    kind: "not-committed",
    subject: ref,
    message: expect.stringContaining(text),
  });
  expect(await world.git("show", `${ref}:other.txt`)).toBe("other\nmine");
});
