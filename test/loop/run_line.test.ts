/** HEAD leaves the branch that a run works on, or the branch loses its work, at a moment that is inside of a turn or is not. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import type { LoopOutcome } from "../../lib/loop/run/outcome.ts";
import { loopWorld, type World } from "./loop_world.ts";

interface Case {
  /** A person does this while the turn at the second item runs. */
  readonly inTurn?: string;
}

interface Ran extends World {
  readonly outcome: LoopOutcome;
  /** The warnings of the run. */
  readonly said: string;
}

/** Two items, `a` and `b`, on the branch `work`. */
async function ran({ inTurn }: Case): Promise<Ran> {
  const sh = (cwd: string, script = ""): void => void execFileSync("sh", ["-ec", script], { cwd, stdio: "pipe" });
  let isDone = false;
  const world = await loopWorld(({ cwd, environment }) => {
    const item = environment["RALPH_ITEM"] ?? "";
    sh(cwd, `echo ${item} > ${item}.txt; echo ${item} >> other.txt`);
    if (item === "b" && !isDone) sh(cwd, inTurn);
    isDone = item === "b";
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files: { "other.txt": "other\n" } });
  const items = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks: [`test -f ${id}.txt`] }));
  const outcome = await runLoop(world.ralph, memoryBacklog(items), { branch: "work" });
  const said = world.events.flatMap((event) => event.type === "note" && event.level === "warn" ? [event.message] : []);
  return { ...world, outcome, said: said.join("\n") };
}

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
