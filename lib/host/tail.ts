/** The last bytes of a stream, in a ring of fixed size. */
export interface Tail {
  push(chunk: Uint8Array): void;
  /** The kept bytes, decoded as UTF-8 with damaged ones replaced. */
  text(): string;
}

/** Keeps the last `limit` bytes; memory is taken with the first byte and does not grow. */
export function createTail(limit: number): Tail {
  let ring: Uint8Array | undefined;
  let total = 0;
  let cursor = 0;

  function push(chunk: Uint8Array): void {
    total += chunk.length;
    if (limit <= 0 || chunk.length === 0) return;
    ring ??= new Uint8Array(limit);
    const end = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk;
    const first = Math.min(end.length, limit - cursor);
    ring.set(end.subarray(0, first), cursor);
    if (first < end.length) ring.set(end.subarray(first), 0);
    cursor = (cursor + end.length) % limit;
  }

  function text(): string {
    if (ring === undefined) return "";
    if (total <= limit) return new TextDecoder().decode(ring.subarray(0, total));
    const bytes = new Uint8Array(limit);
    bytes.set(ring.subarray(cursor), 0);
    bytes.set(ring.subarray(0, cursor), limit - cursor);
    return new TextDecoder().decode(bytes.subarray(startOfCharacter(bytes)));
  }

  return { push, text };
}

/** The offset of the first whole character: a cut may fall inside one, whose rest is left out instead of shown as damage. */
export function startOfCharacter(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}
