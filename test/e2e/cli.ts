/**
 * Runs the real command line on a real repository, and compares all that it says.
 *
 * `RALPH_E2E` names what is run (`dist/ralph`, `node dist/bin/ralph.js`, `deno run -A bin/ralph.ts`); without it the
 * binary, when it is newer than the sources, else the sources under Bun.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished } from "vitest";
import { endWorkersIn } from "../fault/processes.ts";
import { makeRepository, writeFiles } from "../repository.ts";
import { skipWithout } from "../skip_without.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The program and its first arguments. */
export const ARTEFACT: readonly string[] = artefact();

/** A command left this behind. Both streams are filtered: paths, times, run ids, commits. */
export interface CliResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Absolute path of the project. */
  readonly root: string;
  read(path: string): string | null;
  git(...args: string[]): string;
}

/** A command line in the making. Every method but the last gives the same builder back. */
export interface Cli {
  /** Written into the project and committed. */
  files(files: Readonly<Record<string, string>>): Cli;
  /** Written and left uncommitted. */
  dirty(files: Readonly<Record<string, string>>): Cli;
  /** A program on PATH: a shell script. */
  agent(name: string, script: string): Cli;
  args(...args: string[]): Cli;
  env(variables: Readonly<Record<string, string>>): Cli;
  stdin(text: string): Cli;
  without(what: "repository" | "identity"): Cli;
  /** Shell commands run in the project before. */
  before(command: string): Cli;
  /** The folder that the command starts in, relative to the project. */
  in(folder: string): Cli;
  /** Starts it in a terminal: each text that appears is answered with the keys beside it. */
  terminal(...dialogue: readonly (readonly [shows: string | RegExp, keys: string])[]): Cli;
  expectExit(code: number): Promise<CliResult>;
  /** Makes the project and tells how the command is started; the caller starts it. */
  prepare(): Prepared;
  /** Starts it and hands the process over; the caller ends it. */
  start(): Running;
}

/** The question about a configuration that Ralph did not write. */
export const CONSENT = "Work with this configuration?";

/** A command that was not started yet. */
export interface Prepared {
  readonly command: readonly string[];
  /** Absolute path of the project. */
  readonly root: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A command that still runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly root: string;
  /** Resolves when the text has appeared on either stream. */
  shows(text: string | RegExp): Promise<void>;
  /** Resolves when the file, relative to the project, holds something. */
  wrote(path: string): Promise<void>;
  ended(): Promise<CliResult>;
}

/** A project, and git in it. */
export interface Project {
  /** Absolute path. */
  readonly root: string;
  /** git's output, without the space around it. @throws where it fails */
  readonly git: (...args: string[]) => string;
}

/** Taken away when the test has ended. */
function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-e2e-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The same project once more, with all that is beside it. */
export function copied(root: string): Project {
  const folder = newFolder();
  cpSync(dirname(root), folder, { recursive: true, verbatimSymlinks: true });
  const copy = join(folder, "project");
  return { root: copy, git: (...args) => execFileSync("git", args, { cwd: copy, encoding: "utf8" }).trim() };
}

/** The tests of a file begin with this: the first that asks makes it, and each has a copy of its own. */
export function madeOnce(make: () => Promise<Pick<Project, "root">>): () => Promise<Project> {
  const kept = join(realpathSync(tmpdir()), `ralph-made-${process.pid}-${made++}`);
  afterAll(() => rmSync(kept, { recursive: true, force: true, maxRetries: 5 }));
  return async () => {
    if (!existsSync(kept)) {
      const { root } = await make();
      cpSync(dirname(root), kept, { recursive: true, verbatimSymlinks: true });
    }
    return copied(join(kept, "project"));
  };
}

let made = 0;

