import { seededRandom } from "../random.ts";
import { type CrashPoint, shuffled } from "./points.ts";

/** For the points of one project, in milliseconds. */
export const LONGEST_MS = 120_000;

/** Lists the shortcomings at a few points, chosen by a seed; `npm run test:crash` tries all of them. */
export async function wrongAtSome(
  points: readonly CrashPoint[],
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const point of shuffled(points, seededRandom(seed)).slice(0, count)) {
    console.log(`${point.what}, seed ${seed}, of ${points.length} points`);
    const here = await point.wrong();
    if (here.length > 0) wrong.push(`${point.what}: ${here.join("; ")}`);
  }
  return wrong;
}
