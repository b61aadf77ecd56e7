/**
 * Kills Ralph again and again until its work is done all the same: at moments spread evenly over a run, and right when
 * a file changes (a lock of git's, the journal, the PRD).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, type FSWatcher, mkdirSync, readFileSync, rmSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { checkAfterKill, checkWhenDone, newMemory } from "./kill_checks.ts";
import { differences, type Outcome, outcomeOf, unseenDamage } from "./kill_comparison.ts";
import { createKillProject, type KillProject } from "./kill_project.ts";
import { endCarriers, untilGone } from "./processes.ts";
import { STATE_FILE, type Workflow } from "./workflow_files.ts";

export interface StormOptions {
  /** @default "exec" */
  readonly workflow?: Workflow;
  readonly ralph: readonly string[];
  readonly kills: number;
  readonly items: number;
  /** The same work without a kill; it is compared with that. @default not compared */
  readonly wanted?: Outcome;
  /** @default 1 */
  readonly workers?: number;
  readonly random: () => number;
  readonly log?: (line: string) => void;
  /** Leave the folder behind when something fell short. */
  readonly keep?: boolean;
}

export interface StormResult {
  readonly kills: number;
  readonly starts: number;
  /** Agent turns that were begun. */
  readonly turns: number;
  readonly slowestEndMs: number;
  readonly wrong: readonly string[];
  /** The project's final state, if it came to its end. */
  readonly outcome: Outcome | null;
  readonly folder: string;
}

/** A start that works at its own speed for so long has hung. */
const LONGEST_START_MS = 60_000;
const GONE_WITHIN_MS = 3000;
const WATCHED = [".git", ".git/ralph", ".git/refs/heads", "src"];
const TARGETS = [
  /^index\.lock$/,
  /^HEAD/,
  /^main\.lock$/,
  /^index$/,
  /journal/,
  /git-intent/,
  /run\.lock/,
  /store\.lock/,
  /prd\.json|plan\.jsonl|PROGRESS\.yaml|ROADMAP\.md/,
  /progress|STATE\.md/,
  /^(US-|t-|step-|\d\d-)/,
];

/** One project, from its first story to its last, through at most `kills` kills. */
export async function killStorm(options: StormOptions): Promise<StormResult> {
  const { random, log = () => {} } = options;
  const project = createKillProject(options.workflow ?? "exec", options.items, options.workers);
  const memory = newMemory(project);
  const wrong: string[] = [];
  const gone: Promise<void>[] = [];
  let slowestEndMs = 0;
  let kills = 0;
  let starts = 0;
  let outcome: Outcome | null = null;
  try {
    for (;;) {
      starts += 1;
      const start = launch(project, options.ralph, starts);
      if (kills < options.kills) moment(project, start, random);
      const end = await start.end;
      if (end.killed) kills += 1;
      const ended = untilGone(`STORM_START=${process.pid}.${starts}`, GONE_WITHIN_MS).then((left) => {
        if (typeof left === "number") slowestEndMs = Math.max(slowestEndMs, left);
        else wrong.push(`start ${end.start}: left after ${GONE_WITHIN_MS} ms: ${left.join(" | ")}`);
      });
      gone.push(ended);
      const found = end.killed ? checkAfterKill(project, memory) : end.code === 0 ? checkWhenDone(project, memory) : [];
      wrong.push(...found.map((what) => `start ${starts} (${end.how}): ${what}`));
      if (!end.killed) {
        if (end.code !== 0) wrong.push(`start ${starts} ended by itself with ${end.code}: ${end.output.slice(-1500)}`);
        break;
      }
      log(`  start ${starts}: ${end.how}`);
      if (wrong.length > 0) break;
      if (random() < 0.5) await ended; // else the next start finds the last one's processes still at work
    }
    await Promise.all(gone);
    if (wrong.length === 0) {
      outcome = outcomeOf(project);
      const { wanted } = options;
      if (wanted !== undefined) wrong.push(...differences(outcome, wanted), ...unseenDamage(project, wanted));
    }
  } finally {
    for (let number = 1; number <= starts; number += 1) endCarriers(`STORM_START=${process.pid}.${number}`);
  }
  const turns = existsSync(join(project.storm, "turns")) ? countTurns(project) : 0;
  if (wrong.length === 0 || options.keep !== true) {
    rmSync(project.folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return { kills, starts, turns, slowestEndMs, wrong, outcome, folder: project.folder };
}

function countTurns(project: KillProject): number {
  return readFileSync(join(project.storm, "turns"), "utf8").split("\n").filter((line) => line.startsWith("start "))
    .length;
}

interface Started {
  readonly child: ChildProcess;
  readonly end: Promise<
    {
      readonly start: number;
      readonly killed: boolean;
      readonly code: number | null;
      readonly how: string;
      readonly output: string;
    }
  >;
  kill(how: string): void;
}

function launch(project: KillProject, ralph: readonly string[], start: number): Started {
  const [file = "", ...before] = ralph;
  const child = spawn(file, [...before, ...project.command], {
    cwd: project.root,
    env: project.environment(start),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let how = "ended by itself";
  const take = (chunk: Buffer): void => void (output = (output + chunk.toString("utf8")).slice(-8192));
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  const tooLong = setTimeout(() => kill("hung"), LONGEST_START_MS);
  function kill(why: string): void {
    if (child.exitCode !== null || child.signalCode !== null) return;
    how = why;
    child.kill("SIGKILL");
  }
  const end = new Promise<Awaited<Started["end"]>>((resolve) => {
    child.on("exit", (code, signal) => {
      clearTimeout(tooLong);
      const killed = signal === "SIGKILL" && how !== "hung";
      resolve({ start, killed, code: how === "hung" ? -1 : code, how, output });
    });
  });
  return { child, end, kill };
}

/** Chooses when this start is killed. */
function moment(project: KillProject, start: Started, random: () => number): void {
  if (random() < 0.5) {
    const longest = random() < 0.5 ? 600 : 3000;
    const after = Math.floor(random() * longest);
    void wait(after, undefined, { ref: false }).then(() => start.kill(`after ${after} ms`));
    return;
  }
  const target = TARGETS[Math.floor(random() * TARGETS.length)]!;
  let left = 1 + Math.floor(random() * 8);
  const delay = random() < 0.5 ? 0 : Math.floor(random() * 6);
  const watchers: FSWatcher[] = [];
  for (const folder of [...WATCHED, dirname(STATE_FILE[project.workflow])]) {
    mkdirSync(join(project.root, folder), { recursive: true });
    watchers.push(watch(join(project.root, folder), (_event, name) => {
      if (name === null || !target.test(String(name)) || --left !== 0) return;
      void wait(delay).then(() => start.kill(`${delay} ms after ${folder}/${name}`));
    }));
  }
  // A target that does not come often enough: killed by the clock.
  const latest = setTimeout(() => start.kill("after 3000 ms"), 3000);
  void start.end.then(() => {
    clearTimeout(latest);
    for (const watcher of watchers) watcher.close();
  });
}
