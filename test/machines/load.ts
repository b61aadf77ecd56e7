/**
 * Measures the cost of many items through the whole: `npm run test:load -- ITEMS WORKERS` (300 and 10). A PostgreSQL of
 * its own, one coordinator and the workers, each a process in a clone of its own, and an agent of no time. Prints what
 * each of them used and how an item's time grows; exit code 1 if an item was not settled just once. `--ralph FILE`
 * names another program than dist/ralph, `--minutes 90` how long it may take.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Postgres } from "./postgres.ts";
import { runTrial, type Sample, type TrialEnd } from "./trial.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    ralph: { type: "string", default: join(ROOT, "dist/ralph") },
  },
});
const [items = 300, workers = 10] = positionals.map(Number);

/** Two processes a turn: what is measured is Ralph. */
const AGENT = `#!/bin/sh
cat > /dev/null
echo "$RALPH_ITEM" >> "$TURNS"
number=\${RALPH_ITEM#US-}
while [ "\${number#0}" != "$number" ]; do number=\${number#0}; done
echo done > "f$number.txt"
echo "<promise>COMPLETE</promise>"
`;

async function main(): Promise<number> {
  if (!existsSync(values.ralph)) {
    console.error(`${values.ralph} does not exist: run \`npm run build\` first`);
    return 2;
  }
  // a copy: a build beside it must not change the program under test
  const folder = mkdtempSync(join(tmpdir(), "ralph-load-binary-"));
  const ralph = join(folder, "ralph");
  copyFileSync(values.ralph, ralph);
  const postgres = await Postgres.start();
  try {
    const end = await runTrial({
      ralph: [ralph],
      agent: AGENT,
      items,
      workers,
      postgres,
      limitMs: Number(values.minutes) * 60_000,
      onSample: ({ seconds, commits }) => console.log(`${seconds.toFixed(0).padStart(6)} s ${commits - 1} landed`),
    });
    return report(end);
  } finally {
    postgres[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(end: TrialEnd): number {
  const landed = Object.keys(end.commits).length;
  const each = (seconds: number): string => `${(1000 * seconds / Math.max(1, landed)).toFixed(1)} ms`;
  const { coordinatorCpu, workersCpu } = end;
  const figures = {
    items,
    workers,
    landed,
    turns: end.turns.length,
    seconds: Math.round(end.seconds),
    "items a second": Number((landed / end.seconds).toFixed(2)),
    "seconds an item, by tenths of the items": perItem(end.samples),
    "CPU an item": {
      coordinator: each(coordinatorCpu.own),
      "its children (git, checks)": each(coordinatorCpu.children),
      workers: each(workersCpu.own),
      "their children (git, checks, agents)": each(workersCpu.children),
      PostgreSQL: each(end.databaseCpu),
    },
    "MiB at most": { coordinator: end.coordinatorMiB, worker: end.workerMiB, PostgreSQL: end.databaseMiB },
    pushed: end.pushed,
    "refs left": end.refs.length,
  };
  console.log(JSON.stringify(figures, null, 2));
  const wrong = wrongIn(end);
  for (const problem of wrong) console.error(problem);
  if (wrong.length > 0) console.error(end.log.slice(-4_000));
  return wrong.length === 0 ? 0 : 1;
}

/** The rules that do not hold. */
function wrongIn(end: TrialEnd): readonly string[] {
  const often = Object.entries(end.commits).filter(([, times]) => times !== 1);
  const strange = [...end.pushed, ...end.refs].filter((ref) => !ref.startsWith("refs/ralph/"));
  return [
    ...end.exitCode === 0 ? [] : [`exit code ${end.exitCode}`],
    ...end.passed === items ? [] : [`${end.passed} of ${items} passed`],
    ...Object.keys(end.commits).length === items ? [] : [`${Object.keys(end.commits).length} of ${items} committed`],
    ...often.map(([id, times]) => `${id} was committed ${times} times`),
    ...end.turns.length === items ? [] : [`${end.turns.length} turns for ${items} items`],
    ...end.fsck === "" ? [] : [`git fsck: ${end.fsck}`],
    ...strange.map((ref) => `${ref} was pushed`),
  ];
}

/** Seconds an item in each tenth of the items, between the samples by the line that joins them. */
function perItem(samples: readonly Sample[]): readonly number[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.commits === first.commits) return [];
  const timeAt = (commits: number): number => {
    const after = samples.findIndex((one) => one.commits >= commits);
    const [from, to] = [samples[Math.max(0, after - 1)] ?? first, samples[after] ?? last];
    const part = to.commits === from.commits ? 0 : (commits - from.commits) / (to.commits - from.commits);
    return from.seconds + part * (to.seconds - from.seconds);
  };
  const step = (last.commits - first.commits) / 10;
  return Array.from({ length: 10 }, (_, tenth) => {
    const from = first.commits + tenth * step;
    return Number(((timeAt(from + step) - timeAt(from)) / step).toFixed(3));
  });
}

process.exit(await main());
