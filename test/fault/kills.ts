/**
 * The kill battery: `npm run test:kills -- --kills 300 --seed 7`. Prints what it did and what fell short; exit code 1 if
 * anything did. `--ralph FILE` names another program than dist/ralph; `--parallel 4` works with so many workers.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { killStorm } from "./kill_storm.ts";
import { seededRandom } from "./random.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    stories: { type: "string", default: "10" },
    parallel: { type: "string", default: "1" },
    minutes: { type: "string", default: "30" },
    ralph: { type: "string", default: join(ROOT, "dist/ralph") },
    verbose: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});

async function main(): Promise<number> {
  const kills = Number(values.kills);
  const seed = Number(values.seed);
  const started = performance.now();
  if (!existsSync(values.ralph)) {
    console.error(`${values.ralph} does not exist: run \`npm run build\` first`);
    return 2;
  }
  // A copy: a build beside it must not change the program under test.
  const folder = mkdtempSync(join(tmpdir(), "ralph-kills-binary-"));
  const ralph = join(folder, "ralph");
  copyFileSync(values.ralph, ralph);
  const random = seededRandom(seed);
  let done = { kills: 0, starts: 0, turns: 0, projects: 0, slowestEndMs: 0 };
  const wrong: string[] = [];
  console.log(`seed ${seed}, ${kills} kills, ${values.stories} stories a project`);
  while (done.kills < kills && (performance.now() - started) / 60_000 < Number(values.minutes)) {
    const result = await killStorm({
      ralph: [ralph],
      kills: kills - done.kills,
      stories: Number(values.stories),
      workers: Number(values.parallel),
      random,
      keep: values.keep,
      ...(values.verbose ? { log: console.log } : {}),
    });
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
      `project ${done.projects}: ${result.kills} kills, ${result.turns} turns, ${result.wrong.length} wrong${kept}`,
    );
    for (const what of result.wrong) console.log(`  ${what}`);
  }
  rmSync(folder, { recursive: true, force: true });
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `seed ${seed}: ${done.kills} kills, ${done.starts} starts, ${done.turns} agent turns, ${done.projects} projects in ${seconds} s; ` +
      `the slowest end of all processes ${Math.round(done.slowestEndMs)} ms; ${wrong.length} fell short`,
  );
  return wrong.length > 0 || done.kills < kills ? 1 : 0;
}

process.exitCode = await main();
