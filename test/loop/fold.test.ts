import { execFileSync } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { TurnRequest } from "../../lib/context/context.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const KEY = { backlog: "memory", scope: "" };

/** Writes a file and commits it, as an agent's own git does. */
async function commits({ cwd, environment }: TurnRequest, path: string, subject = `add ${path}`): Promise<void> {
  await writeFile(join(cwd, path), `${path}\n`);
  const git = (...arguments_: string[]): void =>
    void execFileSync("git", arguments_, { cwd, env: { ...process.env, ...environment } });
  git("add", path);
  git("commit", "--quiet", "--message", subject);
}

/** Each turn commits `1.txt`, `2.txt` … and leaves `left.txt`. */
const committing: Turns = async (request, number) => {
  await commits(request, `${number}.txt`);
  await writeFile(join(request.cwd, "left.txt"), `${number}\n`);
  return DONE;
};

function backlogOf(
  check: string,
  more: { readonly policy?: { readonly squash: boolean } } = {},
): ReturnType<typeof memoryBacklog> {
  return { ...memoryBacklog([{ id: "a", title: "make it", checks: [check] }]), ...more };
}

async function subjects(world: World): Promise<string> {
  return await world.git("log", "--format=%s");
}

describe("what an agent commits itself", () => {
  test("is part of its item's one commit, whatever number of attempts it took", async () => {
    await using world = await loopWorld(committing);

    const run = await runLoop(world.ralph, backlogOf("test -f 2.txt"));

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(await subjects(world)).toBe("feat: make it\nstart");
    expect(await world.git("show", "--name-only", "--format=%b")).toBe(
      "- add 1.txt\n- add 2.txt\n\n\n1.txt\n2.txt\nleft.txt",
    );
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(world.ralph.journal.passed(KEY)[0]?.commit).toBe(await world.git("rev-parse", "HEAD"));
  });

  test("stays as it is with `commits.squash: false`, and in a backlog that says so", async () => {
    await using configured = await loopWorld(committing, { config: { commits: { squash: false } } });
    await runLoop(configured.ralph, backlogOf("true"));
    expect(await subjects(configured)).toBe("feat: make it\nadd 1.txt\nstart");

    await using asked = await loopWorld(committing);
    await runLoop(asked.ralph, backlogOf("true", { policy: { squash: false } }));
    expect(await subjects(asked)).toBe("feat: make it\nadd 1.txt\nstart");
  });

  test("stays below what a person commits meanwhile, and what is on a remote stays", async () => {
    await using world = await loopWorld(async (request, number) => {
      await commits(request, "1.txt");
      if (number === 1) await commits({ ...request, environment: {} }, "person.txt", "by a person");
      await commits(request, "2.txt");
      return DONE;
    });
    await runLoop(world.ralph, backlogOf("true"));
    expect(await subjects(world)).toBe("feat: make it\nby a person\nadd 1.txt\nstart");

    await using pushed = await loopWorld(async (request) => {
      await commits(request, "1.txt");
      await pushed.git("update-ref", "refs/remotes/origin/main", "HEAD");
      await commits(request, "2.txt");
      return DONE;
    });
    await runLoop(pushed.ralph, backlogOf("true"));
    expect(await subjects(pushed)).toBe("feat: make it\nadd 1.txt\nstart");
  });

  test("leaves a person's uncommitted edit out, also where the agent swept it in", async () => {
    await using world = await loopWorld(async (request) => {
      await commits(request, ".", "all of it");
      await commits(request, "2.txt");
      return DONE;
    }, { files: { "mine.txt": "mine\n" } });
    await world.write("mine.txt", "edited by a person\n");
    const turn: Turns = async (request) => {
      await writeFile(join(request.cwd, "1.txt"), "1\n");
      const git = (...arguments_: string[]): void =>
        void execFileSync("git", arguments_, { cwd: request.cwd, env: { ...process.env, ...request.environment } });
      git("add", "--all");
      git("commit", "--quiet", "--message", "all of it");
      await commits(request, "2.txt");
      return DONE;
    };

    await runLoop(await world.again(turn), backlogOf("true"));

    expect(await subjects(world)).toBe("feat: make it\nstart");
    expect(await world.git("show", "--name-only", "--format=")).toBe("1.txt\n2.txt");
    expect(await world.git("status", "--porcelain")).toBe("M mine.txt");
  });

  test("is as it was where a hook refuses the one commit, and part of the next attempt's", async () => {
    await using world = await loopWorld(committing);
    const hook = join(world.root, ".git/hooks/pre-commit");
    // the agent's own commits pass; the one that holds both files of a turn passes only with the second turn's
    await writeFile(
      hook,
      "#!/bin/sh\ngit diff --cached --name-only | tr '\\n' ' ' > .git/seen\n" +
        "if grep -q left .git/seen && ! grep -q 2.txt .git/seen; then echo no second file; exit 1; fi\n",
    );
    await chmod(hook, 0o755);

    const run = await runLoop(world.ralph, backlogOf("true"));

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(world.prompts[1]).toContain("no second file");
    expect(await subjects(world)).toBe("feat: make it\nstart");
    await rm(hook);
  });
});