/** A command line on a project of its own, taken away when the test has ended. */
export function ralphCli(existing?: string): Cli {
  const folder = existing === undefined ? newFolder() : dirname(existing);
  const root = join(folder, "project");
  const bin = join(folder, "bin");
  for (const path of [root, bin, join(folder, "home")]) mkdirSync(path, { recursive: true });
  const files: Record<string, string> = {};
  const dirty: Record<string, string> = {};
  const missing = new Set<string>(existing === undefined ? [] : ["setup"]);
  const commands: string[] = [];
  let args: readonly string[] = [];
  let extra: Readonly<Record<string, string>> = {};
  let input: string | null = null;
  let where = ".";
  let dialogue: readonly (readonly [string | RegExp, string])[] | null = null;

  function environment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) =>
      !/^(RALPH_|GIT_|NO_COLOR|FORCE_COLOR|BUN_|XDG_|TERM$|CI$)/.test(name)
    );
    return {
      ...Object.fromEntries(kept),
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: join(folder, "home"),
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      TERM: "xterm-256color",
      ...extra,
    };
  }

  function git(...gitArgs: string[]): string {
    const done = spawnSync("git", gitArgs, { cwd: root, env: environment(), encoding: "utf8" });
    return done.stdout.trim();
  }

  function setUp(): void {
    if (missing.has("setup")) return write(dirty);
    if (missing.has("repository")) write(files);
    else makeRepository(root, { files, environment: environment() });
    if (missing.has("identity")) {
      for (const key of ["user.name", "user.email"]) git("config", "--unset", key);
      git("config", "user.useConfigOnly", "true");
    }
    write(dirty);
    for (const command of commands) {
      spawnSync("sh", ["-c", command], { cwd: root, env: environment(), stdio: "ignore", timeout: 60_000 });
    }
  }

  function write(texts: Readonly<Record<string, string>>): void {
    writeFiles(root, texts);
  }

  function launch(): Running {
    setUp();
    const [file = "", ...before] = ARTEFACT;
    const all = [...before, ...args];
    const cwd = join(root, where);
    const child = dialogue === null
      ? spawn(file, all, { cwd, env: environment(), stdio: [input === null ? "ignore" : "pipe", "pipe", "pipe"] })
      : spawn("script", ["-qefc", `stty cols 120 rows 40; exec ${[file, ...all].map(quoted).join(" ")}`, "/dev/null"], {
        cwd,
        env: environment(),
        stdio: "pipe",
      });
    let stdout = "";
    let stderr = "";
    const watchers = new Set<() => void>();
    const take = (add: (text: string) => void) => (chunk: Buffer): void => {
      add(chunk.toString("utf8"));
      for (const watcher of watchers) watcher();
    };
    child.stdout?.on("data", take((text) => stdout += text));
    child.stderr?.on("data", take((text) => stderr += text));
    if (input !== null) child.stdin?.end(input);
    const end = new Promise<number | null>((done) =>
      child.on("close", (code, signal) => done(code ?? (signal === null ? null : 128)))
    );
    const filtered = (text: string): string => filter(text, root, folder);

    let seen = 0;
    function shows(text: string | RegExp): Promise<void> {
      return new Promise((done, fail) => {
        const timer = setTimeout(() => fail(new Error(`${text} did not appear in:\n${stdout}${stderr}`)), 20_000);
        const look = (): void => {
          const found = find(plain(stdout + stderr).slice(seen), text);
          if (found === -1) return;
          seen += found;
          clearTimeout(timer);
          watchers.delete(look);
          done();
        };
        watchers.add(look);
        look();
      });
    }

    const running: Running = {
      child,
      root,
      shows,
      async wrote(path) {
        for (const deadline = Date.now() + 150_000; Date.now() < deadline;) {
          if (existsSync(join(root, path)) && statSync(join(root, path)).size > 0) return;
          await new Promise((done) => setTimeout(done, 20));
        }
        throw new Error(`${path} was not written`);
      },
      ended: async () => {
        const exitCode = await end;
        return {
          exitCode,
          stdout: filtered(plain(stdout)),
          stderr: filtered(stderr),
          root,
          read: (path) => existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null,
          git,
        };
      },
    };
    onTestFinished(() => endOf(child, folder));
    if (dialogue !== null) converse(running, dialogue).catch(() => child.kill("SIGKILL")); // what did not appear fails the test
    return running;
  }

  const cli: Cli = {
    files: (more) => (Object.assign(files, more), cli),
    dirty: (more) => (Object.assign(dirty, more), cli),
    agent(name, script) {
      // a shell that still runs the script before reads on in its own file
      writeFileSync(join(bin, `${name}.new`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      renameSync(join(bin, `${name}.new`), join(bin, name));
      return cli;
    },
    args: (...given) => (args = given, cli),
    env: (variables) => (extra = { ...extra, ...variables }, cli),
    stdin: (text) => (input = text, cli),
    without: (what) => (missing.add(what), cli),
    before: (command) => (commands.push(command), cli),
    in: (name) => (where = name, cli),
    terminal: (...lines) => (skipWithout("script"), dialogue = lines, cli),
    start: launch,
    prepare() {
      setUp();
      return { command: [...ARTEFACT, ...args], root, cwd: join(root, where), environment: environment() };
    },
    async expectExit(code) {
      const result = await launch().ended();
      expect(result.exitCode, `${result.stdout}\n${result.stderr}`).toBe(code);
      return result;
    },
  };
  return cli;
}

/** Ends a run that its test left behind, with whatever still works in its folder. */
async function endOf(child: ChildProcess, folder: string): Promise<void> {
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  if (hasEnded() || child.pid === undefined) return;
  const end = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    if (existsSync("/proc")) endWorkersIn(folder);
  }, 5000);
  if (!hasEnded()) await end;
  clearTimeout(timer);
}

