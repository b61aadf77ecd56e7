/** A coordinator and workers, each a process in a clone of its own, over one bare remote and one PostgreSQL. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ARTEFACT } from "../e2e/cli.ts";
import { STORY_AGENT } from "./clones.ts";
import type { Postgres } from "./postgres.ts";

/** What happens to whom, so long after the start. */
export interface Blow {
  readonly afterMs: number;
  readonly to: "coordinator" | "database" | number;
  /** `freeze`: for so many milliseconds. */
  readonly how: "kill" | { readonly freeze: number };
}

export interface TrialOptions {
  readonly items: number;
  readonly workers: number;
  /** Of the agent's turn. */
  readonly seconds: number;
  readonly blows: readonly Blow[];
  readonly postgres: Postgres;
  /** Of the whole trial. */
  readonly limitMs: number;
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
  /** Most memory of one process, in MiB. */
  readonly workerMiB: number;
  readonly coordinatorMiB: number;
  /** Seconds of CPU, children included. */
  readonly coordinatorCpu: number;
  readonly workersCpu: number;
  readonly databaseCpu: number;
  /** What the coordinator and the workers said. */
  readonly log: string;
}

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
  /** Seconds, by process. */
  readonly #cpu = new Map<number, number>();
  #coordinatorMiB = 0;

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  async run(): Promise<TrialEnd> {
    this.#prepare();
    const { workers, blows, limitMs } = this.#options;
    const started = performance.now();
    for (let index = 0; index < workers; index++) this.#startWorker(index);
    this.#startCoordinator();
    const blown = Promise.all(blows.map((blow) => this.#strike(blow)));
    while (this.#exitCode === undefined && performance.now() - started < limitMs) {
      this.#measure();
      await sleep(250);
    }
    const seconds = (performance.now() - started) / 1000;
    await blown;
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
      AGENT_SECONDS: String(this.#options.seconds),
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
    writeFileSync(agent, STORY_AGENT);
    chmodSync(agent, 0o755);
    writeFileSync(join(this.#folder, "turns"), "");
  }

  #start(name: string, cwd: string, args: readonly string[]): ChildProcess {
    const [program = "", ...first] = ARTEFACT;
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
    for (const child of [...this.#workers.values(), this.#coordinator]) {
      if (child?.pid !== undefined) this.#cpu.set(child.pid, cpuSeconds(child.pid) || (this.#cpu.get(child.pid) ?? 0));
    }
    for (const child of this.#workers.values()) this.#workerMiB = Math.max(this.#workerMiB, memoryOf(child));
    if (this.#coordinator !== null) this.#coordinatorMiB = Math.max(this.#coordinatorMiB, memoryOf(this.#coordinator));
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
    return {
      exitCode: this.#exitCode ?? null,
      seconds,
      turns: readFileSync(join(this.#folder, "turns"), "utf8").split("\n").filter((line) => line !== ""),
      commits,
      passed: prd.userStories.filter(({ passes }) => passes).length,
      refs: this.#git(remote, "for-each-ref", "--format=%(refname)").split("\n")
        .filter((ref) => ref !== "" && ref !== "refs/heads/main"),
      fsck: this.#git(remote, "fsck", "--no-progress", "--no-dangling") +
        this.#git(root, "fsck", "--no-progress", "--no-dangling"),
      status: this.#git(root, "status", "--porcelain"),
      workerMiB: Math.round(this.#workerMiB),
      coordinatorMiB: Math.round(this.#coordinatorMiB),
      coordinatorCpu: this.#cpu.get(this.#coordinator?.pid ?? 0) ?? 0,
      workersCpu: [...this.#workers.values()].reduce((sum, { pid }) => sum + (this.#cpu.get(pid ?? 0) ?? 0), 0),
      databaseCpu: cpuSeconds(this.#options.postgres.pid, true),
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

function memoryOf(child: ChildProcess): number {
  try {
    const text = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Its own and of the children that it has waited for; with those that live, where these are asked for. */
function cpuSeconds(pid: number, withChildren = false): number {
  try {
    const of = (one: number | string): readonly string[] =>
      readFileSync(`/proc/${one}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    const own = of(pid).slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
    if (!withChildren) return own;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.reduce(
      (sum, child) => sum + of(child).slice(11, 15).reduce((all, ticks) => all + Number(ticks), 0) / 100,
      own,
    );
  } catch {
    return 0; // it has ended
  }
}
