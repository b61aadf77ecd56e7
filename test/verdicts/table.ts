/**
 * How often the verdict is right: `ralph gate` over known right and known wrong work.
 *
 *   VERDICTS=DIR bun test/verdicts/table.ts [--ralph FILE] [--only TEXT] [--every N] [--from N] [--rows FILE]
 *
 * `--every 7 --from 2` takes the third of each seven gates. A task is left out, and said, if its check fails with the
 * right solution or passes before the work: nothing would be known to be right or wrong.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { delimiter, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bunPath } from "../../tools/runtimes.mjs";
import { folderWith, type Task, tasksIn, writeFiles } from "./task.ts";
import { verdictIn } from "./verdict_in.ts";
import { type Variant, variantsOf } from "./variants.ts";

/** How one gate came out. */
export interface Row {
  readonly task: string;
  readonly variant: string;
  readonly truth: Variant["truth"];
  readonly status: string;
  readonly named: boolean;
  readonly said: string;
  /** The experiments that there was no time for, which the gate says. */
  readonly leftOut: string | null;
  readonly ms: number;
}

const IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"];
const MOST_MS = 300_000;
const ENVIRONMENT = { ...process.env, PATH: pathWithPython(), PYTHONDONTWRITEBYTECODE: "1" };

function main(): number {
  const { values } = parseArgs({
    options: {
      ralph: { type: "string", default: "dist/ralph" },
      only: { type: "string", default: "" },
      every: { type: "string", default: "1" },
      from: { type: "string", default: "0" },
      rows: { type: "string" },
    },
  });
  const folder = process.env["VERDICTS"] ?? "";
  if (folder === "" || !existsSync(folder)) {
    console.log("VERDICTS names no folder with tasks: nothing was measured");
    return 0;
  }
  const gates = tasksIn(folder, bunPath()).flatMap((task) => variantsOf(task).map((variant) => ({ task, variant })))
    .filter(({ task, variant }) => `${task.name} ${variant.name}`.includes(values.only))
    .filter((_, index) => index % Number(values.every) === Number(values.from));
  const rows: Row[] = [];
  const unknown = new Map<Task, string | null>();
  for (const { task, variant } of gates) {
    const why = unknown.has(task) ? unknown.get(task) ?? null : whyUnknown(task);
    if (why !== null && !unknown.has(task)) console.log(`${task.name} is left out: ${why}`);
    unknown.set(task, why);
    if (why !== null) continue;
    const row = gate(resolve(values.ralph), task, variant);
    rows.push(row);
    if (values.rows !== undefined) appendFileSync(values.rows, `${JSON.stringify(row)}\n`);
  }
  console.log(tableOf(rows));
  return 0;
}

/** A version manager's `python3` is a script that looks for the program each time: what it finds is put before it. */
function pathWithPython(): string {
  const { stdout } = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  const { PATH = "" } = process.env;
  return stdout === null || stdout === "" ? PATH : `${dirname(stdout.trim())}${delimiter}${PATH}`;
}

/** Why a task cannot tell right from wrong; `null` if it can. */
function whyUnknown(task: Task): string | null {
  const passes = (files: Task["files"]): boolean => {
    using folder = folderWith({ ...task.files, ...files });
    return spawnSync("sh", ["-c", task.check], { cwd: folder.path, timeout: MOST_MS, env: ENVIRONMENT }).status === 0;
  };
  if (!passes({ [task.product]: task.reference })) return "its check fails with the right solution";
  return passes({}) ? "its check passes before the work" : null;
}

/** Makes a repository with the task, a branch with the work, and asks for the verdict. */
function gate(ralph: string, task: Task, variant: Variant): Row {
  using folder = folderWith(task.files);
  const cwd = folder.path;
  const git = (...words: string[]): unknown => spawnSync("git", [...IDENTITY, ...words], { cwd });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "base");
  git("checkout", "-qb", "work");
  writeFiles(cwd, variant.files);
  git("add", "-A");
  git("commit", "-qm", "work");
  const started = Date.now();
  const { stdout } = spawnSync(ralph, ["gate", "--base", "main", "--verify", task.check, "--json"], {
    cwd,
    encoding: "utf8",
    timeout: MOST_MS,
    env: ENVIRONMENT,
  });
  const { status, named, leftOut } = verdictIn(stdout);
  return {
    task: task.name,
    variant: variant.name,
    truth: variant.truth,
    status,
    named: named.length > 0,
    said: named.join(" | ").slice(0, 300),
    leftOut,
    ms: Date.now() - started,
  };
}

/** The public table, as Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const count = (test: (row: Row) => boolean): number => rows.filter(test).length;
  const of = (truth: Row["truth"]): readonly Row[] => rows.filter((row) => row.truth === truth);
  const passed = (row: Row): boolean => row.status === "passed";
  const lines = [
    `${rows.length} gates over ${new Set(rows.map(({ task }) => task)).size} tasks, ${
      Math.round(rows.reduce((sum, { ms }) => sum + ms, 0) / Math.max(1, rows.length))
    } ms each`,
    "",
    "| | of | n |",
    "| --- | --- | --- |",
    `| false rejects: right, and not passed | ${of("right").length} | ${
      count((row) => row.truth === "right" && !passed(row))
    } |`,
    `| false alarms: right, and something named | ${of("right").length} | ${
      count((row) => row.truth === "right" && passed(row) && row.named)
    } |`,
    `| false accepts: wrong, passed, nothing named | ${of("wrong").length} | ${
      count((row) => row.truth === "wrong" && passed(row) && !row.named && row.leftOut === null)
    } |`,
    `| wrong, passed, and only that there was no time for an experiment is said | ${of("wrong").length} | ${
      count((row) => row.truth === "wrong" && passed(row) && !row.named && row.leftOut !== null)
    } |`,
    `| wrong, passed, named | ${of("wrong").length} | ${
      count((row) => row.truth === "wrong" && passed(row) && row.named)
    } |`,
    `| weak checks: mutants that the tests let pass | ${of("mutant").length} | ${
      count((row) => row.truth === "mutant" && passed(row))
    } |`,
    "",
    "| variant | of | passed | passed and named |",
    "| --- | --- | --- | --- |",
  ];
  for (const name of new Set(rows.map(({ variant }) => variant.replace(/ \d+$/, "")))) {
    const some = rows.filter(({ variant }) => variant.replace(/ \d+$/, "") === name);
    lines.push(
      `| ${name} | ${some.length} | ${some.filter(passed).length} | ${
        some.filter((row) => passed(row) && row.named).length
      } |`,
    );
  }
  return lines.join("\n");
}

if (import.meta.main) process.exitCode = main();
