/**
 * `ralph log --all` beside `git log -p` of the same file, on a plan with many commits: medians of interleaved rounds.
 *
 *   node test/bench/plan_log.mjs [--commits 5000] [--rounds 5] [--json]
 *
 * `RALPH_BENCH` names the program; without it the binary in dist, else the sources under Bun.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values } = parseArgs({
  options: {
    commits: { type: "string", default: "5000" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean" },
  },
});
const BUDGET = 2;

/** A plan that grows, is worked off and is merged: every commit changes one line, as `ralph task` does. */
function stream(commits) {
  const parts = ["feature done\n"];
  const tasks = new Map();
  let number = 0;
  for (let mark = 1; mark <= commits; mark++) {
    const pending = [...tasks.values()].filter((task) => task.s === "p");
    const done = [...tasks.values()].filter((task) => task.s === "d");
    if (pending.length < 40 && mark % 3 !== 0) {
      const id = `t-${(number++).toString(36).padStart(4, "0")}`;
      const notes =
        "What is to be done is told in a sentence or two, with the file that it is about and why it matters.";
      tasks.set(id, {
        t: "task",
        id,
        spec: "coverage.md",
        name: `Do the thing with the number ${number}`,
        notes,
        accept: "Verify: `npm test`",
        s: "p",
      });
    } else if (pending.length > 0 && done.length < 30) {
      Object.assign(pending[0], { s: "d", done_at: mark.toString(16).padStart(7, "0") });
    } else for (const { id } of done) tasks.delete(id);
    const lines = ['{"t": "spec", "spec": "coverage.md"}', ...[...tasks.values()].map((task) => JSON.stringify(task))];
    const content = lines.map((line) => `${line}\n`).join("");
    const at = 1_700_000_000 + mark * 60;
    parts.push(
      `commit refs/heads/main\nmark :${mark}\ncommitter Ada <ada@example.com> ${at} +0000\ndata 4\nplan\n`,
      mark === 1 ? "" : `from :${mark - 1}\n`,
      `M 100644 inline ralph/plan.jsonl\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    );
  }
  return `${parts.join("")}done\n`;
}

function program() {
  if (process.env.RALPH_BENCH) return process.env.RALPH_BENCH.split(" ");
  const binary = join(root, "dist", "ralph");
  return existsSync(binary) ? [binary] : [join(root, "node_modules/bun/bin/bun.exe"), join(root, "bin/ralph.ts")];
}

function milliseconds(cwd, file, args) {
  const started = performance.now();
  const done = spawnSync(file, args, { cwd, maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
  if (done.status !== 0) throw new Error(`${file} ${args.join(" ")}: ${done.stderr}`);
  return performance.now() - started;
}

const median = (times) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];

const folder = mkdtempSync(join(tmpdir(), "ralph-plan-log-"));
try {
  spawnSync("git", ["init", "-q", "-b", "main", folder]);
  const imported = spawnSync("git", ["fast-import", "--quiet", "--done"], {
    cwd: folder,
    input: stream(Number(values.commits)),
  });
  if (imported.status !== 0) throw new Error(String(imported.stderr));
  spawnSync("git", ["reset", "-q", "--hard"], { cwd: folder });
  const [file, ...before] = program();
  const times = { floor: [], ralph: [] };
  for (let round = -1; round < Number(values.rounds); round++) {
    const floor = milliseconds(folder, "git", ["log", "-p", "--", "ralph/plan.jsonl"]);
    const ralph = milliseconds(folder, file, [...before, "log", "--all", "--json"]);
    if (round < 0) continue; // the first round warms up
    times.floor.push(floor);
    times.ralph.push(ralph);
  }
  const result = {
    commits: Number(values.commits),
    gitLogMs: Math.round(median(times.floor)),
    ralphLogMs: Math.round(median(times.ralph)),
  };
  const ratio = Number((median(times.ralph) / median(times.floor)).toFixed(2));
  const ok = ratio <= BUDGET;
  console.log(
    values.json
      ? JSON.stringify({ ...result, ratio, budget: BUDGET, ok })
      : `${result.commits} plan commits: git log -p ${result.gitLogMs} ms, ralph log --all ${result.ralphLogMs} ms: ${ratio} × (budget ${BUDGET} ×) ${
        ok ? "ok" : "MISSED"
      }`,
  );
  process.exitCode = ok ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
