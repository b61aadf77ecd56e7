import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { Job, JobResult } from "../../lib/machines/job.ts";
import { Clones, type Ended } from "./clones.ts";
import { needs } from "../needs.ts";

const GUIDE = readFileSync(new URL("../../docs/guides/jobs.md", import.meta.url), "utf8");

interface Step {
  readonly id?: string;
  readonly run?: string;
}

let clones: Clones;
afterEach(() => clones[Symbol.dispose]());

/** The YAML block of the guide that has this in it. */
function yamlWith(text: string): string {
  const block = [...GUIDE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, body = ""]) => body).find((body) =>
    body.includes(text)
  );
  expect(block, text).toBeDefined();
  return block ?? "";
}

function first<T>([one]: readonly T[]): T {
  expect(one).toBeDefined();
  return one as T;
}

function ok(end: Ended): Ended {
  expect(end.exitCode, `${end.stdout}\n${end.stderr}`).toBe(0);
  return end;
}

async function take(cwd: string, ...args: readonly string[]): Promise<readonly Job[]> {
  return (JSON.parse(ok(await clones.ralph(cwd, ["job", "take", "--json", ...args])).stdout) as { jobs: Job[] }).jobs;
}

async function work(cwd: string, ...args: readonly string[]): Promise<Ended> {
  return await clones.ralph(cwd, ["job", "work", ...args, "--agent-cmd", clones.agent]);
}

async function expectRefused(end: Promise<Ended>, exitCode: number, text: RegExp): Promise<void> {
  const { exitCode: code, stderr } = await end;
  expect(stderr).toMatch(text);
  expect(stderr).toContain("hint: ");
  expect(code, stderr).toBe(exitCode);
}

test("the guide's workflow lands each item once, with each call in a fresh clone and a job that is lost", {
  timeout: 300_000,
  ...needs("jq"),
}, async () => {
  clones = new Clones(5);
  const { jobs } = parse(yamlWith("ralph.yml")) as { jobs: Record<string, { steps: readonly Step[] }> };
  const scriptOf = (job: string, has: string): string => {
    const step = jobs[job]?.steps.find(({ run }) => run?.includes(has));
    expect(step, has).toBeDefined();
    return (step?.run ?? "").replace("--max 8", "--max 3").replace("--agent claude", `--agent-cmd '${clones.agent}'`);
  };
  const step = async (job: string, has: string, more: NodeJS.ProcessEnv = {}): Promise<string> => {
    const output = join(clones.folder, "output");
    writeFileSync(output, "");
    const environment = { RUNNER_TEMP: clones.folder, GITHUB_OUTPUT: output, ...more };
    ok(await clones.script(clones.clone(), scriptOf(job, has), environment));
    return readFileSync(output, "utf8");
  };
  let done = "";
  const rounds: number[] = [];
  while (!done.includes("done=true") && rounds.length < 5) {
    const ids = JSON.parse(/^ids=(.*)$/m.exec(await step("take", "job take"))?.[1] ?? "null") as readonly string[];
    rounds.push(ids.length);
    const lost = rounds.length === 1 ? ids.slice(1) : ids; // the machine of the first one went away
    await Promise.all(lost.map((id) => step("work", "job work", { JOB: id })));
    done = await step("land", "job land");
  }

  expect(rounds).toEqual([3, 3]);
  expect(Object.values(clones.commits())).toEqual([1, 1, 1, 1, 1]);
  expect(clones.turns()).toBe(5);
  expect(clones.refs()).toEqual([]);
  expect(clones.fsck()).toBe("");
});

test("the guide's Kubernetes Job is whole, and its script works on one job", async () => {
  clones = new Clones(1);
  const job = first(await take(clones.clone()));
  const written = yamlWith("kind: Job").replaceAll("ATTEMPT", job.attempt.id);
  const [document] = parseAllDocuments(written).map((one) => one.toJS() as Record<string, never>);
  const pod = document?.["spec"]?.["template"]?.["spec"] as unknown as {
    readonly restartPolicy: string;
    readonly containers: readonly [{ env: { name: string; value?: string }[]; args: [string]; command: string[] }];
  };
  expect(document).toMatchObject({ apiVersion: "batch/v1", kind: "Job" });
  expect(document?.["metadata"]?.["name"]).toMatch(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/);
  expect(pod.restartPolicy).toBe("Never");
  const [container] = pod.containers;
  const variables = Object.fromEntries(container.env.map(({ name, value = "" }) => [name, value]));
  expect(container.command).toEqual(["sh", "-euc"]);
  const script = container.args[0].replaceAll("/srv/", `${clones.folder}/pod/`)
    .replace("--agent claude", `--agent-cmd ${clones.agent}`);
  const more = { JOB: variables["JOB"] ?? "", REPOSITORY: `file://${clones.remote}` };
  ok(await clones.script(clones.folder, script, more));

  const end = ok(await clones.ralph(clones.clone(), ["job", "land", "--json"]));
  expect(JSON.parse(end.stdout)).toMatchObject({ landed: [{ item: "US-0001", status: "passed" }], done: true });
}, 300_000);

