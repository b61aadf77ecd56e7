/** A terminal that goes away while a question waits in it: a closed window, a lost connection. */
import { describe, expect, test } from "vitest";
import { untilGone } from "./processes.ts";
import { faultProject, passedIn, WORK } from "./world.ts";
import { needs } from "../needs.ts";

/** Milliseconds until nothing of the run may be left. */
const LIMIT_MS = 5000;

describe("a terminal that is hung up", needs("Linux"), () => {
  test("at the question between two iterations ends Ralph, and what was settled stays", async () => {
    const project = faultProject(WORK, { count: 2 });
    const running = project.cli.args("run", "--interactive").terminal(["never shown", ""]).start();
    await running.shows("Continue with the next iteration?");

    running.child.kill("SIGKILL"); // the terminal's other end

    expect(typeof await untilGone(project.mark, LIMIT_MS), "milliseconds, not the processes that are left").toBe(
      "number",
    );
    expect(passedIn(running.root)).toEqual(["US-001"]);
  });
});