describe("a run that is killed while it makes one commit of several", () => {
  const task = { id: "a", title: "make it", checks: ["test -f 1.txt"] };
  const item = { id: "a", kind: "task", title: "make it", data: task };
  const attempt = { id: "r.1", number: 1, claim: null, turn: null, verification: null, status: "verified" } as const;

  /** As the kill leaves it: two commits of the turns and a file are there, settling has begun. */
  async function killed(world: World, attempts: number): Promise<{ readonly start: string; readonly head: string }> {
    const start = await world.git("rev-parse", "HEAD");
    const begin = async (): Promise<void> => {
      const head = await world.git("rev-parse", "HEAD");
      await world.ralph.journal.begun(KEY, item, { id: "r.1", number: 1, userPaths: [], head });
    };
    await begin();
    const { markingEnvironment } = await import("../../lib/git/turn_mark.ts");
    const environment = await markingEnvironment(world.ralph.repository!);
    const request = { cwd: world.root, environment } as unknown as TurnRequest;
    await commits(request, "1.txt");
    if (attempts > 1) await begin();
    await commits(request, "2.txt");
    await world.write("left.txt", "left\n");
    const head = await world.git("rev-parse", "HEAD");
    const { contents } = await world.ralph.repository!.snapshot();
    const fold = { head, onto: start, own: { subjects: ["add 1.txt", "add 2.txt"], trailers: [] } };
    await world.ralph.journal.settling(KEY, item, attempt, { work: { "left.txt": contents.get("left.txt")! }, fold });
    return { start, head };
  }

  async function committed(world: World, { start }: { readonly start: string }): Promise<void> {
    await world.git("add", "left.txt");
    const tree = await world.git("write-tree");
    await world.git("reset", "--quiet", "left.txt");
    await world.git("update-ref", "HEAD", await world.git("commit-tree", tree, "-p", start, "-m", "feat: make it"));
  }

  const kills: readonly (readonly [string, (world: World, at: { readonly start: string }) => Promise<void>])[] = [
    ["before the branch is moved", () => Promise.resolve()],
    [
      "after the branch was moved",
      async (world, { start }) => void await world.git("update-ref", "HEAD", start),
    ],
    ["after the commit, before the index has it", committed],
    ["while the next run settles what is committed", async (world, at) => {
      await committed(world, at);
      await world.git("reset", "--quiet", "left.txt");
      await world.ralph.journal.settling(KEY, item, attempt, { work: {} });
    }],
  ];

  test.each(kills.flatMap(([name, kill]) => [1, 2].map((attempts) => [name, attempts, kill] as const)))(
    "%s, in attempt %i: nothing is lost, and it is one commit in the end",
    async (_, attempts, kill) => {
      await using world = await loopWorld(() => {
        throw new Error("no turn must be taken");
      });
      await kill(world, await killed(world, attempts));

      const run = await runLoop(await world.again(), memoryBacklog([task]));

      expect(run).toMatchObject({ status: "passed", turns: 0 });
      expect(await subjects(world)).toBe("feat: make it\nstart");
      expect(await world.git("show", "--name-only", "--format=")).toBe("1.txt\n2.txt\nleft.txt");
      expect(await world.git("status", "--porcelain")).toBe("");
    },
  );

  test("in its turn: what that had committed is part of the item's commit, too", async () => {
    await using world = await loopWorld(async (request) => {
      await commits(request, "2.txt");
      return DONE;
    });
    const start = await world.git("rev-parse", "HEAD");
    await world.ralph.journal.begun(KEY, item, { id: "r.1", number: 1, userPaths: [], head: start });
    const { markingEnvironment } = await import("../../lib/git/turn_mark.ts");
    const environment = await markingEnvironment(world.ralph.repository!);
    await commits({ cwd: world.root, environment } as unknown as TurnRequest, "1.txt");

    await runLoop(await world.again(), memoryBacklog([task]));

    expect(await subjects(world)).toBe("feat: make it\nstart");
    expect(await world.git("log", "-1", "--format=%b")).toBe("- add 1.txt\n- add 2.txt");
  });
});
