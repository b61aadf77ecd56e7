import { seededRandom } from "../random.ts";

/** Which points of a run are tried. */
export interface ChosenPoints {
  readonly all: boolean;
  /** For the points of one workflow, in milliseconds. */
  readonly timeout: number;
  readonly has: (point: number) => boolean;
}

/**
 * All points where `RALPH_CRASHES` is `all`, else as many of the first `upTo` as it says.
 *
 * @param upTo every run has that many
 */
export function chosenPoints(seed: number, upTo: number): ChosenPoints {
  const asked = process.env["RALPH_CRASHES"] ?? "1";
  if (asked === "all") return { all: true, timeout: 7_200_000, has: () => true };
  const random = seededRandom(seed);
  const chosen = new Set(Array.from({ length: Number(asked) }, () => 1 + Math.floor(random() * upTo)));
  return { all: false, timeout: 120_000 + Number(asked) * 20_000, has: (point) => chosen.has(point) };
}
