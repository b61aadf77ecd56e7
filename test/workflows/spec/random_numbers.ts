/** Numbers that look random and come again with the seed (mulberry32). */
export interface Random {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value | undefined;
  chance(share: number): boolean;
}

export function randomNumbers(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, chance: (share) => next() < share, pick: (values) => values[below(values.length)] };
}

/** The seed of this run: `RALPH_SEED`, or one of its own. It is printed with every failure. */
export function seedOfRun(): number {
  return Number(process.env["RALPH_SEED"] ?? Date.now() % 1_000_000);
}