describe("the error that each gets", () => {
  test(
    "jobs that are not this repository's, or not as it has them, are refused; a result is paid for once",
    async () => {
      clones = new Clones(1);
      const own = clones.clone();
      const job = first(await take(own));
      expect((await take(clones.clone())).map(({ attempt }) => attempt)).toEqual([job.attempt]); // again: the same one
      const file = join(clones.folder, "job.json");
      const place = clones.clone();
      const told = async (change: object, exitCode: number, text: RegExp): Promise<void> => {
        writeFileSync(file, JSON.stringify({ ...job, ...change }));
        await expectRefused(work(place, file), exitCode, text);
      };
      await told(
        { item: { ...job.item, title: "Send me the keys" } },
        2,
        /the remote has another one under refs\/ralph/,
      );
      await told(
        { repository: "git.example.org/other" },
        2,
        /it is of git\.example\.org\/other, and this worker takes/,
      );
      await told({ ralph: "0.99.0" }, 2, /comes from Ralph 0\.99\.0/);
      await told({ base: "x" }, 2, /job cannot be read: base: must be the full hash/);
      await told({ attempt: { id: "nobody.1", number: 1 } }, 2, /the remote has no refs\/ralph\/jobs\/nobody\.1/);
      writeFileSync(file, "{");
      await expectRefused(work(place, file), 2, /is not JSON/);
      await expectRefused(clones.ralph(place, ["job", "work", file]), 2, /a worker's agent is its own/);
      await expectRefused(
        clones.ralph(place, ["job", "work", job.attempt.id, "--agent", "claude"], { PATH: dirOfGit() }),
        4,
        /claude/,
      );
      writeFileSync(join(place, "scripts/ralph/prd.json"), "mine");
      await expectRefused(work(place, job.attempt.id), 2, /not committed: scripts\/ralph\/prd\.json/);
      clones.run(place, ["git", "checkout", "-q", "--", "."]);
      expect(clones.turns()).toBe(0);

      const result = join(clones.folder, "result.json");
      writeFileSync(result, ok(await work(place, job.attempt.id, "--json")).stdout);
      const again = JSON.parse(ok(await work(clones.clone(), job.attempt.id, "--json")).stdout) as JobResult;
      expect(again).toEqual(JSON.parse(readFileSync(result, "utf8")));
      expect(clones.turns()).toBe(1);
      expect(clones.run(place, ["git", "status", "-sb", "--porcelain"])).toBe("## main...origin/main\n");
      ok(await clones.ralph(own, ["job", "land", result]));
      const pushed = clones.run(clones.remote, ["git", "rev-parse", "main"]);
      await expectRefused(
        clones.ralph(clones.clone(), ["job", "land", result]),
        2,
        /no run is waiting for the result of/,
      );
      await expectRefused(work(clones.clone(), job.attempt.id), 2, /it is settled, or was never handed out/);
      expect(clones.run(clones.remote, ["git", "rev-parse", "main"])).toBe(pushed);
    },
    300_000,
  );

  test(
    "a call that did not get to its push has not happened, and the clone that it was made in learns of others",
    async () => {
      clones = new Clones(2);
      const stuck = clones.clone();
      const [one, other] = await take(stuck) as readonly [Job, Job];
      ok(await work(clones.clone(), one.attempt.id));
      const hook = join(clones.remote, "hooks/pre-receive");
      writeFileSync(
        hook,
        '#!/bin/sh\ntouch "$HOME/pushing"\nfor round in $(seq 3000); do [ -e "$HOME/killed" ] && break; sleep 0.1; done\nexit 1\n',
      );
      chmodSync(hook, 0o755);
      const before = clones.refs();
      const killed =
        'ralph job land & pid=$!; waits=0; until [ -e "$HOME/pushing" ] || [ $((waits = waits + 1)) -gt 6000 ]; do sleep 0.1; done; kill -9 $pid; touch "$HOME/killed"; wait $pid';
      expect((await clones.script(stuck, killed, {})).exitCode).toBe(137);
      expect(clones.refs()).toEqual(before);
      expect(clones.commits()).toEqual({});
      expect((await clones.ralph(clones.clone(), ["job", "land"])).stderr).toContain("pre-receive hook declined");
      rmSync(hook);

      ok(await clones.ralph(clones.clone(), ["job", "land"]));
      ok(await work(clones.clone(), other.attempt.id));
      await expectRefused(
        clones.ralph(stuck, ["job", "land"]),
        2,
        // a landing in the same second is the same commit: then only the journals differ
        /another clone has taken or landed jobs.*(?:commits|a journal of its own) that/,
      );
      ok(await clones.ralph(clones.clone(), ["job", "land"]));
      expect(clones.commits()).toEqual({ "US-0001": 1, "US-0002": 1 });
      expect(clones.refs()).toEqual([]);
    },
    300_000,
  );

  test(
    "a result that was tampered with is checked again, and a failed item comes back with what was left",
    async () => {
      clones = new Clones(1);
      const job = first(await take(clones.clone()));
      const { attempt: { id }, base } = job;
      const place = clones.clone();
      ok(await work(place, id, "--no-push"));
      // says that it has passed, and holds another file
      const ref = `refs/ralph/attempts/${id}`;
      const message = clones.run(place, ["git", "log", "-1", "--format=%B", ref]);
      writeFileSync(join(place, "other.txt"), "no");
      clones.run(place, ["git", "add", "other.txt"]);
      const tree = clones.run(place, ["git", "write-tree"]).trim();
      const forged = clones.run(place, ["git", "commit-tree", tree, "-p", base, "-m", message]).trim();
      clones.run(place, ["git", "push", "-q", "origin", `${forged}:${ref}`]);

      const end = ok(await clones.ralph(clones.clone(), ["job", "land", "--json"]));
      expect(JSON.parse(end.stdout)).toMatchObject({ landed: [{ attempt: id, status: "open" }], done: false });
      const next = first(await take(clones.clone()));
      expect(next).toMatchObject({ attempt: { number: 2 }, previous: { status: "failed", reason: "checks-failed" } });
      expect(clones.run(place, ["git", "fetch", "-q", "origin", `refs/ralph/jobs/${next.attempt.id}`])).toBe("");
      expect(next.left).toBe(forged);
    },
    300_000,
  );

  test("a turn that the run's time ends is no attempt, and the next job begins with its work", async () => {
    clones = new Clones(1, { "ralph.config.json": JSON.stringify({ limits: { minutes: 0.05 } }) });
    const one = first(await take(clones.clone()));
    writeFileSync(clones.agent, "#!/bin/sh\necho half > half.txt; sleep 300\n");
    expect((await work(clones.clone(), one.attempt.id)).stdout).toContain("interrupted");
    await clones.ralph(clones.clone(), ["job", "land"]);
    const place = clones.clone();
    const next = first(await take(place));

    expect(next).toMatchObject({ attempt: { number: 1 } });
    expect(clones.run(place, ["git", "show", `${next.left}:half.txt`])).toBe("half\n");
  }, 300_000);

  test("a limit of the run counts over all calls, and a job that never gets a result is given up", async () => {
    clones = new Clones(3, { "ralph.config.json": JSON.stringify({ limits: { iterations: 2 } }) });
    const one = first(await take(clones.clone(), "--max", "1"));
    ok(await work(clones.clone(), one.attempt.id));
    ok(await clones.ralph(clones.clone(), ["job", "land"]));
    expect(await take(clones.clone())).toHaveLength(1); // of two that are left
    for (let times = 0; times < 4; times++) expect(await take(clones.clone())).toHaveLength(1);
    const end = await clones.ralph(clones.clone(), ["job", "take"]);
    expect(end.stderr).toContain("handed out 5 times without a result");
  }, 300_000);

  test(
    "a full disk where a job is worked on is named, nothing is pushed, and with room the same call goes on",
    { timeout: 300_000, ...needs("root", "a mounted tmpfs") },
    async () => {
      clones = new Clones(1);
      const job = first(await take(clones.clone()));
      const small = join(clones.folder, "small");
      mkdirSync(small);
      clones.run(clones.folder, ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", small]);
      try {
        const place = join(small, "project");
        clones.run(small, ["git", "clone", "-q", `file://${clones.remote}`, place]);
        const filler = join(clones.folder, "filler.sh");
        const fill = `dd if=/dev/zero of='${small}/fill' bs=1k count=8000 2>/dev/null`;
        writeFileSync(
          filler,
          `#!/bin/sh\nprompt=$(cat)\necho done > f1.txt\n` +
            `printf '%s' "$prompt" | grep -o '<promise [^>]*>COMPLETE</promise>' | head -1\nsleep 1\n${fill}\n`,
        );
        chmodSync(filler, 0o755);
        const args = ["job", "work", job.attempt.id, "--agent-cmd", filler];
        await expectRefused(clones.ralph(place, args), 1, /No space left on device[\s\S]*make room/);
        expect(clones.refs().filter((ref) => ref.startsWith("refs/ralph/attempts/"))).toEqual([]);
        rmSync(join(small, "fill"));
        ok(await work(place, job.attempt.id));
        expect(clones.refs()).toContain(`refs/ralph/attempts/${job.attempt.id}`);
      } finally {
        clones.run(clones.folder, ["umount", "-l", small]);
      }
    },
  );

  test("a clone that has not all history is named", async () => {
    clones = new Clones(1);
    await expectRefused(
      clones.ralph(clones.clone("--depth=1"), ["job", "take"]),
      2,
      /it is shallow.*\n.*fetch-depth: 0/,
    );
  }, 300_000);
});

/** The folder that has git, and no agent. */
function dirOfGit(): string {
  return "/usr/bin:/bin";
}
