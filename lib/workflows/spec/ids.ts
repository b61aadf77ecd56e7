import { type Repository, topLevelPaths } from "../../git/repository.ts";
import { idsOf, pendingOf, readLine, recordIn } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

/** Characters after the prefix. */
const LENGTH = 4;
const TRIES = 64;

/** Gives ids that are not taken: `t-` or `i-` and four characters, more when four are crowded; or the one that is asked for. */
export function idGiver(
  prefix: "t" | "i",
  known: ReadonlySet<string>,
  random: (length: number) => string,
): (asked?: string) => string {
  const taken = new Set(known);
  function fresh(): string {
    for (let tries = 0;; tries++) {
      const id = `${prefix}-${random(LENGTH + Math.floor(tries / TRIES))}`;
      if (!taken.has(id)) return id;
    }
  }
  return (asked = fresh()) => {
    taken.add(asked);
    return asked;
  };
}

/** The place of the plan's history. */
export interface PlanPlace {
  readonly root: string;
  readonly repository: Repository | null;
}

/**
 * The lines of these tasks and issues as git last saw them, by id: also of those that have left the file. One git process.
 *
 * @param from the history that is read: of this branch, or of all
 */
export async function linesInHistory(
  { root, repository }: PlanPlace,
  ids: readonly string[],
  from: "HEAD" | "--all",
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const possible = ids.filter((id) => !id.includes("\0")); // what no program can be given as an argument
  if (repository === null || possible.length === 0) return found;
  const names = possible.map((id) => id.replaceAll(/[^\w-]/g, "\\$&")).join("|");
  const plain = ["--no-color", "--text", "--no-ext-diff", "--no-textconv", "--format=%x00"];
  const paths = topLevelPaths({ root, repository }, [PLAN_FILE]);
  const patch = ["log", from, "-p", "-U0", ...plain, `-G"id" *: *"(${names})"`];
  const { stdout } = await repository.git([...patch, "--", ...paths]);
  for (const commit of stdout.split("\0")) {
    const lines = commit.split("\n");
    // a commit has the line that it added, or took away the one that it removed
    for (const line of [...lines.filter((one) => one.startsWith("+")), ...lines.filter((one) => one.startsWith("-"))]) {
      const record = recordIn(readLine(line.slice(1), 0).entry);
      if (record === null || !possible.includes(record.id) || found.has(record.id)) continue;
      found.set(record.id, line.slice(1));
    }
  }
  return found;
}

/** The dependencies of pending tasks that neither the file nor its history knows, a line each. */
export async function unknownDependencies(plan: Plan, place: PlanPlace): Promise<readonly string[]> {
  const here = idsOf(plan);
  const waiting = pendingOf(plan).flatMap(({ id, line, deps }) =>
    deps.filter((one) => !here.has(one)).map((one) => ({ id, line, missing: one }))
  );
  const known = await linesInHistory(place, [...new Set(waiting.map(({ missing }) => missing))], "--all");
  return waiting.filter(({ missing }) => !known.has(missing)).map(({ id, line, missing }) =>
    `line ${line}: ${id} depends on ${missing}, which the plan has never had: it counts as done`
  );
}
