/** A bare remote with a plan of stories, clones of it, and Ralph as a process in them. */
import { endWorkersIn } from "../fault/processes.ts";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ARTEFACT } from "../e2e/cli.ts";
import { skipWithout } from "../skip_without.ts";

/** A command left this behind. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Writes the file that a story's check asks for; `$TURNS` has a line for each turn. */
export const STORY_AGENT = `#!/bin/sh
prompt=$(cat)
file=$(printf '%s' "$prompt" | grep -o 'test -f f[0-9]*.txt' | head -1 | cut -d' ' -f3)
echo "$file" >> "$TURNS"
sleep "\${AGENT_SECONDS:-0}"
echo done > "$file"
printf '%s' "$prompt" | grep -o '<promise [^>]*>COMPLETE</promise>' | head -1
`;

export class Clones implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ralph-jobs-"));
  readonly remote: string = join(this.folder, "remote.git");
  readonly agent: string = join(this.folder, "agent.sh");
  /** Outside of HOME: what a confined turn writes there is set aside. */
  readonly #notes: string = mkdtempSync(join(tmpdir(), "ralph-turns-"));
  #made = 0;

  /** @param stories of the plan; 0: there is none @param files beside it */
  constructor(stories: number, files: Readonly<Record<string, string>> = {}) {
    this.run(this.folder, ["git", "init", "-q", "--bare", "-b", "main", "remote.git"]);
    const root = this.clone();
    this.run(root, ["git", "symbolic-ref", "HEAD", "refs/heads/main"]);
    const userStories = Array.from({ length: stories }, (_, index) => ({
      id: `US-${String(index + 1).padStart(4, "0")}`,
      title: `Write f${index + 1}.txt`,
      acceptanceCriteria: [`Verify: \`test -f f${index + 1}.txt\``],
      priority: 1,
      passes: false,
      notes: "",
    }));
    const plan = JSON.stringify({ branchName: "main", userStories }, null, 2);
    for (const [path, text] of Object.entries({ ...stories > 0 ? { "scripts/ralph/prd.json": plan } : {}, ...files })) {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    this.run(root, ["git", "add", "-A"]);
    this.run(root, ["git", "commit", "-qm", "start"]);
    this.run(root, ["git", "push", "-q", "origin", "main"]);
    writeFileSync(this.agent, STORY_AGENT);
    chmodSync(this.agent, 0o755);
    writeFileSync(join(this.#notes, "turns"), "");
  }

  get environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@example.com",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@example.com",
      GIT_CONFIG_GLOBAL: "/dev/null",
      HOME: this.folder,
      XDG_CACHE_HOME: join(this.folder, "cache"),
      TURNS: join(this.#notes, "turns"),
    };
  }

  /** A fresh clone. @returns its path */
  clone(...more: readonly string[]): string {
    const path = join(this.folder, `c${this.#made++}`, "project");
    mkdirSync(join(path, ".."));
    this.run(this.folder, ["git", "clone", "-q", ...more, `file://${this.remote}`, path]);
    return path;
  }

  run(cwd: string, [file = "", ...args]: readonly string[]): string {
    return execFileSync(file, args, {
      cwd,
      encoding: "utf8",
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Runs Ralph to its end. */
  async ralph(
    cwd: string,
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
    stop?: AbortSignal,
  ): Promise<Ended> {
    return await this.#ended(cwd, [...ARTEFACT, ...args], more, stop);
  }

  /** Starts Ralph, for a test that kills it; what it prints is nobody's. */
  killable(cwd: string, [...args]: readonly string[], more: NodeJS.ProcessEnv): ChildProcess {
    const [file = "", ...before] = ARTEFACT;
    return spawn(file, [...before, ...args], { cwd, env: { ...this.environment, ...more }, stdio: "ignore" });
  }

  /** Runs a shell script in which `ralph` is on PATH. */
  async script(cwd: string, script: string, more: NodeJS.ProcessEnv): Promise<Ended> {
    skipWithout("bash");
    const bin = join(this.folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "ralph"), `#!/bin/sh\nexec ${ARTEFACT.map((one) => `'${one}'`).join(" ")} "$@"\n`);
    chmodSync(join(bin, "ralph"), 0o755);
    return await this.#ended(cwd, ["bash", "-euc", script], { PATH: `${bin}:${process.env["PATH"]}`, ...more });
  }

  /** Refs of the remote without the branch. */
  refs(): readonly string[] {
    const listed = this.run(this.remote, ["git", "for-each-ref", "--format=%(refname)"]).split("\n");
    return listed.filter((ref) => ref !== "" && ref !== "refs/heads/main");
  }

  /** How often each story was committed on the remote's branch. */
  commits(): Readonly<Record<string, number>> {
    const commits: Record<string, number> = {};
    for (const subject of this.run(this.remote, ["git", "log", "--format=%s", "main"]).split("\n")) {
      const id = /^feat: (US-\d+)/.exec(subject)?.[1];
      if (id !== undefined) commits[id] = (commits[id] ?? 0) + 1;
    }
    return commits;
  }

  turns(): number {
    return this.turnLines().length;
  }

  /** The lines that agents have written, one a turn. */
  turnLines(): readonly string[] {
    return readFileSync(join(this.#notes, "turns"), "utf8").split("\n").filter((line) => line !== "");
  }

  fsck(): string {
    return this.run(this.remote, ["git", "fsck", "--no-progress", "--no-dangling"]);
  }

  [Symbol.dispose](): void {
    endWorkersIn(this.folder); // a test that failed has not waited for them
    rmSync(this.#notes, { recursive: true, force: true });
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #ended(
    cwd: string,
    [file = "", ...args]: readonly string[],
    more: NodeJS.ProcessEnv,
    stop?: AbortSignal,
  ): Promise<Ended> {
    const child = spawn(file, args, { cwd, env: { ...this.environment, ...more }, stdio: ["ignore", "pipe", "pipe"] });
    stop?.addEventListener("abort", () => child.kill("SIGTERM"));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => stdout += chunk.toString());
    child.stderr.on("data", (chunk: Buffer) => stderr += chunk.toString());
    const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { exitCode, stdout, stderr };
  }
}
