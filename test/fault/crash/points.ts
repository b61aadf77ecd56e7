/** All points of a run at which it can be hit, and the order in which they are tried. */
import { type Names, readTree } from "./disk.ts";
import { failurePoints } from "./failures.ts";
import { powerCutPoints } from "./power_cut.ts";
import type { CrashProject } from "./projects.ts";

/** One point of a run. */
export interface CrashPoint {
  /** The workflow, what happens, and where. */
  readonly what: string;
  /** Lets it happen, and starts Ralph again. @returns what fell short */
  readonly wrong: () => Promise<readonly string[]>;
}

/** Points of one kind in one project. */
export interface CrashPoints {
  readonly kind: "failures" | "power cuts";
  readonly points: readonly CrashPoint[];
}

/** The points of a project, with its tree as it is now at their start. */
export async function pointsOf(project: CrashProject): Promise<readonly CrashPoints[]> {
  const start: Names = readTree(project.root);
  return [
    { kind: "power cuts", points: await powerCutPoints(project, start) },
    { kind: "failures", points: await failurePoints(project, start) },
  ];
}

/** Mixed by a seed. Pure. */
export function shuffled<Value>(values: readonly Value[], random: () => number): readonly Value[] {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}
