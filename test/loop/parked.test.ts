import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { TurnRequest } from "../../lib/context/context.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { keptWork } from "../../lib/git/stow.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const KEY = { backlog: "memory", scope: "" };

function gitOf({ cwd, environment }: Pick<TurnRequest, "cwd" | "environment">, ...arguments_: string[]): void {
  execFileSync("git", arguments_, { cwd, env: { ...process.env, ...environment } });
}

/** At `a` it commits `deep/a.txt`, leaves `left.txt` and an edit; at `b` it writes `b.txt`. */
const turns: Turns = async (request) => {
  const { cwd, prompt } = request;
  if (prompt.includes("make b")) {
    await writeFile(join(cwd, "b.txt"), "b\n");
    return DONE;
  }
  await mkdir(join(cwd, "deep"), { recursive: true });
  await writeFile(join(cwd, "deep/a.txt"), "a\n");
  gitOf(request, "add", "deep");
  gitOf(request, "commit", "--quiet", "--allow-empty", "--message", "half of a");
  await writeFile(join(cwd, "left.txt"), "left\n");
  await writeFile(join(cwd, "README.md"), "# changed\n");
  return DONE;
};

const A = { id: "a", title: "make a", checks: ["test -f a.txt"] };
const B = { id: "b", title: "make b", checks: ["test -f b.txt && test ! -e left.txt"] };

async function ref(world: World): Promise<string> {
  return (await keptWork(world.ralph.repository!))[0]?.ref ?? "";
}

