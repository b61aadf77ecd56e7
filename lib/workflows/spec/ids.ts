import { topLevelPaths } from "../../git/tree_paths.ts";
import type { Repository } from "../../git/types.ts";
import { idsOf, pendingOf } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

/** Characters after the prefix. */
const LENGTH = 4;
const TRIES = 64;

/** Random letters and digits. */
export type RandomText = (length: number) => string;

/** An id that is not taken: `t-` or `i-` and four characters, more when four are crowded. */
export function newId(prefix: "t" | "i", taken: ReadonlySet<string>, random: RandomText): string {
  for (let tries = 0;; tries++) {
    const id = `${prefix}-${random(LENGTH + Math.floor(tries / TRIES))}`;
    if (!taken.has(id)) return id;
  }
}

/** The place of the plan's history. */
export interface PlanPlace {
  readonly root: string;
  readonly repository: Repository | null;
}

/** The ids whose record the plan's history knows although the file does not hold it any more. One git process. */
export async function knownInHistory(
  { root, repository }: PlanPlace,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const possible = ids.filter((id) => !id.includes("\0")); // what no program can be given as an argument
  if (repository === null || possible.length === 0) return new Set();
  const paths = topLevelPaths({ root, repository }, [PLAN_FILE]);
  const names = possible.map((id) => id.replaceAll(/[^\w-]/g, "\\$&")).join("|");
  const found = await repository.git(
    [
      "log",
      "--all",
      "-p",
      "-U0",
      "--no-ext-diff",
      "--no-textconv",
      "--format=",
      `-G"id" *: *"(${names})"`,
      "--",
      ...paths,
    ],
  );
  const records = found.stdout.matchAll(/^[+-].*?"id"\s*:\s*"([^"]*)"/gm);
  const known = new Set([...records].map(([, id]) => id));
  return new Set(possible.filter((id) => known.has(id)));
}

/** The dependencies of pending tasks that neither the file nor its history knows, a line each. */
export async function unknownDependencies(plan: Plan, place: PlanPlace): Promise<readonly string[]> {
  const here = idsOf(plan);
  const waiting = pendingOf(plan).flatMap(({ id, line, deps }) =>
    deps.filter((one) => !here.has(one)).map((one) => ({ id, line, missing: one }))
  );
  const known = await knownInHistory(place, [...new Set(waiting.map(({ missing }) => missing))]);
  return waiting.filter(({ missing }) => !known.has(missing)).map(({ id, line, missing }) =>
    `line ${line}: ${id} depends on ${missing}, which the plan has never had: it counts as done`
  );
}
