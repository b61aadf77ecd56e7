/**
 * The verdict on honest work: commits of public projects, spread over their history, each judged against its parent by
 * the project's own tests, which pass at both.
 *
 *   VERDICTS=DIR bun test/verdicts/replay.ts [--ralph FILE] [--only NAME] [--commits N] [--rows FILE]
 *
 * DIR/projects.json says what is there: `[{ "name", "check", "modules"? }]`; DIR/NAME is a clone with its history, and
 * `modules` a folder with the runners that its check needs. A row of FILE has the price too: the runs of the check beyond
 * the first, and their milliseconds.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { verdictIn } from "./verdict_in.ts";

interface Project {
  readonly name: string;
  readonly check: string;
  /** Folder that is copied to `node_modules`. */
  readonly modules?: string;
}

interface Replayed {
  readonly project: string;
  readonly commit: string;
  readonly subject: string;
  readonly status: string;
  readonly named: boolean;
  readonly said: string;
  readonly leftOut: string | null;
  readonly ms: number;
  /** Runs of the check after the first one. */
  readonly runs: number;
  readonly runsMs: number;
}

const CODE_REGEXP = /\.(?:py|[cm]?[jt]s|go|rs|[ch]|p[lm]|t|rb|java|sh)$/;
const MOST_MS = 240_000;
/** The newest commits with code among which those to replay are chosen. */
const MOST_HISTORY = 400;

function main(): number {
  const { values } = parseArgs({
    options: {
      ralph: { type: "string", default: "dist/ralph" },
      only: { type: "string", default: "" },
      commits: { type: "string", default: "12" },
      rows: { type: "string" },
    },
  });
  const folder = process.env["VERDICTS"] ?? "";
  const list = join(folder, "projects.json");
  if (folder === "" || !existsSync(list)) {
    console.log("VERDICTS names no folder with projects.json: nothing was measured");
    return 0;
  }
  const projects = (JSON.parse(readFileSync(list, "utf8")) as readonly Project[]).filter(({ name }) =>
    name.includes(values.only)
  );
  const rows = projects.flatMap((project) =>
    replayed(project, { folder, ralph: resolve(values.ralph), most: Number(values.commits), rows: values.rows })
  );
  console.log(tableOf(rows));
  return 0;
}

function replayed(
  { name, check, modules }: Project,
  { folder, ralph, most, rows }: {
    readonly folder: string;
    readonly ralph: string;
    readonly most: number;
    readonly rows: string | undefined;
  },
): readonly Replayed[] {
  const work = mkdtempSync(join(tmpdir(), "replay-"));
  const git = (...words: string[]): string => spawnSync("git", words, { cwd: work, encoding: "utf8" }).stdout;
  const found: Replayed[] = [];
  try {
    spawnSync("git", ["clone", "-q", "-s", join(folder, name), work]);
    if (modules !== undefined) {
      cpSync(resolve(folder, modules), join(work, "node_modules"), { recursive: true, verbatimSymlinks: true });
    }
    spawnSync("sh", ["-c", "printf 'node_modules\\ntarget\\n__pycache__\\n' >> .git/info/exclude"], { cwd: work });
    const counted = `${work}-runs`; // no checkout covers it
    const command = `began=$(date +%s%3N); (${check}); ended=$?; echo $began $(date +%s%3N) >>${counted}; exit $ended`;
    const passesAt = (commit: string): boolean => {
      git("checkout", "-qf", "--detach", commit);
      git("clean", "-ffdq");
      const { status } = spawnSync("bash", ["-c", check], { cwd: work, timeout: MOST_MS });
      git("checkout", "-qf", ".");
      git("clean", "-ffdq");
      return status === 0;
    };
    for (const commit of spread(commitsWithCode(git), most)) {
      if (found.length >= most) break;
      if (!passesAt(`${commit}^`) || !passesAt(commit)) continue;
      rmSync(counted, { force: true });
      const started = Date.now();
      const { stdout } = spawnSync(ralph, ["gate", "--base", `${commit}^`, "--verify", command, "--json"], {
        cwd: work,
        encoding: "utf8",
        timeout: 4 * MOST_MS,
      });
      const { status, named, leftOut } = verdictIn(stdout);
      const row = {
        project: name,
        commit: commit.slice(0, 10),
        subject: git("log", "-1", "--format=%s", commit).trim().slice(0, 80),
        status,
        named: named.length > 0,
        leftOut,
        said: named.join(" | ").slice(0, 400),
        ms: Date.now() - started,
        ...priceIn(counted),
      };
      found.push(row);
      if (rows !== undefined) appendFileSync(rows, `${JSON.stringify(row)}\n`);
    }
  } finally {
    for (const path of [work, `${work}-runs`]) rmSync(path, { recursive: true, force: true });
  }
  return found;
}

/** Commits that change code and have a parent, the newest first. */
function commitsWithCode(git: (...words: string[]) => string): readonly string[] {
  const listed = git("log", "--no-merges", "--format=%x00%H %P", "--name-only").split("\0").slice(1);
  return listed.flatMap((one) => {
    const [line = "", ...files] = one.trim().split("\n");
    const [commit = "", parent] = line.split(" ");
    return parent !== undefined && files.some((path) => CODE_REGEXP.test(path)) ? [commit] : [];
  }).slice(0, MOST_HISTORY);
}

/** The same commits in an order of which every beginning is spread over all of them. Pure. */
function spread<One>(all: readonly One[], most: number): readonly One[] {
  const step = Math.max(1, Math.ceil(all.length / most));
  return all.map((one, index) => ({ one, round: index % step })).sort((a, b) => a.round - b.round).map(({ one }) =>
    one
  );
}

function priceIn(file: string): Pick<Replayed, "runs" | "runsMs"> {
  if (!existsSync(file)) return { runs: 0, runsMs: 0 };
  const [, ...runs] = readFileSync(file, "utf8").trim().split("\n").map((line) => line.split(" ").map(Number));
  return { runs: runs.length, runsMs: runs.reduce((sum, [began = 0, ended = 0]) => sum + ended - began, 0) };
}

function tableOf(rows: readonly Replayed[]): string {
  const names = [...new Set(rows.map(({ project }) => project))];
  const line = (label: string, some: readonly Replayed[]): string => {
    const rejected = some.filter(({ status }) => status !== "passed").length;
    const named = some.filter((row) => row.status === "passed" && row.named).length;
    return `| ${label} | ${some.length} | ${rejected} | ${named} |`;
  };
  return [
    "| project | commits | not passed | passed and named |",
    "| --- | --- | --- | --- |",
    ...names.map((name) => line(name, rows.filter(({ project }) => project === name))),
    line("all", rows),
  ].join("\n");
}

if (import.meta.main) process.exitCode = main();
