/** A number of places, taken in the order of asking. */
export interface Slots {
  /** Waits for a place, runs, gives it back. `first`: goes ahead of all that wait. */
  run<Value>(work: () => Promise<Value>, options?: { readonly first?: boolean }): Promise<Value>;
}

/** At most `count` pieces of work at once. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async run(work, { first = false } = {}) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => first ? waiting.unshift(resolve) : waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
