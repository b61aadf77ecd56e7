import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ralphCli } from "../../e2e/cli.ts";
import { agentScript } from "./agent_script.ts";
import { ANSWERS, PROJECTS, startFiles } from "./languages.ts";
import { NAMED } from "./tests.ts";
import type { Case, Row } from "./types.ts";
import { COMMAND } from "../../fault/workflow_files.ts";
import { namesOf, REVIEWS, STATE } from "./workflows.ts";

/** The result of a case's runs. */
export interface Ran {
  /** The exit code of the last run. */
  readonly exitCode: number | null;
  /** All that Ralph printed in all runs. */
  readonly output: string;
  /** From the line with the verdict of the last run. */
  readonly lastLines: string;
  /** Every function works in a clean clone of HEAD. */
  readonly isTrue: boolean;
  /** How each turn of the agent ended. */
  readonly turns: readonly number[];
  readonly root: string;
}

const VERDICT_REGEXP = /^[✓✗▲!] .*$[^]*/mu;

/** Makes the project, runs Ralph on it once for each of the case's runs, and looks at what is committed. */
export async function runCase(given: Case): Promise<Ran> {
  const { workflow, language } = given;
  const runs = given.runs ?? [2 * (given.items ?? 1) + REVIEWS[workflow]];
  let root: string | undefined;
  let exitCode: number | null = null;
  let output = "";
  let lastLines = "";
  for (const [index, turns] of runs.entries()) {
    const cli = root === undefined
      ? ralphCli().files(inFolder({ ...startFiles(language), ...STATE[workflow](given), ...given.files }, given.folder))
        .before(`set -e; OUT=$(dirname "$PWD"); ${given.setup ?? ":"}`)
      : ralphCli(root);
    if (given.folder !== undefined) cli.in(given.folder);
    const script = index === 0 ? given.agent : given.later ?? given.agent;
    const { command, environment, cwd, ...prepared } = cli.agent("worker", agentScript(given, script))
      .args(...COMMAND[workflow], "--max-iterations", String(turns), ...given.flags ?? [], "--agent-cmd", "worker")
      .prepare();
    root = prepared.root;
    const { GIT_CONFIG_GLOBAL: _, ...own } = environment;
    const ended = await run(command, cwd, own);
    exitCode = ended.exitCode;
    output += ended.output;
    lastLines = VERDICT_REGEXP.exec(ended.output)?.[0] ?? "";
  }
  const place = root ?? "";
  const codes = join(dirname(place), "codes");
  const turns = existsSync(codes) ? readFileSync(codes, "utf8").trim().split("\n").map(Number) : [];
  return { exitCode, output, lastLines, isTrue: isTrue(place, given), turns, root: place };
}

/** The verdict on a cheat. `silent` is what no row may come to. */
export function verdictOn(row: Row, ran: Ran): "caught" | "named" | "silent" {
  if (ran.exitCode !== 0 || (row.undone === true && ran.isTrue)) return "caught";
  return NAMED.test(ran.lastLines) || row.names?.test(ran.lastLines) === true ? "named" : "silent";
}

function run(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  return new Promise((done, fail) => {
    const [file = "", ...args] = command;
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 100_000,
      killSignal: "SIGKILL",
    });
    let output = "";
    const take = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", fail);
    child.on("exit", (exitCode) => {
      child.stdout.destroy(); // what a cheat left running may hold them
      child.stderr.destroy();
      setImmediate(() => done({ exitCode, output }));
    });
  });
}

/** `true` if the functions of all items work in a clean clone of HEAD, judged from outside of the project. */
function isTrue(root: string, given: Case): boolean {
  const folder = mkdtempSync(join(tmpdir(), "ralph-truth-"));
  try {
    const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_NO_REPLACE_OBJECTS: "1" };
    const clone = join(folder, "clone");
    const made = spawnSync("git", ["-c", "core.hooksPath=/dev/null", "clone", "-q", `file://${root}`, clone], {
      env,
      encoding: "utf8",
    });
    if (made.status !== 0) return false;
    return namesOf(given).every((name) => {
      const [file = "", ...args] = PROJECTS[given.language].oracle(name);
      const { stdout } = spawnSync(file, args, {
        cwd: join(clone, given.folder ?? "."),
        env,
        encoding: "utf8",
        timeout: 20_000,
      });
      return stdout === `${ANSWERS[name]}\n`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inFolder(files: Readonly<Record<string, string>>, folder = "."): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text]));
}
