import { join, relative } from "node:path";
import type { Repository } from "../../git/types.ts";
import { PLAN_FILE } from "./types.ts";

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

/** Those of the ids that the plan's history knows although the file does not hold them any more. */
export async function knownInHistory(
  { root, repository }: { readonly root: string; readonly repository: Repository | null },
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  if (repository === null) return known;
  const path = relative(repository.topLevel, join(root, PLAN_FILE)).replaceAll("\\", "/");
  for (const id of ids) {
    const found = await repository.git(["log", "--all", "--max-count=1", "--format=%h", `-S"${id}"`, "--", path]);
    if (found.exitCode === 0 && found.stdout.trim() !== "") known.add(id);
  }
  return known;
}
