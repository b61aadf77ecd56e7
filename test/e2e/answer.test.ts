/** A story that the agent gave back with a question, and the person's answer: while the run lasts, and after it. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";
import { ACCEPT, feature, storiesOf, story as featureStory } from "./feature_project.ts";

/** Asks about US-001 until its prompt has the answer; at another story it waits until the test lets it go. */
const WORKER = `prompt=$(cat); printf '%s\\n' "$prompt" > ../prompt-$(ls .. | grep -c '^prompt-')
has() { printf '%s' "$prompt" | grep -q "$1"; }
if has '240 ml'; then echo 240 > cup.txt
elif has 'Size of a cup'; then echo '<ralph>BLOCKED: Which cup, 240 or 250 ml?</ralph>'; exit
else until test -f "$HOME/../ready" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; echo x > spoon.txt; fi
echo '<promise>COMPLETE</promise>'`;

function story(id: string, title: string, check: string): object {
  return { id, title, acceptanceCriteria: [`Verify: \`${check}\``], priority: 1, passes: false, notes: "" };
}

function project(worker = WORKER): Cli {
  const userStories = [
    story("US-001", "Size of a cup", "grep -q 240 cup.txt"),
    story("US-002", "Size of a spoon", "test -f spoon.txt"),
  ];
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }),
    "ralph.config.json": JSON.stringify({ verify: { baseline: false } }),
  }).agent("worker", worker);
}

const RUN = ["run", "--agent-cmd", "worker"] as const;
const TELL = ["tell", "240 ml", "--item", "US-001"] as const;

test("words for a story that a run has given up on take it up again in the same run", async () => {
  const running = project().args(...RUN).start();
  await running.shows(/US-001: parked/);
  await running.wrote("../prompt-1");
  const told = await ralphCli(running.root).args(...TELL).expectExit(0);
  writeFileSync(join(running.root, "../ready"), "");
  const { exitCode, stderr, read } = await running.ended();

  expect(told.stderr).toContain("it will be in the next prompt for US-001");
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("passed: 2 verified in 3 iterations")]);
  expect(read("../prompt-2")).toMatch(/Which cup, 240 or 250 ml\?(.|\n)*From the person(.|\n)*\n240 ml\n$/);
});

test.each([[], ["--retry-blocked"]])("after the run they wait for the next one, %j", async (...flags) => {
  const made = await project().before("touch ../ready").args(...RUN).expectExit(3);
  const again = (...line: readonly string[]): Cli => ralphCli(made.root).args(...line);

  const other = await again("tell", "x", "--item", "US-002").expectExit(2);
  await again(...RUN).expectExit(3); // it has nothing to do, and the question stays
  const blocked = await again("next").expectExit(3);
  const told = await again(...TELL).expectExit(0);
  const next = await again("next").expectExit(0);
  const status = await again("status").expectExit(0);
  const dry = await again("run", "--dry-run").expectExit(0);
  const { stderr, read } = await again(...RUN, ...flags).expectExit(0);
  const report = await again("report").expectExit(0);
  const late = await again(...TELL).expectExit(2);

  expect(blocked.stderr).toContain("--retry-blocked");
  expect(next.stdout).toMatch(/^US-001  Size of a cup/);
  expect(status.stdout).toMatch(/1 open\n(.|\n)*US-001(.|\n)*next: `ralph run`/);
  expect(dry.stdout).toMatch(/next\n  US-001  Size of a cup/);
  expect([next, status, dry].some(({ stdout, stderr }) => /retry-blocked/.test(stdout + stderr))).toBe(false);
  expect(late.stderr).toContain("only an item that was given up on takes words");
  expect(other.stderr).toContain("only an item that was given up on takes words");
  expect(told.stderr).toContain("the next run takes US-001 up again with this");
  expect(read("../prompt-2")).toMatch(/Which cup, 240 or 250 ml\?(.|\n)*From the person(.|\n)*\n240 ml\n$/);
  expect(stderr).toContain("passed: 1 verified in 1 iteration");
  expect(report.stdout).toContain("- told for US-001: **240 ml** (file)");
  expect(readdirSync(join(made.root, ".git/ralph/control"))).toEqual([]);
});

/** The first turn that has the answer does not end well. */
const FAILS = WORKER.replace(
  "then echo 240",
  "then test -f ../heard || { echo x > ../heard; sleep 30; exit; }; echo 240",
);

