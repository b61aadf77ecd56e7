/**
 * Delta debugging: which of the files that were laid back make the checks fail. Pure but for the question it asks.
 *
 * @module
 */

/** The files that the checks fail with. */
export interface Narrowed {
  readonly paths: readonly string[];
  /** The question was not asked often enough to be sure: one or more of these. */
  readonly isCutShort: boolean;
}

/** Answers whether the checks fail with these files laid back; `null` if they could not be run. */
export type FailsWith = (paths: readonly string[]) => Promise<boolean | null>;

/**
 * The smallest prefix of the files that fails, then the file that ends it, until the rest agrees: about log2(n) runs for
 * each culprit. The order matters: put what is most likely to decide first.
 *
 * @param paths files that fail together
 * @param most how often the checks may be run
 */
export async function narrow(paths: readonly string[], failsWith: FailsWith, most: number): Promise<Narrowed> {
  let left = most;
  const ask: FailsWith = async (some) => {
    if (left <= 0) return null;
    left -= 1;
    return await failsWith(some);
  };
  const found: string[] = [];
  let rest = paths;
  while (rest.length > 0) {
    const culprit = await endOfFailingPrefix(rest, ask);
    if (culprit === null) return { paths: [...found, ...rest], isCutShort: found.length + rest.length > 1 };
    found.push(culprit);
    rest = rest.filter((path) => path !== culprit);
    if (rest.length === 0) break;
    const fails = await ask(rest);
    if (fails === null) return { paths: found, isCutShort: true };
    if (!fails) break;
  }
  return { paths: found, isCutShort: false };
}

/** The file without which the shortest failing prefix passes; `null` if the checks could not be run often enough. */
async function endOfFailingPrefix(paths: readonly string[], ask: FailsWith): Promise<string | null> {
  let [low, high] = [1, paths.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const fails = await ask(paths.slice(0, middle));
    if (fails === null) return null;
    if (fails) high = middle;
    else low = middle + 1;
  }
  return paths[high - 1] ?? null;
}
