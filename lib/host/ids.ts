import type { Ids } from "./types.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Names from the machine's source of randomness; each letter is equally likely. */
export function createIds(): Ids {
  return { random };
}

function random(length: number): string {
  let name = "";
  while (name.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 252 && name.length < length) name += LETTERS[byte % 36];
    }
  }
  return name;
}
