/**
 * The verdict on honest work: commits of public projects, each judged against its parent by the project's own tests.
 *
 *   VERDICTS=DIR bun test/verdicts/replay.ts [--ralph FILE] [--only NAME] [--commits N] [--rows FILE]
 *
 * DIR/projects.json says what is there: `[{ "name", "check", "modules"? }]`; DIR/NAME is a clone with its history, and
 * `modules` a folder with the runners that its check needs.
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
  readonly ms: number;
}

const CODE_REGEXP = /\.(?:py|[cm]?[jt]s|go|rs|[ch])$/;
const MOST_MS = 240_000;

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
    const commits = git("log", "--no-merges", "--format=%H %s", "-n", "400").trim().split("\n");
    for (const line of commits) {
      if (found.length >= most) break;
      const [commit, subject] = [line.slice(0, 40), line.slice(41)];
      const files = git("show", "--format=", "--name-only", commit).trim().split("\n");
      if (!files.some((path) => CODE_REGEXP.test(path)) || git("rev-parse", "-q", "--verify", `${commit}^`) === "") {
        continue;
      }
      git("checkout", "-qf", "--detach", commit);
      git("clean", "-ffdq");
      const passes = (): boolean => spawnSync("bash", ["-c", check], { cwd: work, timeout: MOST_MS }).status === 0;
      if (!passes()) continue;
      git("checkout", "-qf", ".");
      git("clean", "-ffdq");
      const started = Date.now();
      const { stdout } = spawnSync(ralph, ["gate", "--base", `${commit}^`, "--verify", check, "--json"], {
        cwd: work,
        encoding: "utf8",
        timeout: 4 * MOST_MS,
      });
      const { status, named } = verdictIn(stdout);
      const row = {
        project: name,
        commit: commit.slice(0, 10),
        subject: subject.slice(0, 80),
        status,
        named: named.length > 0,
        said: named.join(" | ").slice(0, 400),
        ms: Date.now() - started,
      };
      found.push(row);
      if (rows !== undefined) appendFileSync(rows, `${JSON.stringify(row)}\n`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return found;
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