async function converse(running: Running, dialogue: readonly (readonly [string | RegExp, string])[]): Promise<void> {
  for (const [shows, keys] of dialogue) {
    await running.shows(shows);
    await new Promise((done) => setTimeout(done, 150)); // the prompt is drawn a moment before it listens
    running.child.stdin?.write(keys);
  }
}

function find(text: string, wanted: string | RegExp): number {
  if (typeof wanted === "string") return text.includes(wanted) ? text.indexOf(wanted) + wanted.length : -1;
  const match = wanted.exec(text);
  return match === null ? -1 : match.index + match[0].length;
}

function plain(text: string): string {
  return text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll("\r\n", "\n");
}

/** Each verdict has it on a machine without a working bubblewrap. */
const OTHER_PATH_REGEXP = /^ {2}environment {2}bubblewrap .*the final check ran in a copy at a different path.*\n/gm;

/** A run has it where its turns can be confined. */
const CONFINED_REGEXP = /^sandbox: bubblewrap \(auto\), every host can be reached\n/gm;

/** Removes the parts that differ from run to run and from machine to machine. */
function filter(text: string, root: string, folder: string): string {
  return text
    .replaceAll(OTHER_PATH_REGEXP, "")
    .replaceAll(CONFINED_REGEXP, "")
    .replaceAll(root, "[ROOT]")
    .replaceAll(folder, "[FOLDER]")
    .replaceAll(/\d{8}-\d{6}-[a-z0-9]{4}/g, "[RUN]")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "[DATE]")
    .replaceAll(/\bpid \d+/g, "pid [PID]")
    .replaceAll(/\bcommit [0-9a-f]{7}\b/g, "commit [COMMIT]")
    .replaceAll(/\b\d+\.\ds\b|(?<=used +)\d+s\b/g, "[TIME]");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function artefact(): readonly string[] {
  const named = process.env["RALPH_E2E"];
  if (named !== undefined && named !== "") {
    return named.split(" ").map((word) =>
      /[/.]/.test(word) && existsSync(resolve(ROOT, word)) ? resolve(ROOT, word) : word
    );
  }
  const binary = join(ROOT, "dist", process.platform === "win32" ? "ralph.exe" : "ralph");
  if (
    existsSync(binary) && statSync(binary).mtimeMs > newest(["lib", "bin", "recipes"].map((name) => join(ROOT, name)))
  ) return [binary];
  return [join(ROOT, "node_modules/bun/bin/bun.exe"), join(ROOT, "bin/ralph.ts")];
}

function newest(folders: readonly string[]): number {
  let time = 0;
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) time = Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs);
    }
  }
  return time;
}
