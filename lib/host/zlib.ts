import process from "node:process";

/** No byte becomes more than so many. */
const MOST_OF_ONE = 1032;

/** The part of `Bun` that is used. `windowBits: 15`: with the header and the sum that `node:zlib` writes. */
interface BunZlib {
  inflateSync(packed: Uint8Array, options: { readonly windowBits: number }): Uint8Array<ArrayBuffer>;
  deflateSync(bytes: Uint8Array, options: { readonly level: number }): Uint8Array<ArrayBuffer>;
  readonly hash: { adler32(bytes: Uint8Array): number };
}

const { Bun: bun } = globalThis as { readonly Bun?: BunZlib };

/**
 * Unpacks; without `node:zlib`, whose loading takes Bun longer than all that a run unpacks, where it cannot become too large.
 *
 * @throws {Error} for what is torn, or becomes larger than `most`
 */
export function inflated(packed: Uint8Array, most: number = 2 ** 32 - 1): Buffer {
  return bun === undefined || packed.length * MOST_OF_ONE > most
    ? process.getBuiltinModule("node:zlib").inflateSync(packed, { maxOutputLength: most })
    : Buffer.from(bun.inflateSync(packed, { windowBits: 15 }));
}

/** Packs fast. */
export function deflated(bytes: Uint8Array): Uint8Array {
  if (bun === undefined) return process.getBuiltinModule("node:zlib").deflateSync(bytes, { level: 1 });
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(bun.hash.adler32(bytes));
  return Buffer.concat([Buffer.from([0x78, 0x01]), bun.deflateSync(bytes, { level: 1 }), sum]);
}
