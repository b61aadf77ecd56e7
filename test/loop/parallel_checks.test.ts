/** Checks of several workers at the same time. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createBeside } from "../../lib/checks/beside.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

/** Fails while another one like it runs, as with a port of its own. The first of two holds it until the second has failed. */
function exclusive(id: string, folder: string): string {
  const until = (condition: string): string => `for round in $(seq 3000); do ${condition} && break; sleep 0.05; done`;
  return `test -f ${id} && cd ${folder} && touch began-${id}; ${until("[ -e began-a ] && [ -e began-b ]")}; ` +
    `mkdir port || { touch refused; exit 1; }; ${until("[ -e refused ]")}; rmdir port`;
}

describe("a check that is red beside another worker's", () => {
  test("runs once more, alone, and costs no turn; it is named unsteady", async () => {
    await using folder = await temporaryDirectory("ralph-beside");
    let come = 0;
    let open = (): void => {};
    const both = new Promise<void>((resolve) => (open = resolve));
    await using world = await loopWorld(async ({ cwd, prompt }) => {
      const id = /write (\w)/.exec(prompt)?.[1] ?? "";
      await writeFile(join(cwd, id), "x\n");
      if ((come += 1) === 2) open();
      await both;
      return { lines: ["<ralph>DONE</ralph>"] };
    });
    const items = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks: [exclusive(id, folder.path)] }));

    const run = await runLoop(world.ralph, memoryBacklog(items), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    const unsteady = run.notices.filter(({ kind }) => kind === "unsteady");
    expect(unsteady).toHaveLength(1);
    expect(unsteady[0]?.message).toContain("RALPH_LANE");
  });

  test("and red when it is alone has failed, after two runs", async () => {
    await using folder = await temporaryDirectory("ralph-beside");
    await using world = await loopWorld(async () => ({}));
    const beside = createBeside(() => {});
    await mkdir(join(folder.path, "log"));
    const red = `echo x >> ${folder.path}/log/red; sleep 1; false`;

    const [first, other] = await Promise.all([
      beside.verify(world.ralph, [red], {}),
      beside.verify(world.ralph, ["sleep 1"], {}),
    ]);
    const alone = await beside.verify(world.ralph, [red], {});

    expect([first.status, other.status, alone.status]).toEqual(["failed", "passed", "failed"]);
    expect(await readFile(join(folder.path, "log/red"), "utf8")).toBe("x\n".repeat(3));
  });

  test("that turns green lets the review follow", async () => {
    await using folder = await temporaryDirectory("ralph-beside");
    await using world = await loopWorld(async () => ({}));
    const unsteady: string[] = [];
    const beside = createBeside((command) => unsteady.push(command));
    const once = `test -f ${folder.path}/once || { touch ${folder.path}/once; exit 1; }`;
    const review = { name: "review", review: true, run: async () => ({ ok: false, exitCode: null, tail: "no" }) };

    const found = await beside.verify(world.ralph, [once, review], {}, true);

    expect(unsteady).toEqual([once]);
    expect(found.results.map(({ name, ok }) => [name, ok])).toEqual([[once, true], ["review", false]]);
  });
});