describe("an item that is given up on", () => {
  test("leaves the next one a clean tree, and its work under a ref that the last lines name", async () => {
    await using world = await loopWorld(turns);
    await world.write("mine.txt", "a person's\n");

    const run = await runLoop(world.ralph, memoryBacklog([A, B], { maxRetries: 2 }));

    expect(run).toMatchObject({ status: "blocked", passed: ["b"], parked: [{ id: "a" }] });
    expect(await world.git("log", "--format=%s")).toBe("feat: make b\nstart");
    expect(await world.git("show", "--name-only", "--format=")).toBe("b.txt");
    expect(await world.git("status", "--porcelain", "--untracked-files=all")).toBe("?? mine.txt");
    const kept = await ref(world);
    expect(await world.git("log", "-1", "--format=%s%n%b", kept)).toBe(
      "a - make a (given up on)\n- half of a\n- half of a",
    );
    expect(await world.git("diff", "--name-only", `${kept}^`, kept)).toBe("README.md\ndeep/a.txt\nleft.txt");
    expect(run.notices).toContainEqual({
      kind: "leftover",
      subject: "a",
      message: `what its turns left; \`git diff HEAD...${kept}\` shows it`,
    });
  });

  test("gets its work back when it is taken up again; the ref goes when it passes", async () => {
    await using world = await loopWorld(turns);
    await runLoop(world.ralph, memoryBacklog([A, B], { maxRetries: 1 }));
    const seen: string[] = [];
    const again = await world.again(async ({ cwd }) => {
      seen.push(execFileSync("git", ["status", "--porcelain", "-uall"], { cwd, encoding: "utf8" }));
      await writeFile(join(cwd, "a.txt"), "a\n");
      return DONE;
    });

    const run = await runLoop(again, memoryBacklog([A], { maxRetries: 1 }), { retryBlocked: true });

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(seen).toEqual([" M README.md\n?? deep/a.txt\n?? left.txt\n"]);
    expect(await world.git("show", "--name-only", "--format=%s")).toBe(
      "feat: make a\n\nREADME.md\na.txt\ndeep/a.txt\nleft.txt",
    );
    expect(await keptWork(again.repository!)).toEqual([]);
  });

  test("says where its work is when that does not fit any more, and starts without it", async () => {
    await using world = await loopWorld(turns);
    await runLoop(world.ralph, memoryBacklog([A], { maxRetries: 1 }));
    await world.write("README.md", "# by a person\n");
    await world.git("commit", "--quiet", "--all", "--message", "by a person");
    const again = await world.again(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), "a\n");
      return DONE;
    });

    await runLoop(again, memoryBacklog([A]), { retryBlocked: true });

    expect(await world.git("show", "--name-only", "--format=")).toBe("a.txt");
    const notes = world.events.filter((event) => event.type === "note").map(({ message }) => message);
    expect(notes).toContainEqual(expect.stringMatching(/stays at refs\/ralph\/work\/.*: README.md has changed/));
  });

  test.each([
    ["a file that it was to make", {}, "wrong a\n", "a by hand\n"],
    ["a text that it was to add to", { "a.txt": "# a\n" }, "# a\nwrong a\n", "# a\na by hand\n"],
    ["a placeholder without a line", { "a.txt": "\n" }, "wrong a\n", "a by hand\n"],
    ["a text that a person has replaced", { "a.txt": "# a\n" }, "# a\nwrong a\n", "a by hand\n"],
  ])("is not joined to what a person wrote since in %s", async (_, files, wrong, byHand) => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), wrong);
      return DONE;
    }, { files });
    const item = { id: "a", title: "make a", checks: ["grep -q hand a.txt"] };
    await runLoop(world.ralph, memoryBacklog([item], { maxRetries: 1 }));
    await world.write("a.txt", byHand);
    await world.git("add", "a.txt");
    await world.git("commit", "--quiet", "--message", "by hand");

    const again = await world.again(async () => DONE);
    await runLoop(again, memoryBacklog([item]), { retryBlocked: true });

    expect(await readFile(join(world.root, "a.txt"), "utf8")).toBe(byHand);
    expect(await world.git("show", "HEAD:a.txt")).toBe(byHand.trim());
    const notes = world.events.filter((event) => event.type === "note").map(({ message }) => message);
    expect(notes).toContainEqual(expect.stringMatching(/stays at refs\/ralph\/work\/.*: a.txt has changed/));
  });

  test("keeps on the branch what is on a remote, and in the tree what a person has edited", async () => {
    await using world = await loopWorld(async (request, number) => {
      const turn = await turns(request, number);
      await world.git("update-ref", "refs/remotes/origin/main", "HEAD");
      return turn;
    });

    await runLoop(world.ralph, memoryBacklog([A], { maxRetries: 1 }));

    expect(await world.git("log", "--format=%s")).toBe("half of a\nstart");
    expect(await world.git("diff", "--name-only", `${await ref(world)}^`, await ref(world))).toBe(
      "README.md\nleft.txt",
    );
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test.each(["before anything was moved", "after the files", "after the branch"])(
    "is settled %s when the run is killed there: the work is whole, the tree clean",
    async (when) => {
      await using world = await loopWorld(() => {
        throw new Error("no turn must be taken");
      });
      const start = await world.git("rev-parse", "HEAD");
      const next = await memoryBacklog([A]).next({ inFlight: [], parked: [] });
      const { item } = next as Extract<typeof next, { readonly status: "item" }>;
      await world.ralph.journal.begun(KEY, item, { id: "r.1", number: 1, userPaths: [], head: start });
      const { markingEnvironment } = await import("../../lib/git/turn_mark.ts");
      const environment = await markingEnvironment(world.ralph.repository!);
      await turns({ cwd: world.root, prompt: "", environment } as TurnRequest, 1);
      const { contents } = await world.ralph.repository!.snapshot();
      const work = Object.fromEntries(contents);
      const attempt = {
        id: "r.1",
        number: 1,
        claim: null,
        turn: null,
        verification: null,
        status: "blocked",
        message: "no",
      } as const;
      await world.ralph.journal.settling(KEY, item, attempt, { work });
      const head = await world.git("rev-parse", "HEAD");
      if (when !== "before anything was moved") {
        const { captureWork } = await import("../../lib/git/fold.ts");
        const { discardPaths } = await import("../../lib/git/merge_change.ts");
        const captured = await captureWork(world.ralph.repository!, {
          base: start,
          ref: "refs/ralph/work/r.1",
          subject: "a",
          without: [],
          only: Object.keys(work),
        });
        await discardPaths(world.ralph.repository!, captured!.paths, start);
      }
      if (when === "after the branch") await world.git("update-ref", "HEAD", start, head);

      const run = await runLoop(await world.again(), memoryBacklog([A]));

      expect(run).toMatchObject({ status: "blocked", turns: 0 });
      expect(await world.git("rev-parse", "HEAD")).toBe(start);
      expect(await world.git("status", "--porcelain", "-uall")).toBe("");
      expect(await world.git("diff", "--name-only", start, "refs/ralph/work/r.1")).toBe(
        "README.md\ndeep/a.txt\nleft.txt",
      );
    },
  );
});
