import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuOfRun, ENVIRONMENT, median } from "./world.mjs";

const COMMITS = 5000;
const BUDGET = 1.5;

/** `ralph log --all` beside `git log -p` of the same file, on a plan with many commits. */
export async function measureLog({ ralph, rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-plan-log-"));
  try {
    spawnSync("git", ["init", "-q", "-b", "main", folder], { env: ENVIRONMENT });
    const options = { cwd: folder, env: ENVIRONMENT, input: stream(COMMITS) };
    const imported = spawnSync("git", ["fast-import", "--quiet", "--done"], options);
    if (imported.status !== 0) throw new Error(String(imported.stderr));
    spawnSync("git", ["reset", "-q", "--hard"], { cwd: folder, env: ENVIRONMENT });
    const found = { floor: [], ralph: [] };
    for (let round = -1; round < rounds; round++) {
      const floor = cpuOfRun(["git", "log", "-p", "--", "ralph/plan.jsonl"], { cwd: folder });
      const own = cpuOfRun([ralph, "log", "--all", "--json"], { cwd: folder });
      if (round < 0) continue; // the first round warms up
      found.floor.push(floor);
      found.ralph.push(own);
    }
    const ratio = median(found.ralph.map((value, round) => value / found.floor[round]));
    return [{
      what: `log --all of ${COMMITS} plan commits, CPU`,
      measured: `${median(found.ralph).toFixed(0)} ms`,
      floor: `${median(found.floor).toFixed(0)} ms (git log -p)`,
      ratio: ratio.toFixed(2),
      budget: `<= ${BUDGET} x`,
      met: ratio <= BUDGET,
    }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

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
