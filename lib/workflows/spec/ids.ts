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
