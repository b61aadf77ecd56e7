/** `--strict` parks an item whose checks pass before its work, and never one whose own work makes them pass. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, ralphCli, type Running } from "./cli.ts";
import { feature, story } from "./feature_project.ts";

const STRICT = ["--strict", "--no-sandbox", "--non-interactive"];

function stories(...ids: readonly string[]): string {
  const userStories = ids.map((id) => ({
    id,
    title: `Write ${id}`,
    acceptanceCriteria: [`Verify: \`grep -q ${id} ${id}.txt\``],
    priority: 1,
    passes: false,
    notes: "",
  }));
  return JSON.stringify({ branchName: "main", userStories });
}

/** Does its work, then waits until it is let go. */
const WAITS = `echo $RALPH_ITEM > $RALPH_ITEM.txt; echo x > $TOP/at-$RALPH_ITEM
until test -f $TOP/go || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; n=$(sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1)
echo "<promise $n>COMPLETE</promise>"`;

function project(...ids: readonly string[]): Cli {
  return ralphCli().files({ "scripts/ralph/prd.json": stories(...ids) });
}

function started(cli: Cli, ...args: readonly string[]): Running {
  const top = join(cli.prepare().root, "..");
  return cli.agent("worker", WAITS.replaceAll("$TOP", top)).args("run", "--agent-cmd", "worker", ...args, ...STRICT)
    .start();
}

async function killed({ child }: Running, signal: "SIGKILL" | "SIGINT"): Promise<void> {
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}

describe("a strict run that goes on", () => {
  test.each<["SIGKILL" | "SIGINT", readonly string[]]>([
    ["SIGKILL", []],
    ["SIGINT", []],
    ["SIGKILL", ["--parallel", "2"]],
    ["SIGINT", ["--parallel", "2"]],
  ])("after %s %j verifies what the turn before it began", async (signal, more) => {
    const ids = more.length === 0 ? ["US-001"] : ["US-001", "US-002"];
    const running = started(project(...ids), ...more);
    for (const id of ids) await running.wrote(`../at-${id}`);
    await killed(running, signal);
    writeFileSync(join(running.root, "../go"), "");

    const { stderr, git } = await ralphCli(running.root).args("run", "--agent-cmd", "worker", ...more, ...STRICT)
      .expectExit(0);

    expect(stderr).toContain(`passed: ${ids.length} verified`);
    expect(stderr).not.toMatch(/parked|checks passed before the work/);
    expect(git("log", "--format=%s")).toContain("feat: US-001 - Write US-001");
  });

  test("after a kill still knows what was green before its first turn: it proves nothing without the work", async () => {
    const vain = stories("US-001").replace("grep -q US-001 US-001.txt", "test -f scripts/ralph/prd.json");
    const cli = ralphCli().files({ "scripts/ralph/prd.json": vain });
    const top = join(cli.prepare().root, "..");
    const running = cli.agent("worker", WAITS.replaceAll("$TOP", top)).args("run", "--agent-cmd", "worker").start();
    await running.wrote("../at-US-001");
    await killed(running, "SIGKILL");
    writeFileSync(join(running.root, "../go"), "");

    const parked = await ralphCli(running.root).args("run", "--agent-cmd", "worker", ...STRICT).expectExit(3);
    writeFileSync(join(running.root, "scripts/ralph/prd.json"), stories("US-001"));
    const again = await ralphCli(running.root).args("run", "--agent-cmd", "worker", ...STRICT).expectExit(0);

    expect(parked.stderr).toContain("its own checks pass without its work");
    expect(again.stderr).toContain("passed: 1 verified");
  });
});

test("a strict run builds again what the final verification sends back", async () => {
  const agent = `*"Final Verification"*) [ $(count reviews) = 1 ] && echo "<ralph>RESET:US-001</ralph>" ||
  echo "<ralph>VERIFIED</ralph>";;
*US-001*) count turns; echo "good $(count lines)" >> US-001.txt; done_;;`;
  const one = story("US-001", { acceptanceCriteria: ["Verify: `grep -q good US-001.txt`"] });

  const { stderr } = await feature(agent, [one], { verify: {} }).args("run", "auth", ...STRICT).expectExit(0);

  expect(stderr).not.toMatch(/parked|checks passed before the work/);
});

test("two stories that conflict are both verified by a strict run with two workers", async () => {
  const files = { "scripts/ralph/prd.json": stories("US-001", "US-002").replaceAll(/US-00\d\.txt/g, "both.txt") };
  // both are at work before one has ended; a conflict is resolved by keeping both lines
  const worker = `p=$(cat); n=$(echo "$p" | sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1)
grep -q $RALPH_ITEM both.txt 2> /dev/null || echo $RALPH_ITEM >> both.txt
if test -f both.txt; then grep -v '^[<=>|]' both.txt > ../x-$RALPH_ITEM; cat ../x-$RALPH_ITEM > both.txt; fi
echo x > $TOP/at-$RALPH_ITEM; until test -f $TOP/at-US-001 && test -f $TOP/at-US-002 || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done
echo "<promise $n>COMPLETE</promise>"`;
  const cli = ralphCli().files(files);
  const top = join(cli.prepare().root, "..");

  const { stderr, read } = await cli.agent("worker", worker.replaceAll("$TOP", top))
    .args("run", "--agent-cmd", "worker", "--parallel", "2", ...STRICT).expectExit(0);

  expect(stderr).toContain("conflicts with what was merged since");
  expect(stderr).not.toMatch(/parked|checks passed before the work/);
  expect(read("both.txt")?.split("\n").toSorted()).toEqual(["", "US-001", "US-002"]);
});

describe("a strict run with the project's suite as a story's check", () => {
  const SUITE = "for one in test/*.test.sh; do sh $one || exit 1; done";
  const FILES = {
    "scripts/ralph/prd.json": stories("US-001").replace("grep -q US-001 US-001.txt", SUITE),
    "src/one.txt": "1\n",
    "test/one.test.sh": "grep -q 1 src/one.txt\n",
  };
  const WORK = `echo 2 > src/two.txt; echo 'grep -q 2 src/two.txt' > test/two.test.sh
    n=$(sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1); echo "<promise $n>COMPLETE</promise>"`;

  test("is not parked for a suite that was green before the work", async () => {
    const { stderr } = await ralphCli().files(FILES).agent("worker", WORK)
      .args("run", "--agent-cmd", "worker", ...STRICT).expectExit(0);

    expect(stderr).toContain("passed: 1 verified");
  });

  test("says of each experiment that there was no time for it", async () => {
    const config = JSON.stringify({ experiments: { budget: 0.000001 }, maxRetries: 1 });
    const { stderr, read } = await ralphCli().files({ ...FILES, "ralph.config.json": config }).agent("worker", WORK)
      .args("run", "--agent-cmd", "worker", ...STRICT).expectExit(3);

    expect(stderr).toContain("no time left for: old judges, canaries, without the work (experiments.budget)");
    expect(read("scripts/ralph/prd.json")).toContain("were not tried without it: there was no time left for it");
  });
});
