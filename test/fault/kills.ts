/**
 * The kill battery: `npm run test:kills -- [WORKFLOW…] --kills 80 --seed 7`, so many in each of the workflows (all five,
 * where none is named). Each project is compared with one that nobody killed, and the comparison is tried by damage.
 * Prints what it did and what fell short; exit code 1 if anything did. `--ralph FILE` names another program than
 * dist/ralph; `--parallel 4` works with so many workers.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { killStorm } from "./kill_storm.ts";
import { seededRandom } from "./random.ts";
import { type Workflow, WORKFLOWS } from "./workflow_files.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    items: { type: "string", default: "10" },
    parallel: { type: "string", default: "1" },
    minutes: { type: "string", default: "30" },
    ralph: { type: "string", default: join(ROOT, "dist/ralph") },
    verbose: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});

async function main(): Promise<number> {
  const seed = Number(values.seed);
  const unknown = positionals.filter((word) => !WORKFLOWS.some((workflow) => workflow === word));
  if (unknown.length > 0 || !existsSync(values.ralph)) {
    console.error(
      unknown.length > 0
        ? `${unknown.join(", ")}: the workflows are ${WORKFLOWS.join(", ")}`
        : `${values.ralph} does not exist: run \`npm run build\` first`,
    );
    return 2;
  }
  // A copy: a build beside it must not change the program under test.
  const folder = mkdtempSync(join(tmpdir(), "ralph-kills-binary-"));
  const ralph = join(folder, "ralph");
  copyFileSync(values.ralph, ralph);
  const random = seededRandom(seed);
  let isGood = true;
  for (const workflow of WORKFLOWS.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    isGood = await storms(workflow, ralph, random, seed) && isGood;
  }
  rmSync(folder, { recursive: true, force: true });
  return isGood ? 0 : 1;
}

/** Projects of one workflow until there were so many kills. @returns whether nothing fell short */
async function storms(workflow: Workflow, ralph: string, random: () => number, seed: number): Promise<boolean> {
  const kills = Number(values.kills);
  const started = performance.now();
  const storm = {
    workflow,
    ralph: [ralph],
    items: Number(values.items),
    workers: Number(values.parallel),
    random,
    keep: values.keep,
    ...(values.verbose ? { log: console.log } : {}),
  };
  console.log(`${workflow}: seed ${seed}, ${kills} kills, ${values.items} items a project`);
  const unkilled = await killStorm({ ...storm, kills: 0 });
  const wanted = unkilled.outcome;
  const wrong = [...unkilled.wrong];
  for (const what of wrong) console.log(`  without a kill: ${what}`);
  let done = { kills: 0, starts: 0, turns: 0, projects: 0, slowestEndMs: 0 };
  while (wanted !== null && done.kills < kills && (performance.now() - started) / 60_000 < Number(values.minutes)) {
    const result = await killStorm({ ...storm, kills: kills - done.kills, wanted });
    done = {
      kills: done.kills + result.kills,
      starts: done.starts + result.starts,
      turns: done.turns + result.turns,
      projects: done.projects + 1,
      slowestEndMs: Math.max(done.slowestEndMs, result.slowestEndMs),
    };
    wrong.push(...result.wrong);
    const kept = result.wrong.length > 0 && values.keep ? `, kept in ${result.folder}` : "";
    console.log(
      `${workflow} project ${done.projects}: ${result.kills} kills, ${result.turns} turns, ${result.wrong.length} wrong${kept}`,
    );
    for (const what of result.wrong) console.log(`  ${what}`);
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `${workflow}: seed ${seed}: ${done.kills} kills, ${done.starts} starts, ${done.turns} agent turns, ${done.projects} projects in ${seconds} s; ` +
      `the slowest end of all processes ${Math.round(done.slowestEndMs)} ms; ${wrong.length} fell short`,
  );
  return wrong.length === 0 && done.kills >= kills;
}

process.exitCode = await main();
