import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { untilGone } from "./processes.ts";
import { expectNothingLeft, faultProject, HANGS, passedIn, WORK } from "./world.ts";

/** A turn that lasts until the test has seen what it came for. */
const HELD = `for round in $(seq 3000); do [ -e ../seen ] && break; sleep 0.05; done; ${WORK}`;

function letGo(root: string): void {
  writeFileSync(join(root, "../seen"), "");
}

describe("two runs in one working tree", () => {
  test("the second is refused with the first's pid, and the first is not disturbed", async () => {
    const project = faultProject(HELD);
    const first = project.cli.start();
    await first.shows("agent worker: started");

    const second = await ralphCli(first.root).args("run").expectExit(2);
    letGo(first.root);

    expect(second.stderr).toMatch(
      /\nerror: another `ralph run` is running here \(pid \[PID\], started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)\nhint: wait for it to end, or stop it; a second run needs a working tree of its own \(`git worktree add`\)\n$/,
    );
    const { exitCode, root } = await first.ended();
    expect(exitCode).toBe(0);
    expect(passedIn(root)).toEqual(["US-001"]);
    await expectNothingLeft(project, root);
  });

  test("commands that only look are not refused", async () => {
    const project = faultProject(HELD);
    const first = project.cli.start();
    await first.shows("agent worker: started");

    await ralphCli(first.root).args("status").expectExit(0);
    await ralphCli(first.root).args("validate").expectExit(0);
    await ralphCli(first.root).args("next").expectExit(0);
    letGo(first.root);

    expect((await first.ended()).exitCode).toBe(0);
  });

  test("started together: one works, the other is refused", async () => {
    const project = faultProject(HELD, { count: 2 });
    const first = project.cli.start();
    const second = ralphCli(first.root).args("run").start();

    await Promise.race([first.ended(), second.ended()]);
    letGo(first.root);
    const ends = [await first.ended(), await second.ended()];

    expect(ends.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 2]);
    expect(passedIn(first.root)).toEqual(["US-001", "US-002"]);
    expect(ends[0]!.git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(2);
  });

  test("after kill -9 of the first the next takes over", async () => {
    const project = faultProject(HANGS);
    const first = project.cli.start();
    await first.wrote("../begun");
    first.child.kill("SIGKILL");
    await first.ended();

    const { stderr, root } = await ralphCli(first.root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).toContain("\nUS-001 was interrupted in attempt 1\n");
    expect(passedIn(root)).toEqual(["US-001"]);
    expect(await untilGone(project.mark, 3000)).toBeTypeOf("number");
  });
});
