import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { sprintWorld } from "../workflows/sprint/sprint_world.ts";
import { RalphError } from "../../lib/errors/ralph_error.ts";
import { loopWorld, type World } from "./loop_world.ts";

/** As after a kill: nothing that follows a turn happens. An error of an agent's own would only end the turn. */
const killed = (): Error => new RalphError("internal", { details: { problem: "killed" } });

const PRD = "scripts/ralph/prd.json";
const CLAIMS = { lines: ["<promise>COMPLETE</promise>"] };
const files = {
  [PRD]: JSON.stringify({
    branchName: "ralph/x",
    userStories: [{
      id: "US-001",
      title: "one",
      acceptanceCriteria: ["Verify: `test -f a.txt`"],
      priority: 1,
      passes: false,
      notes: "",
    }],
  }),
};

/** Two stories, done by `a.txt` and `b.txt`. */
const TWO = ["a", "b"].map((name, at) => ({
  id: `US-00${at + 1}`,
  title: name,
  acceptanceCriteria: [`Verify: \`test -f ${name}.txt\``],
  priority: at + 1,
  passes: false,
  notes: "",
}));

describe("the state at the end of a run", () => {
  test("of a blocked run is one commit, so that other branches can be checked out and a clone has the notes", async () => {
    await using world = await loopWorld(async () => {}, { files });

    expect((await runLoop(world.ralph, prdBacklog(world.ralph))).status).toBe("blocked");

    expect(await world.git("status", "--porcelain")).toBe("");
    expect(await world.git("log", "--format=%s", "main..HEAD")).toBe("ralph: record the run (blocked)");
    await world.git("checkout", "-q", "main");
    expect(await world.git("show", `ralph/x:${PRD}`)).toContain("attempt 3");
  });

  test("of an interrupted run is committed as well; a passed run has nothing left", async () => {
    const stop = new AbortController();
    await using world = await loopWorld(async (_, number) => {
      if (number === 2) stop.abort();
      if (number === 3) await world.write("a.txt", "a\n");
      return CLAIMS;
    }, { files });

    const aborted = await runLoop(world.ralph, prdBacklog(world.ralph), { signal: stop.signal });
    expect([aborted.status, await world.git("status", "--porcelain")]).toEqual(["aborted", ""]);
    const again = await world.again();
    expect((await runLoop(again, prdBacklog(again))).status).toBe("passed");
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(await world.git("log", "--format=%s", "main..HEAD")).toBe(
      "feat: US-001 - one\nralph: record the run (aborted)",
    );
  });

  test("of a killed run stays behind as a commit, when another branch is worked on next", async () => {
    await using world = await loopWorld(async (_, number) => {
      if (number === 3) throw killed(); // begun in the journal, and never settled
      if (number === 2) return;
      await world.write("a.txt", "a\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    }, { files: { [PRD]: JSON.stringify({ branchName: "ralph/x", userStories: TWO }) } });
    await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toThrow("killed");
    expect(await world.git("status", "--porcelain")).toContain(PRD);
    await world.git("branch", "other", "main");

    const again = await world.again(async () => {
      await world.write("a.txt", "a\n");
      await world.write("b.txt", "b\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    });
    const run = await runLoop(again, prdBacklog(again), { branch: "other" });

    expect([run.status, await world.git("branch", "--show-current")]).toEqual(["passed", "other"]);
    expect(await world.git("log", "-1", "--format=%s", "ralph/x")).toBe("ralph: record the run (killed)");
    expect(await world.git("show", `ralph/x:${PRD}`)).toContain("attempt 1");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("of a killed run comes onto no branch that a person has switched to", async () => {
    await using world = await loopWorld(async (_, number) => {
      if (number === 2) throw killed();
      await world.write(number === 1 ? "a.txt" : "b.txt", "done\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    }, { files: { [PRD]: JSON.stringify({ branchName: "ralph/x", userStories: TWO }) } });
    const start = await world.git("rev-parse", "main");
    await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toThrow("killed");
    await world.git("switch", "-q", "main");

    const again = await world.again(async () => {
      await world.write("b.txt", "done\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    });
    const run = await runLoop(again, prdBacklog(again));

    expect([run.status, await world.git("branch", "--show-current")]).toEqual(["passed", "ralph/x"]);
    expect(await world.git("rev-parse", "main")).toBe(start);
    expect(await world.git("log", "--format=%s", "main..ralph/x")).toBe("feat: US-002 - b\nfeat: US-001 - a");
  });

  test.each([
    ["resets the branch", ["reset", "-q", "--hard", "HEAD~1"]],
    ["takes the commit back", ["reset", "-q", "--soft", "HEAD~1"]],
    ["makes the branch anew", ["checkout", "-q", "-f", "-B", "ralph/x", "main"]],
  ])("of a killed run is that of HEAD once a person %s: no story passes without its commit", async (_name, command) => {
    await using world = await loopWorld(async (_, number) => {
      if (number === 2) throw killed();
      await world.write("a.txt", "done\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    }, { files: { [PRD]: JSON.stringify({ branchName: "ralph/x", userStories: TWO }) } });
    await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toThrow("killed");
    await world.git(...command);

    const left = ["a.txt", "b.txt"];
    const again = await world.again(async () => {
      await world.write(left.shift() ?? "more.txt", "done again\n");
      return { lines: ["<promise>COMPLETE</promise>"] };
    });
    const run = await runLoop(again, prdBacklog(again));

    expect(run.status).toBe("passed");
    expect(await world.git("log", "--format=%s", "main..ralph/x")).toBe("feat: US-002 - b\nfeat: US-001 - a");
    expect(await world.git("show", "ralph/x~1:a.txt")).toBe("done again");
  });

  describe("that a person edits after a kill", () => {
    const THREE = [...TWO, {
      ...TWO[0],
      id: "US-003",
      title: "c",
      acceptanceCriteria: ["Verify: `test -f c.txt`"],
      priority: 3,
    }];

    /** Two stories; killed in the second one's turn, then a third one is in the plan. */
    async function edited(arrange: (world: World) => Promise<void>, acceptChanges = false) {
      const files = ["a.txt", "b.txt", "b.txt", "c.txt"];
      const world = await loopWorld(async (_, number) => {
        await world.write(files[number - 1] ?? "more.txt", "done\n");
        if (number === 2) throw killed();
        return CLAIMS;
      }, { files: { [PRD]: JSON.stringify({ branchName: "ralph/x", userStories: TWO }) } });
      await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toThrow("killed");
      const userStories = THREE.map((story, at) => ({ ...story, passes: at === 0 }));
      await world.write(PRD, JSON.stringify({ branchName: "ralph/x", userStories }));
      await arrange(world);
      const again = await world.again();
      const accepted = { ...again, loop: { ...again.loop, acceptChanges } };
      return { world, run: await runLoop(accepted, prdBacklog(accepted)) };
    }

    test("counts once it is committed", async () => {
      const { world, run } = await edited((world) => world.git("commit", "-qm", "plan", PRD).then(() => undefined));
      await using _ = world;

      expect([run.status, run.passed]).toEqual(["passed", ["US-002", "US-003"]]);
      expect(await world.git("log", "--format=%s", "main..")).toBe(
        "feat: US-003 - c\nfeat: US-002 - b\nplan\nfeat: US-001 - a",
      );
    });

    test("counts with --accept-changes", async () => {
      const { world, run } = await edited(() => Promise.resolve(), true);
      await using _ = world;

      expect([run.status, run.passed]).toEqual(["passed", ["US-002", "US-003"]]);
    });

    test("is kept and named at the end where nobody has agreed to it: it may be the turn's", async () => {
      const { world, run } = await edited(() => Promise.resolve());
      await using _ = world;

      expect([run.status, run.passed]).toEqual(["passed", ["US-002"]]);
      expect(run.notices).toContainEqual({
        kind: "restored",
        subject: PRD,
        message: expect.stringContaining("`ralph restore` brings back what was found"),
      });
    });
  });

  test("of a person, after a kill, is not committed for another branch", async () => {
    await using world = await loopWorld(async () => {
      throw killed();
    }, { files });
    await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toThrow("killed");
    await world.git("commit", "-q", "--allow-empty", "-m", "mine");
    await world.write("README.md", "changed by a person\n");
    await world.git("checkout", "-q", "--orphan", "other");
    await world.git("commit", "-qam", "another README");
    await world.git("checkout", "-q", "ralph/x");
    await world.write("README.md", "changed again\n");

    const again = await world.again();
    const run = runLoop(again, prdBacklog(again), { branch: "other" });

    await expect(run).rejects.toMatchObject({ code: "branch-failed" });
    expect(await world.git("log", "-1", "--format=%s")).toBe("mine");
  });

  test("stays out of git where the configuration says so", async () => {
    await using world = await loopWorld(async () => {}, { files, config: { commits: { prdChanges: false } } });

    await runLoop(world.ralph, prdBacklog(world.ralph));

    expect(await world.git("log", "--format=%s", "main..HEAD")).toBe("");
  });

  test("of a sprint is in git: nothing of Ralph's is left to commit", async () => {
    await using world = await sprintWorld(async () => {}, "max-iterations: 1\n");

    await runLoop(world.ralph, world.backlog(), { limits: { iterations: 1 } });

    expect(await world.git("status", "--porcelain")).toBe("");
  });
});

describe("Ralph's own files are in nobody's way", () => {
  test("a turn that commits and has git ignore the state's folder costs the run nothing", async () => {
    await using world = await loopWorld(async () => {
      await world.write("a.txt", "a\n");
      await world.write(".gitignore", "scripts/\n");
      await world.git("add", "--all");
      await world.git("commit", "-qm", "mine");
      return CLAIMS;
    }, { files });

    expect((await runLoop(world.ralph, prdBacklog(world.ralph))).status).toBe("passed");
    expect(JSON.parse(await world.git("show", `HEAD:${PRD}`))).toMatchObject({ userStories: [{ passes: true }] });
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("an own file that git does not have here makes way for the branch's", async () => {
    await using world = await loopWorld(async () => {
      await world.write("a.txt", "a\n");
      return { lines: ["<ralph>DONE</ralph>"] };
    });
    await world.git("checkout", "-qb", "work");
    await world.write("own.txt", "of the branch\n");
    await world.git("add", "--all");
    await world.git("commit", "-qm", "own");
    await world.git("checkout", "-q", "main");
    await world.write("own.txt", "new\n");
    const list = memoryBacklog([{ id: "a", title: "a", checks: ["test -f a.txt"] }]);
    const backlog = { ...list, ownFiles: ["own.txt"], brief: () => Promise.resolve({ branch: "work" }) };

    expect((await runLoop(world.ralph, backlog)).status).toBe("passed");
    expect(await world.git("show", "HEAD:own.txt")).toBe("of the branch");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("a link to the outside in the place of a file of the state costs a turn nothing but the link", async () => {
    await using outside = await temporaryDirectory("ralph-outside");
    await writeFile(join(outside.path, "theirs"), "theirs\n");
    for (const file of [PRD, "scripts/ralph/progress.txt"]) {
      await using world = await loopWorld(async () => {
        await world.write("a.txt", "a\n");
        await rm(join(world.root, file), { force: true });
        await symlink(join(outside.path, "theirs"), join(world.root, file));
        return CLAIMS;
      }, { files: { ...files, "scripts/ralph/progress.txt": "- an earlier line\n" } });

      expect((await runLoop(world.ralph, prdBacklog(world.ralph))).status).toBe("passed");
      expect(await world.git("show", "HEAD:scripts/ralph/progress.txt")).toMatch(/^- an earlier line\n.*US-001/s);
      expect(JSON.parse(await world.git("show", `HEAD:${PRD}`))).toMatchObject({ userStories: [{ passes: true }] });
    }
  });
});

const SIGNS_UNTIL_WORK = `#!/bin/sh
test -e a.txt && exit 1
cat >/dev/null; printf "\\n[GNUPG:] SIG_CREATED \\n" >&2
printf -- "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n"
`;

describe("a pass without its commit", () => {
  test("is in no state file; the next run commits it without a turn", async () => {
    await using world = await loopWorld(async () => {
      await world.write("a.txt", "a\n");
      return CLAIMS;
    }, { files });
    const gpg = join(world.root, ".git/gpg");
    await writeFile(gpg, SIGNS_UNTIL_WORK, { mode: 0o755 });
    await world.git("config", "commit.gpgSign", "true");
    await world.git("config", "gpg.program", gpg);

    await expect(runLoop(world.ralph, prdBacklog(world.ralph))).rejects.toMatchObject({ code: "git-failed" });
    expect((await prdBacklog(world.ralph).overview({ parked: [] })).passed).toBe(0);
    await world.git("config", "--unset", "commit.gpgSign");

    const again = await world.again();
    expect((await runLoop(again, prdBacklog(again))).status).toBe("passed");
    expect(world.prompts).toHaveLength(1);
    expect(await world.git("show", `HEAD:${PRD}`)).toContain('"passes": true');
  });
});

test("a check that a story before it made green is looked at in the commit of that story", async () => {
  const [first] = JSON.parse(files[PRD]).userStories as readonly object[];
  const second = { ...first, id: "US-002", acceptanceCriteria: ["Verify: `test -f b.txt`"], priority: 2 };
  const both = {
    [PRD]: JSON.stringify({ branchName: "ralph/x", userStories: [first, second] }),
    ".gitignore": "gen/\n",
  };
  await using world = await loopWorld(async () => {
    await world.write("a.txt", "a\n");
    await world.write("b.txt", "b\n");
    return CLAIMS;
  }, { files: both });
  await world.write("gen/z", "ignored\n");

  const run = await runLoop(world.ralph, prdBacklog(world.ralph));

  expect(run).toMatchObject({ status: "passed", passed: ["US-001", "US-002"] });
  expect(run.notices.filter(({ kind }) => kind === "not-reproducible")).toEqual([]);
});

test("work that git refuses for an attribute is a failed attempt, and kept byte by byte when it is parked", async () => {
  await using world = await loopWorld(async () => {
    await world.write("a.txt", "a\n");
    await world.write(".gitattributes", "a.txt working-tree-encoding=UTF-16\n");
    return CLAIMS;
  }, { files });

  const run = await runLoop(world.ralph, prdBacklog(world.ralph));

  expect(run.status).toBe("blocked");
  expect(run.parked[0]?.reason).toContain("the commit was refused by git, by the attributes of its files");
  const kept = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/work");
  expect(await world.git("show", `${kept}:a.txt`)).toBe("a");
});
