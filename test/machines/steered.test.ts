/**
 * Steering of a run over a queue by a person, the effect of a worker's limit on its job, and a worker's own sandbox.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Clones, type Ended } from "./clones.ts";
import { Postgres } from "./postgres.ts";
import { needs, SANDBOX } from "../needs.ts";

const LIMITED = `#!/bin/sh
cat > /dev/null
echo limited >> "$TURNS"
echo "Rate limit exceeded. Please try again in 3 hours."
exit 1
`;

/** Keeps its prompt, then waits until \`go-N\` is there; \`ended-N\` says that nothing has killed it. */
const STEERED = `#!/bin/sh
n=$(($(wc -l < "$TURNS") + 1))
echo "$RALPH_ITEM" >> "$TURNS"
cat > "$HOME/prompt-$n"
until test -f "$HOME/go-$n" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done
echo done > "f\${RALPH_ITEM#US-000}.txt"
touch "$HOME/ended-$n"
echo "<promise>COMPLETE</promise>"
`;

const BURGLAR = `#!/bin/sh
cat > /dev/null
echo out > "$OUTSIDE"
echo done > f1.txt
echo "<promise>COMPLETE</promise>"
`;

const IN_SANDBOX = { ...needs("postgresql", ...SANDBOX) };

describe("over a queue", needs("postgresql"), () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await Postgres.start();
  });

  afterAll(() => postgres[Symbol.dispose]());

  /** A worker with an agent of its own, until the test ends. */
  function startWorker(clones: Clones, name: string, agent: string, ...flags: readonly string[]): Promise<Ended> {
    const file = join(clones.folder, `${name}.sh`);
    writeFileSync(file, agent);
    chmodSync(file, 0o755);
    const stop = new AbortController();
    const own = ["--name", name, "--directory", join(clones.folder, name, "project")];
    const what = flags.includes("--agent-cmd") ? flags : [...flags, "--agent-cmd", file];
    const more = { RALPH_QUEUE: postgres.url, OUTSIDE: join(clones.folder, "outside"), GO: "/dev/null" };
    const served = clones.ralph(
      clones.folder,
      ["worker", "--repository", `file://${clones.remote}`, ...own, ...what],
      more,
      stop.signal,
    );
    onTestFinished(async () => {
      stop.abort();
      await served;
    });
    return served;
  }

  const start = (clones: Clones, root: string, ...flags: readonly string[]): Promise<Ended> =>
    clones.ralph(root, ["run", "--ui", "plain", ...flags], { RALPH_QUEUE: postgres.url });

  test("a worker whose agent is at its limit gives the job back, which is no attempt, and takes no other", async () => {
    const clones = new Clones(2);
    onTestFinished(() => clones[Symbol.dispose]());
    const root = clones.clone();
    void startWorker(clones, "limited", LIMITED);
    const run = start(clones, root);
    await expect.poll(() => clones.turnLines(), { interval: 100 }).toEqual(["limited"]);
    void startWorker(clones, "free", readFileSync(clones.agent, "utf8"));
    const { exitCode, stderr } = await run;

    expect(exitCode, stderr).toBe(0);
    expect(clones.turnLines().toSorted()).toEqual(["f1.txt", "f2.txt", "limited"]);
    expect(stderr).toContain("2 verified in 2 iterations");
    expect(stderr).not.toContain("attempt 2");
    const commits = clones.run(root, ["git", "log", "--format=%s"]).split("\n").filter((one) => one.startsWith("feat"));
    expect(commits.toSorted()).toEqual(["feat: US-0001 - Write f1.txt", "feat: US-0002 - Write f2.txt"]);
  });

  test(
    "`pause` holds what is handed out next, `tell` reaches the next prompt, `stop --now` ends turns elsewhere",
    async () => {
      const clones = new Clones(3);
      onTestFinished(() => clones[Symbol.dispose]());
      const root = clones.clone();
      const say = async (...words: readonly string[]): Promise<void> => {
        const { exitCode, stderr } = await clones.ralph(root, words);
        expect(exitCode, stderr).toBe(0);
      };
      const go = (number: number): void => writeFileSync(join(clones.folder, `go-${number}`), "");
      const turns = (): number => clones.turns();
      void startWorker(clones, "steered", STEERED);
      const run = start(clones, root, "--parallel", "1");
      await expect.poll(turns, { interval: 100 }).toBe(1);
      await say("pause");
      await say("tell", "Write it in Latin");
      go(1);
      const landed = (): string => clones.run(root, ["git", "log", "--format=%s"]);
      await expect.poll(landed, { interval: 200 }).toContain("feat: US-0001");
      await sleep(2_000);
      expect(turns()).toBe(1);
      await say("resume");
      await expect.poll(turns, { interval: 100 }).toBe(2);
      const prompt = (number: number): string => readFileSync(join(clones.folder, `prompt-${number}`), "utf8");
      expect(prompt(1)).not.toContain("Latin");
      await expect.poll(() => prompt(2), { interval: 100 }).toContain("Write it in Latin"); // the turn is counted first

      const asked = performance.now();
      await say("stop", "--now");
      const stopped = await run;
      expect(stopped.exitCode, stopped.stderr).toBe(130);
      await sleep(Math.max(0, 12_000 - (performance.now() - asked))); // the worker hears of it at its next heartbeat
      go(2);
      await sleep(1_000);
      expect(existsSync(join(clones.folder, "ended-2"))).toBe(false);

      go(3);
      go(4);
      const again = await start(clones, root);
      expect(again.exitCode, `${again.stdout}${again.stderr}`).toBe(0);
      expect(turns()).toBe(4);
      const commits = landed().split("\n").filter((one) => one.startsWith("feat"));
      expect(commits.map((one) => one.slice(6, 13)).toSorted()).toEqual(["US-0001", "US-0002", "US-0003"]);
      expect(clones.refs()).toEqual([]);
      const place = join(clones.folder, "steered/project");
      const kept = clones.run(place, ["git", "for-each-ref", "--format=%(refname)", "refs/ralph/"]).trim().split("\n");
      // the one that was taken back, until it starts anew; and by what the next fetch knows which commits are here
      expect(kept).toEqual([expect.stringContaining("refs/ralph/jobs/"), "refs/ralph/seen"]);
      const known = clones.run(place, ["git", "rev-list", "--count", "refs/ralph/seen"]);
      expect(Number(known)).toBeGreaterThan(Number(clones.run(place, ["git", "rev-list", "--count", "origin/main"])));
    },
    180_000,
  );

  test(
    "results that wait to be landed when the run is stopped land in the next one, and no turn is paid again",
    async () => {
      const criterion = (file: string): string =>
        `Verify: \`test -f ${file} && until test -e "$GO" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done\``;
      const userStories = ["f1.txt", "f2.txt", "f3.txt"].map((file, index) => ({
        id: `US-000${index + 1}`,
        title: `Write ${file}`,
        acceptanceCriteria: [criterion(file)],
        priority: 1,
        passes: false,
        notes: "",
      }));
      const plan = JSON.stringify({ branchName: "main", userStories });
      const clones = new Clones(3, { "scripts/ralph/prd.json": plan });
      onTestFinished(() => clones[Symbol.dispose]());
      const root = clones.clone();
      const go = join(clones.folder, "go");
      const run = (): Promise<Ended> =>
        clones.ralph(root, ["run", "--ui", "plain"], { RALPH_QUEUE: postgres.url, GO: go });
      void startWorker(clones, "w", readFileSync(clones.agent, "utf8"), "--parallel", "3");
      const first = run();
      const fetched = (): number =>
        clones.run(root, ["git", "for-each-ref", "refs/ralph/attempts/"]).split("\n").filter((line) => line !== "")
          .length;
      await expect.poll(fetched, { interval: 100 }).toBe(3);

      const asked = await clones.ralph(root, ["stop", "--now"]);
      expect(asked.exitCode, asked.stderr).toBe(0);
      const stopped = await first;
      expect(stopped.exitCode, stopped.stderr).toBe(130);
      expect(clones.run(root, ["git", "log", "--format=%s"])).not.toContain("feat:");

      writeFileSync(go, "");
      const again = await run();
      expect(again.exitCode, `${again.stdout}${again.stderr}`).toBe(0);
      expect(clones.turnLines().toSorted()).toEqual(["f1.txt", "f2.txt", "f3.txt"]);
      const commits = clones.run(root, ["git", "log", "--format=%s"]).split("\n").filter((one) =>
        one.startsWith("feat")
      );
      expect(commits.map((one) => one.slice(6, 13)).toSorted()).toEqual(["US-0001", "US-0002", "US-0003"]);
      expect(clones.refs()).toEqual([]);
    },
  );

  test("a worker with `--sandbox` keeps its agent in the job's tree", IN_SANDBOX, async () => {
    const clones = new Clones(1, { "agent.sh": BURGLAR });
    onTestFinished(() => clones[Symbol.dispose]());
    const root = clones.clone();
    mkdirSync(join(clones.folder, "open"));
    void startWorker(clones, "shut", "", "--sandbox", "--agent-cmd", "sh agent.sh");
    const { exitCode, stdout, stderr } = await start(clones, root);

    expect(exitCode, `${stdout}${stderr}`).toBe(0);
    expect(readdirSync(clones.folder)).not.toContain("outside");
  });
});
