import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { ACCEPT, feature, prd, PRD_FILE, steps, storiesOf, story } from "./feature_project.ts";

const OBEY = "*US-001*) echo good > US-001.txt; done_;; *US-002*) echo good > US-002.txt; done_;;";

describe("ralph run FEATURE: the arrows of its state diagrams", () => {
  test("pending, verifying, passed: in the order of priority, with the commits of each step", async () => {
    const result = await feature(`${ACCEPT} ${OBEY}`, [story("US-002"), story("US-001")]).args("run", "auth")
      .expectExit(0);

    expect(steps(result)).toEqual(["US-001 passed", "US-002 passed", "verified"]);
    expect(result.git("status", "--porcelain")).toBe("");
    expect(storiesOf(result)[0]).toMatchObject({
      id: "US-002",
      passes: true,
      lastResult: { summary: "feat: US-002 - Do US-002", completedAt: expect.any(String) },
    });
    expect(result.git("log", "--format=%s", "--grep=^feat")).toBe("feat: US-002 - Do US-002\nfeat: US-001 - Do US-001");
    expect(result.git("branch", "--show-current")).toBe("ralph/auth");
    expect(JSON.parse(result.read(PRD_FILE) ?? "")).toMatchObject({
      owner: { team: "x" },
      run: { currentStoryId: null, startedAt: expect.any(String) },
    });
  });

  test("failed, retried: the failure stands in the notes and in the next prompt, and is gone after the pass", async () => {
    const agent =
      `${ACCEPT} *"not good"*) echo good > US-001.txt; grep -q 'not good' ${PRD_FILE} && touch seen; done_;; *) echo bad > US-001.txt; done_;;`;
    const result = await feature(agent, [story("US-001", { notes: "mind the gap" })]).args("run", "auth").expectExit(0);

    expect(steps(result)).toEqual(["US-001 passed", "verified"]);
    expect(storiesOf(result)[0]).toMatchObject({ passes: true, retries: 1, notes: "mind the gap" });
    expect(result.read("seen")).toBe("");
  });

  test("blocked after maxRetries: the others continue, exit 3, never VERIFIED; --retry-blocked takes it up anew", async () => {
    const agent =
      `${ACCEPT} *US-001*) [ -f ../fixed ] && rm US-001.txt && echo good > US-001.txt || echo "bad $(count t)" > US-001.txt; done_;; *US-002*) echo good > US-002.txt; done_;;`;
    const first = await feature(agent, [
      story("US-001", { acceptanceCriteria: ["Verify: `grep good US-001.txt`"] }),
      story("US-002", { acceptanceCriteria: ["Verify: `grep good US-002.txt`"] }),
    ], { maxRetries: 2, verify: {} })
      .args("run", "auth").expectExit(3);

    expect(storiesOf(first)).toMatchObject([{
      blocked: true,
      retries: 2,
      passes: false,
      notes: expect.stringContaining("grep good US-001.txt"),
    }, { passes: true }]);
    expect(JSON.parse(first.read(PRD_FILE) ?? "").run.currentStoryId).toBeNull();
    expect(steps(first)).toEqual(["US-002 passed"]);
    expect(JSON.parse(first.git("show", `HEAD:${PRD_FILE}`)).userStories[0]).toMatchObject({
      blocked: true,
      retries: 2,
    });
    const still = await ralphCli(first.root).args("run", "auth").expectExit(3);
    expect(still.stderr).toContain("0 verified in 0 iterations");

    writeFileSync(join(first.root, "../fixed"), "");
    const second = await ralphCli(first.root).args("run", "auth", "--retry-blocked").expectExit(0);
    expect(storiesOf(second)[0]).toMatchObject({ blocked: false, passes: true, retries: 0 });
  });

  test("reset: the reason goes to every story sent back, and the loop continues until VERIFIED", async () => {
    const agent =
      `*"Final Verification"*) if [ $(count reviews) = 1 ]; then echo "<ralph>VERIFIED</ralph>"; echo "<ralph>RESET:US-001,US-002</ralph>"; echo "<ralph>REASON:no tests</ralph>"; else echo "<ralph>VERIFIED</ralph>"; fi;;
*"sent back: no tests"*) done_;; ${OBEY}`;
    const result = await feature(agent, [story("US-001"), story("US-002")]).args("run", "auth").expectExit(0);

    expect(steps(result)).toEqual([
      "US-001 passed",
      "US-002 passed",
      "US-001,US-002 reset",
      "US-001 passed",
      "US-002 passed",
      "verified",
    ]);
    expect(storiesOf(result)).toMatchObject([{ retries: 1, passes: true }, {
      retries: 1,
      passes: true,
      lastResult: { summary: "feat: US-002 - Do US-002" },
    }]);
  });

  test("a reset that leads to blocked ends with 3", async () => {
    const agent = `*"Final Verification"*) echo "<ralph>RESET:US-001</ralph>";; ${OBEY}`;
    const result = await feature(agent, [story("US-001")], { maxRetries: 2 }).args("run", "auth").expectExit(3);

    expect(steps(result).filter((step) => step.endsWith("reset"))).toHaveLength(2);
    const { stdout } = await ralphCli(result.root).args("report").expectExit(0);
    expect(stdout).toMatch(/- ▲ \*\*US-001\*\* passed, and was sent back: sent back by .*: no reason given\n/);
    expect(stdout).toContain("- **Next**: fix the cause, then `ralph run auth --retry-blocked`\n");
    expect(storiesOf(result)[0]).toMatchObject({ passes: false, blocked: true, retries: 2, lastResult: null });
  });

  test("already satisfied: DONE without a change passes, and lastResult is the work that was there", async () => {
    const result = await feature(`${ACCEPT} *) done_;;`, [story("US-001")]).args("run", "auth").expectExit(0);

    expect(storiesOf(result)[0]).toMatchObject({
      passes: true,
      retries: 0,
      lastResult: { summary: "start", commit: result.git("rev-parse", "--short", "main") },
    });
  });

  test("DONE with a non-zero exit, no DONE, and a timeout are failed attempts; their learnings stay", async () => {
    const agent =
      `${ACCEPT} *) case $(count turns) in 1) echo "<ralph>LEARNING:ports are odd</ralph>"; done_; exit 5;; 2) echo "I am <ralph>DONE</ralph>, I think"; echo "<ralph>LEARNING:Ports  are odd</ralph>";; 3) echo "<ralph>LEARNING:sleep is long</ralph>"; sleep 60;; *) done_;; esac;;`;
    const result = await feature(agent, [story("US-001")], {
      maxRetries: 5,
      provider: { command: "worker", timeout: 1.5 },
    }).args("run", "auth").expectExit(0);

    expect(steps(result)).toEqual(["US-001 passed", "verified"]);
    expect(result.stderr).toContain("no DONE signal");
    expect(storiesOf(result)[0]).toMatchObject({ retries: 3 });
    expect(JSON.parse(result.read(PRD_FILE) ?? "").run.learnings).toEqual(["ports are odd", "sleep is long"]);
  });

  test("failing final checks: VERIFIED does not count, notes stay untouched, exit 1", async () => {
    const agent =
      `*FAILED*) echo "<ralph>VERIFIED</ralph>";; *US-001*) echo good > US-001.txt; done_;; *) rm US-001.txt; echo good > US-002.txt; done_;;`;
    const stories = [story("US-001", { acceptanceCriteria: ["Verify: `test -f US-001.txt`"] }), story("US-002")];
    const result = await feature(agent, stories).args("run", "auth").expectExit(1);

    expect(storiesOf(result)).toMatchObject([{ passes: true, notes: "" }, { passes: true, notes: "" }]);
    expect(result.stderr).toContain("the final verification's checks fail");
  });

  test("neither VERIFIED nor RESET: asked again maxRetries times, then exit 1; unknown ids are reported", async () => {
    const agent = `*"Final Verification"*) count reviews >&2; echo "<ralph>RESET:US-9</ralph>";; ${OBEY}`;
    const result = await feature(agent, [story("US-001")], { maxRetries: 2 }).args("run", "auth").expectExit(1);

    expect(result.stderr).toContain("RESET names stories that the PRD does not have: US-9");
    expect(result.read("../state/reviews")).toBe("2\n");
    expect(storiesOf(result)[0]).toMatchObject({ passes: true, retries: 0 });
  });

  test("currentStoryId is honoured on resume, before a story of a lower priority", async () => {
    const result = await feature(`${ACCEPT} ${OBEY}`, [story("US-001"), story("US-002")])
      .files({
        ".ralph/.gitignore": "runs/\n",
        [PRD_FILE]: prd([story("US-001"), story("US-002")], {
          run: { startedAt: "2024-01-15T10:00:00Z", currentStoryId: "US-002", learnings: [] },
        }),
      })
      .args("run", "auth").expectExit(0);

    expect(steps(result)).toEqual(["US-002 passed", "US-001 passed", "verified"]);
    expect(JSON.parse(result.read(PRD_FILE) ?? "").run.startedAt).toBe("2024-01-15T10:00:00Z");
  });

  test("an agent that edits prd.json: put back and reported; only a learning of its hand counts", async () => {
    const edits = `case $(count edits) in
1) sed -i 's/"title": "Do US-001"/"title": "Do US-001", "passes": true/; s/"passes": false/"passes": true/' ${PRD_FILE};;
2) echo '{ "schemaVersion": 2, "userStories": [' > ${PRD_FILE};;
3) rm ${PRD_FILE};;
4) node -e 'const f = "${PRD_FILE}", p = JSON.parse(require("fs").readFileSync(f)); p.userStories.pop(); p.run.learnings.push("by hand"); require("fs").writeFileSync(f, JSON.stringify(p))'; echo good > US-001.txt; done_;;
esac`;
    const result = await feature(
      `${ACCEPT} *US-001*) ${edits};; *US-002*) done_;;`,
      [story("US-001"), story("US-002")],
      { maxRetries: 9, limits: { sameFailure: 9, idle: 9 } },
    ).args("run", "auth").expectExit(0);

    expect(result.stderr.match(/restored, edited manually/g)).toHaveLength(4);
    expect(storiesOf(result)).toMatchObject([{ id: "US-001", passes: true, retries: 3 }, {
      id: "US-002",
      passes: true,
    }]);
    expect(JSON.parse(result.read(PRD_FILE) ?? "").run.learnings).toEqual(["by hand"]);
  });

  test("commits.attempts commits each step of a story: started, failed, blocked, and started where it is taken up again", async () => {
    const agent =
      `${ACCEPT} *US-001*) if [ -f ../fixed ]; then rm US-001.txt; echo good > US-001.txt; else echo "bad $(count t)" > US-001.txt; fi; done_;; *US-002*) echo good > US-002.txt; done_;;`;
    const first = await feature(agent, [
      story("US-001", { acceptanceCriteria: ["Verify: `grep good US-001.txt`"] }),
      story("US-002", { acceptanceCriteria: ["Verify: `grep good US-002.txt`"] }),
    ], { maxRetries: 2, verify: {}, commits: { attempts: true } }).args("run", "auth").expectExit(3);

    const committed = ["US-001 started", "US-001 failed", "US-001 blocked", "US-002 started", "US-002 passed"];
    expect(steps(first)).toEqual(committed);
    expect(first.git("status", "--porcelain")).toBe("");

    writeFileSync(join(first.root, "../fixed"), "");
    const second = await ralphCli(first.root).args("run", "auth", "--retry-blocked").expectExit(0);
    expect(steps(second)).toEqual([...committed, "US-001 started", "US-001 passed", "verified"]);
  });

  test("commits.message and commits.prdChanges are obeyed", async () => {
    const named = await feature(`${ACCEPT} ${OBEY}`, [story("US-001")], { commits: { message: "state: prd" } }).args(
      "run",
      "auth",
    ).expectExit(0);
    expect(named.git("log", "--format=%s")).toBe("state: prd\nfeat: US-001 - Do US-001\nstart");

    const none = await feature(`${ACCEPT} ${OBEY}`, [story("US-001")], { commits: { prdChanges: false } }).args(
      "run",
      "auth",
    ).expectExit(0);
    expect(none.git("log", "--format=%s")).toBe("feat: US-001 - Do US-001\nstart");
    expect(storiesOf(none)[0]).toMatchObject({ passes: true });
  });
});
