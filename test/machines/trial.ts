/** A coordinator and workers, each a process in a clone of its own, over one bare remote and one PostgreSQL. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Postgres } from "./postgres.ts";
import { childrenOf, type Cpu, cpuOf, cpuOfTree, peakMiB, privateMiB, sum } from "./usage.ts";

/** A blow to one of them, so long after the start. */
export interface Blow {
  readonly afterMs: number;
  readonly to: "coordinator" | "database" | number;
  /** `freeze`: for so many milliseconds. */
  readonly how: "kill" | { readonly freeze: number };
}

export interface TrialOptions {
  /** The program and its first arguments. */
  readonly ralph: readonly string[];
  /** A shell script: writes the file of its story, and a line to `$TURNS`. */
  readonly agent: string;
  readonly items: number;
  readonly workers: number;
  /** The duration of the agent's turn: `$AGENT_SECONDS`. @default 0 */
  readonly seconds?: number;
  /** @default none */
  readonly blows?: readonly Blow[];
  readonly postgres: Postgres;
  /** The limit of the whole trial. */
  readonly limitMs: number;
  readonly onSample?: (sample: Sample) => void;
}

export interface TrialEnd {
  readonly exitCode: number | null;
  readonly seconds: number;
  /** Item ids in the order of the agents' turns. */
  readonly turns: readonly string[];
  /** How often each item was committed. */
  readonly commits: Readonly<Record<string, number>>;
  readonly passed: number;
  /** Refs of the remote other than its branch. */
  readonly refs: readonly string[];
  /** `git fsck` of the remote and the coordinator's clone. */
  readonly fsck: string;
  readonly status: string;
  /** Refs of the remote that anyone has pushed to, each once, with digits as `N`. */
  readonly pushed: readonly string[];
  /** Most memory of one process, in MiB; of PostgreSQL that of all of its processes which no other shares. */
  readonly workerMiB: number;
  readonly coordinatorMiB: number;
  readonly databaseMiB: number;
  readonly coordinatorCpu: Cpu;
  readonly workersCpu: Cpu;
  /** Seconds, with its processes. */
  readonly databaseCpu: number;
  /** Commits of the branch after so many seconds. */
  readonly samples: readonly Sample[];
  /** The output of the coordinator and the workers. */
  readonly log: string;
}

export interface Sample {
  readonly seconds: number;
  readonly commits: number;
}

/** Samples are taken so often. */
const SAMPLE_MS = 5_000;

/** Records each push at the remote. */
const RECEIVED = `#!/bin/sh
while read -r _ _ ref; do echo "$ref"; done >> ../pushed
`;

/** Runs a trial to its end. */
export async function runTrial(options: TrialOptions): Promise<TrialEnd> {
  const trial = new Trial(options);
  try {
    return await trial.run();
  } finally {
    trial.close();
  }
}

