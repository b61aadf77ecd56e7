/**
 * Every write, rename, start of a program and power cut of a whole run, in all workflows:
 * `npm run test:crash -- --minutes 60 --seed 7 [--workflow spec]… [--rounds 1] [--only TEXT] [--ralph FILE]`. The points are
 * mixed by the seed and taken from all workflows in turn, so that a run that is cut off has seen a fair part of each; the
 * time is for three rounds, in which the agents of a workflow leave their work in the three ways: after one round each
 * workflow's run was hit at each of its points. Exit code 1 if anything fell short.
 */
import { parseArgs } from "node:util";
import { seededRandom } from "../random.ts";
import { type CrashPoint, pointsOf, shuffled } from "./points.ts";
import { type CrashProject, crashProject, LEAVING, WORKFLOWS } from "./projects.ts";

const PROGRESS_EVERY_MS = 15_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 100_000) },
    minutes: { type: "string", default: "600" },
    workflow: { type: "string", multiple: true },
    rounds: { type: "string", default: String(LEAVING.length) },
    only: { type: "string", default: "" },
    ralph: { type: "string" },
  },
});

/** Points of one kind in one project. */
interface Lot {
  readonly name: string;
  readonly points: readonly CrashPoint[];
  tried: number;
  wrong: number;
}

async function main(): Promise<number> {
  if (values.ralph !== undefined) process.env["RALPH_E2E"] = values.ralph;
  const random = seededRandom(Number(values.seed));
  const started = performance.now();
  console.log(`seed ${values.seed}`);
  let wrong = 0;
  const rounds = Math.min(Number(values.rounds), LEAVING.length);
  for (let round = 0; round < rounds; round++) {
    const until = started + Number(values.minutes) * 60_000 * (round + 1) / rounds;
    wrong += await sweep(round, random, until);
  }
  return wrong > 0 ? 1 : 0;
}

/** One project of each workflow, whose agents leave their work in different ways. @returns how many points fell short */
async function sweep(round: number, random: () => number, until: number): Promise<number> {
  const projects: CrashProject[] = [];
  try {
    const lots: Lot[] = [];
    for (const [index, workflow] of WORKFLOWS.entries()) {
      if (values.workflow?.includes(workflow) === false) continue;
      const leaving = LEAVING[(index + round) % LEAVING.length]!;
      const project = crashProject(workflow, leaving);
      projects.push(project);
      for (const { kind, points } of await pointsOf(project)) {
        const chosen = shuffled(points.filter(({ what }) => what.includes(values.only)), random);
        lots.push({ name: `${workflow}, work in the ${leaving}, ${kind}`, points: chosen, tried: 0, wrong: 0 });
      }
    }
    await tryAll(lots, until);
    for (const { name, points, tried, wrong } of lots) {
      console.log(`${name}: ${tried} of ${points.length}, wrong: ${wrong}`);
    }
    return lots.reduce((sum, { wrong }) => sum + wrong, 0);
  } finally {
    for (const project of projects) project.remove();
  }
}

/** As many of each lot's points as its share of all: at any moment the same part of each was tried. */
async function tryAll(lots: readonly Lot[], until: number): Promise<void> {
  const all = lots.reduce((sum, { points }) => sum + points.length, 0);
  const started = performance.now();
  let reported = 0;
  for (let tried = 0; tried < all && performance.now() < until; tried++) {
    const open = lots.filter((lot) => lot.tried < lot.points.length);
    const lot = open.reduce((least, one) => share(one) < share(least) ? one : least);
    const point = lot.points[lot.tried]!;
    lot.tried += 1;
    const wrong = await point.wrong();
    if (wrong.length > 0) {
      lot.wrong += 1;
      console.log(`WRONG ${point.what}: ${wrong.join("; ")}`);
    }
    if (performance.now() - reported < PROGRESS_EVERY_MS) continue;
    reported = performance.now();
    const found = lots.reduce((sum, one) => sum + one.wrong, 0);
    console.log(`${tried + 1} of ${all} points, wrong: ${found}, ${seconds(started)} s`);
  }
}

function share({ tried, points }: Lot): number {
  return tried / points.length;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

process.exit(await main());
