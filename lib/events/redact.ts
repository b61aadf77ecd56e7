/**
 * Masks secrets in text and in streams of bytes, also where a secret is split between two chunks.
 *
 * @module
 */
import { createFinder, type Finder } from "./secret_finder.ts";

const MASK = Buffer.from("***");

/** Masks a stream: what `push` and `end` return, one after the other, is the masked stream. */
export interface Masker {
  push(chunk: Uint8Array): Uint8Array;
  /** What was held back because it could have become a secret. */
  end(): Uint8Array;
}

/** Masks whole texts, or starts a stream. */
export interface Redactor {
  /** The text with each secret replaced by `***`; the same string when there is none. */
  text(text: string): string;
  stream(): Masker;
}

/**
 * Masks these values, and everything that has the shape of a well-known key.
 *
 * @example
 * ```ts
 * import { createRedactor } from "ralph/host";
 *
 * const redactor = createRedactor(["hunter2hunter2"]);
 * console.log(redactor.text("the password is hunter2hunter2")); // the password is ***
 * ```
 */
export function createRedactor(values: readonly string[]): Redactor {
  const finder = createFinder(values);
  return {
    text(text: string): string {
      const bytes = Buffer.from(text, "utf8");
      if (finder.find(bytes, 0).length === 0) return text;
      const masker = createMasker(finder);
      return Buffer.concat([masker.push(bytes), masker.end()]).toString("utf8");
    },
    stream: () => createMasker(finder),
  };
}

function createMasker(finder: Finder): Masker {
  /** Bytes that may begin a secret. */
  let held: Buffer = Buffer.alloc(0);
  /** How many of them a mask stands for that was written already. */
  let covered = 0;
  /** The byte before `held`, or 0. */
  let before = 0;
  /** The last thing written is a mask: what follows it at once needs none of its own. */
  let afterMask = false;
  /** The last mask stands for a key that may continue. */
  let insideKey = false;

  function take(chunk: Uint8Array, last: boolean): Uint8Array {
    const bytes = held.length === 0 ? viewOf(chunk) : Buffer.concat([held, chunk]);
    let position = covered;
    if (insideKey) {
      const end = finder.keyEnd(bytes, 0);
      position = Math.max(position, end);
      insideKey = end === bytes.length;
    }
    const end = last ? bytes.length : finder.undecided(bytes, before);
    const parts: Uint8Array[] = [];
    for (const span of finder.find(bytes, before)) {
      if (span.from >= end) break;
      if (span.from > position) parts.push(bytes.subarray(position, span.from));
      if (span.from > position || !afterMask) parts.push(MASK);
      afterMask = true;
      position = Math.max(position, span.to);
      if (span.key && span.to === bytes.length) insideKey = true;
    }
    if (position < end) {
      parts.push(bytes.subarray(position, end));
      position = end;
      afterMask = false;
    }
    covered = position - end;
    if (end > 0) before = bytes[end - 1]!;
    held = Buffer.from(bytes.subarray(end));
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  return {
    push: (chunk: Uint8Array) => take(chunk, false),
    end: () => take(Buffer.alloc(0), true),
  };
}

function viewOf(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
