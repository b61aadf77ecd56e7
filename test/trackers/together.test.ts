import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { gitIn } from "../repository.ts";
import { LONG } from "../sampled.ts";
import { type GithubServer, githubServer } from "./github_server.ts";
import { type Farm, farm, type Running, start } from "./run.ts";

const RUN = ["run", "--tracker", "github", "--ui", "plain"];

interface Trial {
  readonly runners: number;
  readonly issues: number;
  readonly kills: number;
  /** Seconds. */
  readonly heartbeat: number;
  readonly seed: number;
  readonly limitMs: number;
}

/** A stream of numbers from 0 to 1. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every third call fails, some of them after the server has done what it was asked for. */
function failures(random: () => number): GithubServer["fail"] {
  return () => {
    if (random() > 1 / 3) return null;
    const status = [403, 429, 500][Math.floor(random() * 3)]!;
    return { status, after: status === 500 && random() < 0.5 };
  };
}

/** Runners that are started again until every issue is up for review. @returns what the last runs printed */
async function work(
  server: GithubServer,
  place: Farm,
  { runners, kills, heartbeat, limitMs }: Trial,
  random: () => number,
): Promise<string> {
  const clones = Array.from({ length: runners }, (_, index) => place.clone(`runner-${index}`, { heartbeat }));
  const end = Date.now() + limitMs;
  const running = new Map<string, Running>();
  const ended: string[] = [];
  let killed = 0;
  const done = (): number =>
    [...server.issues.values()].filter(({ labels }) => labels.includes("ralph: in review")).length;
  const isDone = (): boolean => done() === server.issues.size;
  const outboxes = (): string => clones.map((clone) => outboxOf(clone)).join("");
  while (Date.now() < end && !(isDone() && outboxes().replaceAll("[]", "") === "" && running.size === 0)) {
    for (const clone of clones) {
      if (running.has(clone) || (isDone() && outboxes().replaceAll("[]", "") === "")) continue;
      const one = start(place, clone, RUN, { TURN_SECONDS: "0.2" });
      running.set(clone, one);
      void one.end.then(({ out }) => {
        ended.push(`${clone}:\n${out}`);
        running.delete(clone);
      });
    }
    await sleep(300 + random() * 900);
    const victims = [...running.values()];
    const victim = victims[Math.floor(random() * victims.length)];
    // from the first issue to the last one
    if (killed < Math.min(kills, kills * (done() + runners) / server.issues.size) && victim !== undefined) {
      killed += 1;
      process.kill(victim.pid, "SIGKILL");
    }
  }
  for (const one of running.values()) process.kill(one.pid, "SIGKILL");
  return ended.slice(-2 * runners).join("\n");
}

function outboxOf(clone: string): string {
  try {
    return readFileSync(join(clone, ".git/ralph/tracker-outbox.json"), "utf8");
  } catch {
    return "";
  }
}

async function trial(given: Trial): Promise<void> {
  await using server = await githubServer();
  using place = farm(server.url);
  const random = chance(given.seed);
  for (let number = 1; number <= given.issues; number += 1) server.add({ number, title: `Add ${number}` });
  server.fail = failures(random);
  const said = await work(server, place, given, random);

  const all = [...server.issues.keys()];
  const hint = `seed ${given.seed}\n${said}`;
  const branches = place.remote("for-each-ref", "--format=%(refname)", "refs/heads/ralph/").trim().split("\n");
  const bodies = branches.flatMap((branch) => place.remote("log", "--format=%b", `main..${branch}`).split("\n"));
  const closes = bodies.filter((line) => line.startsWith("Closes #")).map((line) =>
    Number(line.slice("Closes #".length))
  );
  expect(closes.toSorted((one, other) => one - other), hint).toEqual(all);
  expect(server.comments.map(({ issue }) => issue).toSorted((one, other) => one - other), hint).toEqual(all);
  expect(server.comments.every(({ body }) => body.includes("Done in")), hint).toBe(true);
  expect([...server.issues.values()].map(({ state, labels }) => [state, ...labels]), hint)
    .toEqual(all.map(() => ["OPEN", "ralph", "ralph: in review"]));
  expect(server.closed).toEqual([]);
  expect(place.remote("fsck", "--no-dangling")).toBe("");
  for (let index = 0; index < given.runners; index += 1) {
    const clone = join(place.folder, `runner-${index}`);
    expect(gitIn(clone)("fsck", "--no-dangling")).toBe("");
    expect(["", "[]"]).toContain(outboxOf(clone));
  }
}

test(
  "two runners, kills, a third of all calls failing: each issue is worked on once, told once, and none is closed",
  async () => {
    await trial({ runners: 2, issues: 6, kills: 4, heartbeat: 300, seed: Date.now() % 100_000, limitMs: 300_000 });
  },
  180_000,
);

/** Runners, issues, kills and seconds between heartbeats of the long trial. */
const [RUNNERS = 10, ISSUES = 60, KILLS = 60, HEARTBEAT = 300] =
  process.env["RALPH_TRACKERS"]?.split(",").map(Number) ?? [];

test.runIf(LONG)(`${RUNNERS} runners on ${ISSUES} issues, ${KILLS} kills`, async () => {
  const limitMs = ISSUES * 25_000;
  const seed = Date.now() % 100_000;
  await trial({ runners: RUNNERS, issues: ISSUES, kills: KILLS, heartbeat: HEARTBEAT, seed, limitMs });
}, ISSUES * 26_000);
