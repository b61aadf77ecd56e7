import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn } from "./world.ts";

const STUBBORN = "trap '' TERM INT HUP; cat > /dev/null; (trap '' TERM INT HUP; sleep 300) & while :; do sleep 1; done";

describe("an agent that ignores SIGTERM", () => {
  test("is killed after the grace when its time is up", async () => {
    const project = faultProject(STUBBORN);
    const started = performance.now();

    const { root, stderr } = await project.cli.args("run", "--timeout", "1", "--max-iterations", "1").expectExit(1);

    expect(stderr).toMatch(/agent worker: timed-out/);
    expect(passedIn(root)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(15_000);
    await expectNothingLeft(project, root);
  });

  test("is killed when Ralph is told to end", async () => {
    const project = faultProject(`trap "" TERM; echo started > ignored-by-nobody; ${STUBBORN}`);
    const running = project.cli.start();
    await running.wrote("ignored-by-nobody");

    running.child.kill("SIGTERM");
    const { exitCode, root } = await running.ended();

    expect(exitCode).toBe(130);
    await expectNothingLeft(project, root);
  });
});
