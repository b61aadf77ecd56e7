import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Write a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
/** At its limit for as long as ../limited stands; every start is noted. */
const limited = (sentence: string, name = "worker"): string =>
  `cat > /dev/null; echo ${name} >> ../turns; [ -e ../limited-${name} ] && { echo "${sentence}" >&2; exit 1; }; touch a.txt; echo '<promise>COMPLETE</promise>'`;

function project(sentence: string, config: object = {}): Cli {
  return ralphCli().files({
    "scripts/ralph/prd.json": PRD,
    "ralph.config.json": JSON.stringify({ provider: { command: "worker --yes" }, maxRetries: 1, ...config }),
  })
    .agent("worker", limited(sentence)).before("touch ../limited-worker");
}

describe("a command at its limit", () => {
  test("is waited for and counts no attempt", async () => {
    const running = project("You've hit your usage limit. Try again in 2 seconds.").args("run").start();
    await running.shows("worker has reached a limit: waiting");
    rmSync(join(running.root, "../limited-worker"));
    const { exitCode, stderr, read, git } = await running.ended();

    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("passed: 1 verified in 1 iteration")]);
    expect(stderr.match(/\(attempt /g)).toHaveLength(1);
    expect(read("../turns")).toBe("worker\nworker\n");
    expect(git("log", "--format=%s")).toContain("US-001");
  });

  test("ends the run at once where limits.minutes or --no-wait leave no time, exit 1", async () => {
    const sentence = "You've hit your usage limit. Try again in 2 hours 14 minutes.";
    const started = Date.now();

    const budget = await project(sentence, { limits: { minutes: 1 } }).args("run").expectExit(1);
    const noWait = await project(sentence).args("run", "--no-wait").expectExit(1);

    expect(budget.stderr).toMatch(
      /limit reached: 1 minute: worker: You've hit your usage limit\..* 14 minutes; waiting until \S+ \S+ takes longer than that/,
    );
    expect(noWait.stderr).toContain("rate limit: You've hit your usage limit.");
    expect(Date.now() - started).toBeLessThan(60_000); // nothing is waited for
  });

  test("continues being waited for when Ralph is killed while it waits, for the time that is left", async () => {
    const running = project("You've hit your usage limit. Try again in 15 seconds.").args("run").start();
    await running.shows("worker has reached a limit: waiting");
    const file = join(running.root, ".git/ralph/rate-limits.json");
    const { limits: { worker: { untilMs } } } = JSON.parse(readFileSync(file, "utf8")) as {
      limits: { worker: { untilMs: number } };
    };
    await new Promise((done) => setTimeout(done, 2000));
    running.child.kill("SIGKILL");
    rmSync(join(running.root, "../limited-worker"));
    await running.ended();

    const { stderr, read } = await ralphCli(running.root).args("run").expectExit(0);

    expect(Date.now()).toBeGreaterThanOrEqual(untilMs);
    expect(read("../turns")).toBe("worker\nworker\n");
    expect(stderr.indexOf("worker has reached a limit: waiting")).toBeLessThan(stderr.indexOf("agent worker: started"));
    expect(read(".git/ralph/rate-limits.json")).toBe(null);
  });

  test("is waited for together with its fallback, whose limit is one of its own", async () => {
    const cli = project("You've hit your usage limit. Try again in 2 hours.", {
      provider: { command: "worker --yes", fallback: { command: "worker --small" } },
    });
    cli.agent(
      "worker",
      `cat > /dev/null; echo "$1" >> ../turns
case "$1" in
  --yes) echo "You've hit your usage limit. Try again in 2 hours."; exit 1;;
  *) [ -e a.wait ] || { touch a.wait; echo "Error: 429 Too Many Requests, try again in 1s" >&2; exit 1; }; touch a.txt; echo '<promise>COMPLETE</promise>';;
esac`,
    );

    const { stderr, read } = await cli.args("run").expectExit(0);

    expect(read("../turns")).toBe("--yes\n--small\n--small\n");
    expect(stderr).toContain("worker (fallback) takes over while worker waits for its limit");
  });

  test("a story about rate limits that fails is a failed attempt like any other", async () => {
    const cli = project("");
    cli.agent(
      "worker",
      "cat > /dev/null; echo 'Added the package ratelimit: 429 Too Many Requests is answered.'; exit 1",
    );

    const { stderr } = await cli.args("run").expectExit(3);

    expect(stderr).toContain("ended with exit code 1");
    expect(stderr).not.toContain("waiting");
  });
});