class Trial {
  readonly #options: TrialOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "ralph-machines-"));
  readonly #workers = new Map<number, ChildProcess>();
  #coordinator: ChildProcess | null = null;
  #exitCode: number | null | undefined = undefined;
  #ended = false;
  #workerMiB = 0;
  #coordinatorMiB = 0;
  #databaseMiB = 0;
  /** Seconds, by process. */
  readonly #cpu = new Map<number, Cpu>();
  readonly #samples: Sample[] = [];

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  async run(): Promise<TrialEnd> {
    this.#prepare();
    const { workers, blows = [], limitMs } = this.#options;
    const started = performance.now();
    for (let index = 0; index < workers; index++) this.#startWorker(index);
    this.#startCoordinator();
    const blown = Promise.all(blows.map((blow) => this.#strike(blow)));
    while (this.#exitCode === undefined && performance.now() - started < limitMs) {
      this.#measure();
      this.#sample(performance.now() - started);
      await sleep(250);
    }
    const seconds = (performance.now() - started) / 1000;
    await blown;
    await this.#settle();
    return this.#end(seconds);
  }

  close(): void {
    this.#ended = true;
    for (const child of [...this.#workers.values(), this.#coordinator]) {
      if (child?.pid !== undefined) signal(child, "SIGKILL");
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #git(cwd: string, ...args: readonly string[]): string {
    return execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      env: this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  #environment(): NodeJS.ProcessEnv {
    const identity = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.com" };
    return {
      ...process.env,
      ...identity,
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@example.com",
      GIT_CONFIG_GLOBAL: "/dev/null",
      HOME: this.#folder,
      XDG_CACHE_HOME: join(this.#folder, "cache"),
      RALPH_QUEUE: this.#options.postgres.url,
      TURNS: join(this.#folder, "turns"),
      AGENT_SECONDS: String(this.#options.seconds ?? 0),
    };
  }

  #prepare(): void {
    const root = join(this.#folder, "clone");
    this.#git(this.#folder, "init", "-q", "--bare", "-b", "main", "remote.git");
    this.#git(this.#folder, "clone", "-q", "remote.git", "clone");
    this.#git(root, "symbolic-ref", "HEAD", "refs/heads/main");
    mkdirSync(join(root, "scripts/ralph"), { recursive: true });
    const userStories = Array.from({ length: this.#options.items }, (_, index) => ({
      id: `US-${String(index + 1).padStart(4, "0")}`,
      title: `Write f${index + 1}.txt`,
      acceptanceCriteria: [`Verify: \`test -f f${index + 1}.txt\``],
      priority: 1,
      passes: false,
      notes: "",
    }));
    writeFileSync(join(root, "scripts/ralph/prd.json"), JSON.stringify({ branchName: "main", userStories }, null, 2));
    this.#git(root, "add", "-A");
    this.#git(root, "commit", "-qm", "start");
    this.#git(root, "push", "-q", "origin", "main");
    const agent = join(this.#folder, "agent.sh");
    const hook = join(this.#folder, "remote.git/hooks/post-receive");
    for (const [file, text] of [[agent, this.#options.agent], [hook, RECEIVED]] as const) {
      writeFileSync(file, text);
      chmodSync(file, 0o755);
    }
    writeFileSync(join(this.#folder, "pushed"), "");
    writeFileSync(join(this.#folder, "turns"), "");
  }

  #start(name: string, cwd: string, args: readonly string[]): ChildProcess {
    const [program = "", ...first] = this.#options.ralph;
    const child = spawn(program, [...first, ...args], {
      cwd,
      env: this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const keep = (chunk: Buffer): void => appendFileSync(join(this.#folder, "log"), `${name}: ${chunk.toString()}`);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    return child;
  }

  #startWorker(index: number): void {
    if (this.#ended) return;
    const remote = `file://${join(this.#folder, "remote.git")}`;
    const agent = join(this.#folder, "agent.sh");
    // one that is killed comes again with another name, as on a cluster
    const name = `w${index}-${Math.trunc(performance.now())}`;
    const directory = join(this.#folder, `w${index}`);
    const args = ["worker", "--repository", remote, "--name", name, "--directory", directory, "--agent-cmd", agent];
    this.#workers.set(index, this.#start(name, this.#folder, args));
  }

  #startCoordinator(): void {
    if (this.#ended) return;
    const child = this.#start("coordinator", join(this.#folder, "clone"), ["run", "--ui", "plain"]);
    this.#coordinator = child;
    child.on("exit", (code, by) => {
      if (by === "SIGKILL") setTimeout(() => this.#startCoordinator(), 1_000);
      else this.#exitCode = code;
    });
  }

  async #strike({ afterMs, to, how }: Blow): Promise<void> {
    await sleep(afterMs);
    if (this.#exitCode !== undefined) return;
    if (to === "database") {
      this.#options.postgres.down("immediate");
      await sleep(1_500);
      this.#options.postgres.up();
      return;
    }
    const child = to === "coordinator" ? this.#coordinator : this.#workers.get(to);
    if (child === null || child === undefined) return;
    if (how !== "kill") {
      signal(child, "SIGSTOP");
      await sleep(how.freeze);
      signal(child, "SIGCONT");
      return;
    }
    child.kill("SIGKILL"); // its children are the watchdog's
    if (typeof to === "number") setTimeout(() => this.#startWorker(to), 1_000);
  }

  #measure(): void {
    for (const { pid } of [...this.#workers.values(), ...this.#coordinator === null ? [] : [this.#coordinator]]) {
      if (pid === undefined) continue;
      const cpu = cpuOf(pid);
      if (cpu.own > 0) this.#cpu.set(pid, cpu);
      if (pid === this.#coordinator?.pid) this.#coordinatorMiB = Math.max(this.#coordinatorMiB, peakMiB(pid));
      else this.#workerMiB = Math.max(this.#workerMiB, peakMiB(pid));
    }
  }

  /** Looks at the values that take longer. */
  #sample(elapsedMs: number): void {
    if (elapsedMs < this.#samples.length * SAMPLE_MS) return;
    const commits = Number(this.#git(join(this.#folder, "clone"), "rev-list", "--count", "HEAD"));
    this.#samples.push({ seconds: elapsedMs / 1000, commits });
    const processes = childrenOf(this.#options.postgres.pid);
    this.#databaseMiB = Math.max(this.#databaseMiB, sum(processes.map(privateMiB)));
    this.#options.onSample?.({ seconds: elapsedMs / 1000, commits });
  }

  /**
   * Waits until the files that are looked at afterwards do not change any more: git packs its own in the background.
   */
  async #settle(): Promise<void> {
    this.#ended = true;
    for (const child of [...this.#workers.values(), this.#coordinator]) if (child !== null) signal(child, "SIGKILL");
    const packs = ["remote.git/gc.pid", "clone/.git/gc.pid"].map((path) => join(this.#folder, path));
    for (let waited = 0; waited < 120 && packs.some((path) => existsSync(path)); waited++) await sleep(1_000);
  }

  #cpuOf(children: readonly (ChildProcess | null)[]): Cpu {
    const used = children.map((child) => this.#cpu.get(child?.pid ?? 0) ?? { own: 0, children: 0 });
    return { own: sum(used.map(({ own }) => own)), children: sum(used.map((one) => one.children)) };
  }

  #end(seconds: number): TrialEnd {
    const root = join(this.#folder, "clone");
    const remote = join(this.#folder, "remote.git");
    const commits: Record<string, number> = {};
    for (const subject of this.#git(root, "log", "--format=%s").split("\n")) {
      const id = /^feat: (US-\d+)/.exec(subject)?.[1];
      if (id !== undefined) commits[id] = (commits[id] ?? 0) + 1;
    }
    const prd = JSON.parse(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")) as {
      readonly userStories: readonly { readonly passes: boolean }[];
    };
    const pushed = readFileSync(join(this.#folder, "pushed"), "utf8").split("\n");
    return {
      exitCode: this.#exitCode ?? null,
      seconds,
      turns: readFileSync(join(this.#folder, "turns"), "utf8").split("\n").filter((line) => line !== ""),
      commits,
      passed: prd.userStories.filter(({ passes }) => passes).length,
      refs: this.#git(remote, "for-each-ref", "--format=%(refname)").split("\n")
        .filter((ref) => ref !== "" && ref !== "refs/heads/main"),
      pushed: [...new Set(pushed.map((ref) => ref.replaceAll(/\d+/g, "N")))].filter((ref) => ref !== ""),
      fsck: this.#git(remote, "fsck", "--no-progress", "--no-dangling") +
        this.#git(root, "fsck", "--no-progress", "--no-dangling"),
      status: this.#git(root, "status", "--porcelain"),
      workerMiB: Math.round(this.#workerMiB),
      coordinatorMiB: Math.round(this.#coordinatorMiB),
      databaseMiB: Math.round(this.#databaseMiB),
      coordinatorCpu: this.#cpuOf([this.#coordinator]),
      workersCpu: this.#cpuOf([...this.#workers.values()]),
      databaseCpu: cpuOfTree(this.#options.postgres.pid),
      samples: this.#samples,
      log: readFileSync(join(this.#folder, "log"), "utf8"),
    };
  }
}

/** The process and all that it started in its group. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), name);
  } catch {
    // it has ended
  }
}
