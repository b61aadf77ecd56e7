import { followedRun } from "./followed_run.mjs";
import { median } from "./world.mjs";
import { PROJECTS } from "./workflows.mjs";

/** Iterations after which the memory is read. */
const AT = [100, 500, 1000, 2000];
/**
 * A reading is the median of what was seen in so many iterations before it: a collector frees in steps. The final check
 * of all items, after the last turn, is no part of it.
 */
const WINDOW = 40;
/** From 500 iterations on: until then the runtime itself grows. */
const FROM = 500;
const MOST_GROWTH = 1.1;

/** Resident memory of Ralph alone in a run of 2,000 iterations, in each workflow: it does not grow with them. */
export async function measureMemory({ ralph, iterations = AT.at(-1), workflows = Object.keys(PROJECTS) }) {
  const rows = [];
  for (const name of workflows) rows.push(rowOf(name, await followedRun(ralph, name, iterations), iterations));
  return rows;
}

function rowOf(name, samples, iterations) {
  const read = AT.filter((at) => at <= iterations).map((at) => ({ at, bytes: bytesAt(samples, at) }));
  const first = read.find(({ at }) => at === FROM) ?? read[0];
  const ratio = read.at(-1).bytes / first.bytes;
  return {
    what: `${name}: memory after ${read.map(({ at }) => at.toLocaleString("en-US")).join(" / ")} iterations`,
    measured: `${read.map(({ bytes }) => (bytes / 1e6).toFixed(0)).join(" / ")} MB`,
    floor: `${(first.bytes / 1e6).toFixed(0)} MB (after ${first.at})`,
    ratio: ratio.toFixed(2),
    budget: `<= ${MOST_GROWTH} x`,
    met: ratio <= MOST_GROWTH,
  };
}

function bytesAt(samples, at) {
  return median(samples.filter(({ turns }) => turns >= at - WINDOW && turns < at).map(({ bytes }) => bytes));
}