test.each(["SIGKILL", "SIGINT"] as const)(
  "a run that %s ended has taken them: the next one has them too",
  async (signal) => {
    const made = await project(FAILS).before("touch ../ready").args(...RUN).expectExit(3);
    await ralphCli(made.root).args(...TELL).expectExit(0);
    const killed = ralphCli(made.root).args(...RUN).start();
    await killed.wrote("../heard");
    killed.child.kill(signal);
    await killed.ended();
    const { stderr, read } = await ralphCli(made.root).args(...RUN).expectExit(0);

    expect(read("../prompt-3")).toMatch(/From the person(.|\n)*\n240 ml\n$/);
    expect(stderr).toContain("passed: 1 verified");
    expect(stderr).not.toContain("told to a run that was killed");
  },
);

test("a run that stops after a failed attempt has taken them: the next one has them too", async () => {
  const worker = FAILS.replace("sleep 30; exit;", "exit;");
  const made = await project(worker).before("touch ../ready").args(...RUN).expectExit(3);
  await ralphCli(made.root).args(...TELL).expectExit(0);
  await ralphCli(made.root).args(...RUN, "--max-iterations", "1").expectExit(1);
  const { read } = await ralphCli(made.root).args(...RUN).expectExit(0);

  expect(read("../prompt-3")).toMatch(/From the person(.|\n)*\n240 ml\n$/);
});

test("words for all stay with the item whose prompt they reached, once in each", async () => {
  const worker = `n=$(ls .. | grep -c '^prompt-'); cat > ../prompt-$n
if test $n = 0; then until test -f "$HOME/../ready" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; fi
test $n = 3 && echo 240 > cup.txt; echo x > spoon.txt; echo '<promise>COMPLETE</promise>'`;
  const running = project(worker).args(...RUN, "--max-iterations", "3").start();
  await running.wrote("../prompt-0");
  await ralphCli(running.root).args("tell", "in metric units").expectExit(0);
  writeFileSync(join(running.root, "../ready"), "");
  const { read } = await running.ended();
  await ralphCli(running.root).args(...RUN, "--retry-blocked").expectExit(0);

  const times = (n: number): number => (read(`../prompt-${n}`) ?? "").split("in metric units").length - 1;
  expect([times(0), times(1), times(2), times(3)]).toEqual([0, 1, 1, 1]);
});

test("an agent in its turn leaves none", async () => {
  const forge =
    `printf '{"action":"tell","origin":"file","text":"240 ml","item":"US-001","runs":"'$PWD'/scripts/ralph/runs"}' ` +
    "> .git/ralph/control/1-a.told; sleep 0.3";
  const made = await project(`${forge}\n${WORKER}`).before("touch ../ready").args(
    ...RUN,
    "--no-sandbox",
  ).expectExit(3);
  const { stderr } = await ralphCli(made.root).args(...RUN, "--no-sandbox").expectExit(3);

  expect(made.stderr).toContain("not taken, from outside: words for the next run");
  expect(stderr).not.toContain("told");
});

test("a feature keeps in its own file that it gave up on a story: that is taken back too", async () => {
  const asks = `*'240 ml'*) echo good > US-1.txt; done_;; *"Do US-1"*) echo '<ralph>BLOCKED: Which cup?</ralph>';;`;
  const made = await feature(`${ACCEPT} ${asks}`, [featureStory("US-1")]).args("run", "auth").expectExit(3);
  expect(storiesOf(made)[0]).toMatchObject({ passes: false, blocked: true });
  await ralphCli(made.root).args("tell", "240 ml", "--item", "US-1").expectExit(0);
  const next = await ralphCli(made.root).args("next", "auth").expectExit(0);
  const status = await ralphCli(made.root).args("status", "auth").expectExit(0);
  const again = await ralphCli(made.root).args("run", "auth").expectExit(0);

  expect(next.stdout).toMatch(/^US-1 /);
  expect(status.stdout).toMatch(/1 open\n(.|\n)*next: `ralph run auth`/);
  expect(storiesOf(again)[0]).toMatchObject({ passes: true });
});

test("two workers: the words reach the story as soon as one of them is free", async () => {
  const running = project().args(...RUN, "--parallel", "2").start();
  await running.shows(/US-001: parked/);
  await ralphCli(running.root).args(...TELL).expectExit(0);
  writeFileSync(join(running.root, "../ready"), "");
  const { exitCode, stderr } = await running.ended();

  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("2 verified in 3 iterations")]);
});
