import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { blocksIn, withUnresolved } from "../../lib/git/conflict_markers.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

const ITEM = [{ id: "a", title: "write a", checks: ["test -f a.txt"] }];

/** A fixture with the very lines of a conflict, which no merge wrote. */
const FIXTURE = "text\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\nmore\n";

/** The turn runs a script that may fail, as git does where it meets a conflict. */
function running(...scripts: readonly string[]): Turns {
  return async ({ cwd, environment }, number) => {
    const script = scripts[Math.min(number, scripts.length) - 1]!;
    execFileSync("sh", ["-c", `exec >/dev/null 2>&1; echo a > a.txt; ${script}; true`], {
      cwd,
      env: { ...process.env, ...environment },
    });
    return DONE;
  };
}

/** The branch `other` and the present one differ in the same line of f.txt. */
async function worldWith(turns: Turns): Promise<World> {
  const world = await loopWorld(turns, { files: { "f.txt": "start\n", "fixture.txt": FIXTURE } });
  const script = `git checkout -q -b other; echo theirs > f.txt; git commit -qam theirs; git checkout -q -; ` +
    "echo ours > f.txt; git commit -qam ours";
  execFileSync("sh", ["-ec", script], { cwd: world.root, stdio: "ignore" });
  return world;
}

const MERGES: readonly (readonly [name: string, script: string])[] = [
  ["merge", "git merge other"],
  ["merge of a commit by its hash", "git merge $(git rev-parse other)"],
  ["merge with markers of three sides", "git -c merge.conflictStyle=diff3 merge other"],
  ["cherry-pick", "git cherry-pick other"],
  ["revert", "echo more > f.txt; git commit -qam more; git revert --no-edit HEAD~1"],
  ["stash pop", "echo stashed > f.txt; git stash; echo now > f.txt; git commit -qam now; git stash pop"],
];

const ENDS: readonly (readonly [name: string, script: string])[] = [
  ["left as it is", "true"],
  ["staged", "git add -A"],
  ["committed", "git add -A; git commit --no-edit -m merged"],
];

describe("a conflict of a turn's own", () => {
  test.each(MERGES.flatMap(([merge, first]) => ENDS.map(([end, then]) => [merge, end, `${first}; ${then}`] as const)))(
    "%s, %s, fails the attempt and names the file; a later attempt that leaves the lines fails as well",
    async (_merge, _end, script) => {
      await using world = await worldWith(running(script, "true"));

      const run = await runLoop(world.ralph, memoryBacklog(ITEM, { maxRetries: 2 }));

      expect(run).toMatchObject({ status: "blocked", passed: [] });
      const ends = world.events.flatMap((event) => event.type === "iteration-end" ? [event.message] : []);
      expect(ends.slice(0, 2)).toEqual(Array(2).fill(expect.stringContaining("conflict not resolved in f.txt")));
      expect(world.prompts[1]).toContain("conflict not resolved in f.txt");
    },
  );

  test.each([
    ["of a merge", "git merge other"],
    ["of a stash", "echo stashed > f.txt; git stash; echo now > f.txt; git commit -qam now; git stash pop"],
  ])("%s is passed by the attempt that resolves it", async (_name, script) => {
    await using world = await worldWith(running(`${script}; git commit -qam wrong`, "echo both > f.txt"));

    const run = await runLoop(world.ralph, memoryBacklog(ITEM));

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(await world.git("show", "HEAD:f.txt")).toBe("both");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test.each([
    ["nothing is merged", `printf '${FIXTURE.replaceAll("\n", "\\n")}' > g.txt; git add -A; git commit -qm g`],
    ["something else is merged", "git merge -X ours other; sed -i 's/other/topic/' fixture.txt"],
    ["its own conflict is resolved, not staged", "git merge other; printf 'Changes\\n=======\\nboth\\n' > f.txt"],
    ["its own conflict is resolved and committed", "git merge other; echo both > f.txt; git commit -qam merged"],
    [
      "a stash of a person's is there",
      `printf '<<<<<<< Updated upstream\\n1\\n=======\\n2\\n>>>>>>> Stashed changes\\n' > s.txt`,
    ],
  ])("is not seen in a file that holds such lines for another reason: %s", async (_name, script) => {
    await using world = await worldWith(running(script));
    await writeFile(join(world.root, "f.txt"), "a person's\n");
    await world.git("stash");

    const run = await runLoop(world.ralph, memoryBacklog(ITEM, { maxRetries: 1 }));

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(await readFile(join(world.root, "fixture.txt"), "utf8")).toContain("<<<<<<< HEAD\nours\n=======\ntheirs\n");
  });

  test("is known by lines that no side had", () => {
    const text = `${FIXTURE}<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> topic\n`;

    expect(blocksIn(text).map(({ label }) => label)).toEqual(["other", "topic"]);
    expect(withUnresolved(text, new Set(FIXTURE.split("\n")))).toBe(
      `${FIXTURE}<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> unresolved: topic\n`,
    );
  });
});
