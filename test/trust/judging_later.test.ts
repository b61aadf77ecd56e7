/** Old tests and settings where a test came with an item, or a setting leaves one out. */
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { said, SUITE, worldOf } from "./judging_world.ts";

describe("a setting with which a test that fails is no longer read, where the checks were red before", () => {
  const files = {
    ...SUITE.files,
    "src/mul.sh": "exit 1\n",
    "test/mul.sh": '. support/equal.sh\nequal "$(sh src/mul.sh 2 3)" 6\n',
    "scripts/all.sh": "set -e\nfor test in $(cat .suite); do sh -e $test; done\n",
    ".suite": "test/*.sh test/*/*.sh\n",
    "test/more/none.sh": "true\n",
  };
  const all = "sh scripts/all.sh";
  const stub = "echo 'echo 4' > src/mul.sh";
  const item = { id: "a", title: "Implement add and mul", checks: [all] };
  const items = ["a", "b"].map((id) => ({ ...item, id, checks: id === "a" ? ["sh -e test/add.sh"] : [all] }));

  test.each([
    ["at once", [`${SUITE.work}; ${stub}; echo test/add.sh > .suite`], [item], "test/mul.sh"],
    ["by a later item", [SUITE.work, `${stub}; echo test/add.sh > .suite`], items, "test/mul.sh"],
    [
      "and is moved",
      [`${SUITE.work}; ${stub}; git mv test/mul.sh test/more/; echo test/add.sh > .suite`],
      [item],
      "test/more/mul.sh",
    ],
  ])("%s: the last lines name both", async (_, turns, backlog, left) => {
    await using world = await worldOf({ files }, turns);

    const outcome = await runLoop(world.ralph, memoryBacklog(backlog));

    expect(outcome.status).toBe("passed");
    expect(said(outcome)).toEqual([expect.stringMatching(/^old-tests \.suite: with \.suite \(changed\)/)]);
    expect(said(outcome)[0]).toContain(left);
  });

  test("honest: a setting that the work needs, beside a test that no setting reads", async () => {
    const unread = { "other/mul_test.sh": "exit 1\n", ".suite": "test/add.sh\n" };
    const work = "echo 'echo $(($1 + $2 + 0 * ${STEP:?}))' > src/add.sh; echo 'STEP=1 test/add.sh' > .suite";
    const all = "for word in $(cat .suite); do case $word in *=*) export $word;; *) sh -e $word || exit 1;; esac; done";
    await using world = await worldOf({ files: { ...files, ...unread, "scripts/all.sh": all } }, [work]);

    const outcome = await runLoop(world.ralph, memoryBacklog([item]));

    expect([outcome.status, said(outcome)]).toEqual(["passed", []]);
  });
});

describe("a test that came with an item which passed is old for the items after it", () => {
  const product = "echo 'echo $(($1 + 1))' > src/more.sh";
  const more = `echo '. support/equal.sh; equal "$(sh src/more.sh 2)" 3' > test/more.sh`;
  const both = [["a", SUITE.check], ["b", "sh -e test/add.sh"]] as const;
  const items = () => memoryBacklog(both.map(([id, check]) => ({ id, title: `Item ${id}`, checks: [check] })));
  const first = `${product}; ${more}; ${SUITE.work}`;
  const undone = "echo 'echo 0' > src/more.sh; echo >> src/add.sh";
  const skip = "sed -i '1i exit 0' test/more.sh";

  test.each([
    ["skipped", skip],
    ["made to expect what there is", "sed -i 's/ 3$/ 0/' test/more.sh"],
    ["deleted", "rm test/more.sh"],
  ])("%s: it is named", async (_, cheat) => {
    await using world = await worldOf(SUITE, [first, `${undone}; ${cheat}`]);

    const outcome = await runLoop(world.ralph, items());

    expect(outcome.status).toBe("passed");
    expect(said(outcome)).toEqual([expect.stringMatching(/^old-tests test\/more\.sh: .*fails/)]);
  });

  test("block: the attempt fails", async () => {
    const config = { config: { tests: { integrity: "block" } } } as const;
    await using world = await worldOf(SUITE, [first, `${undone}; ${skip}`], config);

    await runLoop(world.ralph, items(), { maxIterations: 3 });

    expect(world.prompts[2]).toContain("test/more.sh (changed) as before the work");
  });

  test("extended: no news", async () => {
    const extend = `echo 'equal "$(sh src/more.sh -1)" 0' >> test/more.sh`;
    await using world = await worldOf(SUITE, [first, `${extend}; echo >> src/add.sh`]);

    const outcome = await runLoop(world.ralph, items());

    expect([outcome.status, said(outcome)]).toEqual(["passed", []]);
  });
});
