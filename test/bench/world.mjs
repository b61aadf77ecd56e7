// Throw-away repositories with a fake agent, and processes measured in them. Linux only, for /proc.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const IDENTITY = {
  GIT_AUTHOR_NAME: "Bench",
  GIT_AUTHOR_EMAIL: "bench@example.invalid",
  GIT_COMMITTER_NAME: "Bench",
  GIT_COMMITTER_EMAIL: "bench@example.invalid",
};
export const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  LANG: "C.UTF-8",
  NO_COLOR: "1",
  GIT_CONFIG_NOSYSTEM: "1",
  ...IDENTITY,
};

/** The environment in a world: its caches are its own, so that no run takes away what an earlier one left. */
export function environmentIn(root, more = {}) {
  return { ...ENVIRONMENT, XDG_CACHE_HOME: join(dirname(root), "cache"), ...more };
}

/** The agent: writes one file and says that it is done. */
export const AGENT = "cat > /dev/null; mkdir -p work; echo done > work/$$.txt; echo '<promise>COMPLETE</promise>'";

/** A repository with stories, commits and files; the PRD in the strict schema, and the same for the shell loop. */
export function makeWorld({ stories, commits = 1, files = 10 }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-bench-"));
  const root = join(folder, "project");
  mkdirSync(root);
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: root, env: ENVIRONMENT });
  spawnSync("git", ["fast-import", "--quiet"], { cwd: root, env: ENVIRONMENT, input: history(commits, files) });
  execFileSync("git", ["reset", "-q", "--hard"], { cwd: root, env: ENVIRONMENT });
  const userStories = Array.from({ length: stories }, (_, index) => ({
    id: `US-${String(index + 1).padStart(4, "0")}`,
    title: `Story ${index + 1}`,
    acceptanceCriteria: ["the check passes"],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
  write(root, "scripts/ralph/prd.json", `${JSON.stringify({ branchName: "main", userStories }, null, 2)}\n`);
  write(root, "ralph.config.json", `${JSON.stringify({ verify: { default: ["test -d work"] } }, null, 2)}\n`);
  write(root, "PROMPT.md", "Do the next story. When it is done print the completion marker.\n");
  write(root, ".gitignore", ".loop/\n");
  writeInto(root, {});
  return { root, drop: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Writes files and commits them. */
export function writeInto(root, files) {
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  execFileSync("git", ["add", "-A"], { cwd: root, env: ENVIRONMENT });
  execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "setup"], { cwd: root, env: ENVIRONMENT });
}

/** Runs a program to its end. @returns CPU milliseconds of it and all its children, by the shell's own clock */
export function cpuOfRun(argv, { cwd, environment = {} }) {
  const script = 'TIMEFORMAT="%3U %3S"; { time "$@" > /dev/null 2>&1; } 2>&1';
  const env = environmentIn(cwd, environment);
  const { stdout } = spawnSync("bash", ["-c", script, "bash", ...argv], { cwd, env, encoding: "utf8" });
  const [user, system] = stdout.trim().split("\n").at(-1).split(" ").map(Number);
  return (user + system) * 1000;
}

/** How often git is started while a program runs. */
export function countGit(argv, { cwd, environment = {} }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-git-count-"));
  const log = join(folder, "log");
  writeFileSync(log, "");
  const real = execFileSync("sh", ["-c", "command -v git"], { env: ENVIRONMENT, encoding: "utf8" }).trim();
  writeFileSync(join(folder, "git"), `#!/bin/sh\necho git >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  const env = environmentIn(cwd, { ...environment, PATH: `${folder}:${ENVIRONMENT.PATH}` });
  spawnSync(argv[0], argv.slice(1), { cwd, env, stdio: "ignore" });
  const count = readFileSync(log, "utf8").length / 4;
  rmSync(folder, { recursive: true, force: true });
  return count;
}

/** How many commits a run has made, for a world that is asked whether all was done. */
export function commitsOf(root) {
  return Number(
    execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd: root, env: ENVIRONMENT, encoding: "utf8" }),
  );
}

function history(commits, files) {
  let text = "";
  for (let commit = 1; commit <= commits; commit++) {
    text += `commit refs/heads/main\ncommitter Bench <bench@example.invalid> ${
      1700000000 + commit * 60
    } +0000\ndata 1\nc\n`;
    if (commit === 1) {
      for (let file = 0; file < files; file++) text += `M 100644 inline src/d${file % 20}/f${file}.ts\ndata 2\n1\n\n`;
    }
    text += `M 100644 inline src/changes.txt\ndata ${String(commit).length}\n${commit}\n`;
  }
  return text;
}

function write(root, path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Runs a program to its end. @returns wall milliseconds, peak resident bytes, CPU milliseconds while it lived (of it alone) */
export async function run(argv, { cwd, sampleMs = 0 }) {
  const started = process.hrtime.bigint();
  const child = spawn(argv[0], argv.slice(1), { cwd, env: ENVIRONMENT, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => errors = (errors + chunk).slice(-4000));
  let peak = 0;
  let cpu = 0;
  const sampler = sampleMs === 0 ? null : setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
    cpu = Math.max(cpu, cpuOf(child.pid));
  }, sampleMs);
  const exitCode = await new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  clearInterval(sampler);
  return { wallMs: Number(process.hrtime.bigint() - started) / 1e6, exitCode, peak, cpu, errors };
}

/** The most resident memory that a process has had, in bytes. */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** CPU milliseconds of each thread of a process, children left out, by thread id. */
export function cpuOfThreads(pid) {
  const found = new Map();
  try {
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      found.set(task, Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6);
    }
  } catch {
    // a thread, or the process, that ended while it was looked at
  }
  return found;
}

/** CPU milliseconds of a process so far; what a thread used that has ended is not in it. */
export function cpuOf(pid) {
  return [...cpuOfThreads(pid).values()].reduce((sum, milliseconds) => sum + milliseconds, 0);
}

/** CPU milliseconds of one start, children included: the mean of `count` starts, by the shell's own clock. */
export function cpuOfStarts(argv, count, cwd) {
  const script = 'TIMEFORMAT="%3U %3S"; time (for i in $(seq "$COUNT"); do "$@" > /dev/null 2>&1; done)';
  const { stderr } = spawnSync("bash", ["-c", script, "bash", ...argv], {
    cwd,
    env: { ...ENVIRONMENT, COUNT: String(count) },
    encoding: "utf8",
  });
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return (user + system) * 1000 / count;
}

export function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
