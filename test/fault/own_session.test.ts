import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, WORK } from "./world.ts";

const TOOL = "setsid sh -c 'trap \"\" TERM HUP; setsid sleep 300 & sleep 300'";

describe("an agent whose tool runs in a session of its own", () => {
  test("has it ended with the turn", async () => {
    const project = faultProject(`${WORK}; ${TOOL} > /dev/null 2>&1 < /dev/null &`);

    const { root } = await project.cli.expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    await expectNothingLeft(project, root);
  });

  test("has it ended at the timeout", async () => {
    const project = faultProject(`cat > /dev/null; ${TOOL}`);

    const { root } = await project.cli.args("run", "--timeout", "1", "--max-iterations", "1").expectExit(1);

    await expectNothingLeft(project, root);
  });

  test("has it ended when Ralph is killed, and the next run continues", async () => {
    const project = faultProject(`cat > /dev/null; ${TOOL} & sleep 0.5; echo yes > ../begun; wait`);
    const running = project.cli.start();
    await running.wrote("../begun");

    running.child.kill("SIGKILL");
    await running.ended();

    passedIn(running.root);
    await expectGone(project);
  });
});

/** The lock of a killed run stays until the next one takes it over. */
async function expectGone({ mark }: { readonly mark: string }): Promise<void> {
  const { untilGone } = await import("./processes.ts");
  expect(await untilGone(mark, 3000)).toBeTypeOf("number");
}
