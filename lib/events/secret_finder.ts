/**
 * Finds secrets in bytes, fast enough to stand in every stream: it looks at a fraction of the bytes only.
 *
 * @module
 */
import { KEY_SHAPES } from "./secrets.ts";

/** A secret: bytes `[from, to)`. A `key` continues as long as its characters do. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly key: boolean;
}

/** Looks for secrets in a piece of a stream. `before` is the byte before the piece, or 0. */
export interface Finder {
  /** All secrets, overlapping ones included, by where they begin. */
  find(bytes: Buffer, before: number): Span[];
  /** Where the first secret could begin that more bytes are needed to tell; the piece's length when there is none. */
  undecided(bytes: Buffer, before: number): number;
  /** Where the key's characters that begin at `from` end. */
  keyEnd(bytes: Buffer, from: number): number;
}

const SHORTEST_VALUE = 4;

/** A finder of these values and of keys of well-known shapes. */
export function createFinder(values: readonly string[]): Finder {
  const needles = values.map((value) => Buffer.from(value, "utf8")).filter((needle) => needle.length >= SHORTEST_VALUE);
  const searchValues = needles.length === 0 ? null : createSearch(needles);
  return {
    find(bytes: Buffer, before: number): Span[] {
      const spans: Span[] = [];
      searchValues?.(bytes, (from, needle) => spans.push({ from, to: from + needle.length, key: false }));
      findKeys(bytes, before, spans);
      return spans.length < 2 ? spans : spans.sort((one, other) => one.from - other.from);
    },
    undecided: (bytes: Buffer, before: number) => Math.min(undecidedValue(bytes, needles), undecidedKey(bytes, before)),
    keyEnd,
  };
}

type Search = (bytes: Buffer, found: (from: number, needle: Buffer) => void) => void;

/** Wu and Manber's search for many words at once, by blocks of two bytes: most bytes are never looked at. */
function createSearch(needles: readonly Buffer[]): Search {
  const window = Math.min(...needles.map((needle) => needle.length));
  const shifts = new Uint8Array(65536).fill(Math.min(255, window - 1));
  const buckets = new Map<number, Buffer[]>();
  for (const needle of needles) {
    for (let index = 0; index + 1 < window; index += 1) {
      const block = needle[index]! | (needle[index + 1]! << 8);
      shifts[block] = Math.min(shifts[block]!, window - 2 - index);
    }
    const last = needle[window - 2]! | (needle[window - 1]! << 8);
    buckets.set(last, [...(buckets.get(last) ?? []), needle]);
  }
  const next = createNext(shifts, window);
  return (bytes, found) => {
    for (let index = next(bytes, window - 1); index < bytes.length; index = next(bytes, index + 1)) {
      const from = index - window + 1;
      for (const needle of buckets.get(bytes[index - 1]! | (bytes[index]! << 8)) ?? []) {
        if (startsWith(bytes, from, needle)) found(from, needle);
      }
    }
  };
}

/** The loop that sees every stream: nothing else is in it. */
function createNext(shifts: Uint8Array, window: number): (bytes: Buffer, start: number) => number {
  return (bytes, start) => {
    const table = shifts;
    const length = bytes.length;
    let index = Math.max(start, window - 1);
    while (index < length) {
      const shift = table[bytes[index - 1]! | (bytes[index]! << 8)]!;
      if (shift === 0) break;
      index += shift;
    }
    return index;
  };
}

const IN_WORD = 2;
/** What a byte can be in a key: 0 nothing, else one of its characters; 2 a letter or digit. */
const KINDS = byteKinds();
const SHAPES = KEY_SHAPES.map(({ prefix, minimum }) => ({ prefix: Buffer.from(prefix), minimum }));
const LONGEST_MINIMUM = Math.max(...KEY_SHAPES.map(({ minimum }) => minimum));

/** The rare byte by which each shape is looked for. */
const ANCHORS: readonly Anchor[] = [..."-_AJ"].map((character) => ({
  byte: character.charCodeAt(0),
  shapes: SHAPES.filter(({ prefix }) => anchorOf(prefix) === character)
    .map((shape) => ({ ...shape, offset: shape.prefix.indexOf(character) })),
}));

interface Anchor {
  readonly byte: number;
  readonly shapes: readonly { readonly prefix: Buffer; readonly minimum: number; readonly offset: number }[];
}

function findKeys(bytes: Buffer, before: number, spans: Span[]): void {
  for (const { byte, shapes } of ANCHORS) {
    let runEnd = 0;
    let hit = nextByte(bytes, byte, 0);
    while (hit < bytes.length) {
      let resume = hit + 1;
      for (const { prefix, minimum, offset } of shapes) {
        const from = hit - offset;
        if (from < 0 || !startsWith(bytes, from, prefix) || isInWord(bytes, from, before)) continue;
        if (from >= runEnd) runEnd = keyEnd(bytes, from);
        if (runEnd - from < minimum) continue;
        spans.push({ from, to: runEnd, key: true });
        resume = runEnd;
        break;
      }
      hit = nextByte(bytes, byte, resume);
    }
  }
}

/** Where the byte stands next, or the length. Near ones are cheaper to find by hand than by a call of `indexOf`. */
function nextByte(bytes: Buffer, byte: number, from: number): number {
  const near = Math.min(from + 48, bytes.length);
  let index = from;
  while (index < near && bytes[index] !== byte) index += 1;
  if (index < near) return index;
  const found = bytes.indexOf(byte, index);
  return found < 0 ? bytes.length : found;
}

function undecidedKey(bytes: Buffer, before: number): number {
  const length = bytes.length;
  let start = length;
  while (start > 0 && length - start < LONGEST_MINIMUM && KINDS[bytes[start - 1]!] !== 0) start -= 1;
  for (let from = start; from < length; from += 1) {
    if (isInWord(bytes, from, before)) continue;
    const rest = length - from;
    if (SHAPES.some((shape) => rest < shape.minimum && startsLike(bytes, from, shape.prefix))) return from;
  }
  return length;
}

/** A key does not begin in the middle of a word: `task-force` holds no `sk-`. */
function isInWord(bytes: Buffer, from: number, before: number): boolean {
  return (KINDS[from === 0 ? before : bytes[from - 1]!]! & IN_WORD) !== 0;
}

function undecidedValue(bytes: Buffer, needles: readonly Buffer[]): number {
  let undecided = bytes.length;
  for (const needle of needles) {
    const first = needle[0]!;
    let from = bytes.indexOf(first, Math.max(0, bytes.length - needle.length + 1));
    while (from >= 0 && from < undecided) {
      if (startsLike(bytes, from, needle)) undecided = from;
      from = bytes.indexOf(first, from + 1);
    }
  }
  return undecided;
}

function keyEnd(bytes: Buffer, from: number): number {
  const kinds = KINDS;
  const length = bytes.length;
  let end = from;
  while (end < length && kinds[bytes[end]!] !== 0) end += 1;
  return end;
}

function startsWith(bytes: Buffer, from: number, needle: Buffer): boolean {
  return from + needle.length <= bytes.length && startsLike(bytes, from, needle);
}

/** The bytes from here on are the needle's, as far as both go. */
function startsLike(bytes: Buffer, from: number, needle: Buffer): boolean {
  const count = Math.min(needle.length, bytes.length - from);
  for (let index = 0; index < count; index += 1) if (bytes[from + index] !== needle[index]) return false;
  return true;
}

function anchorOf(prefix: Buffer): string {
  return [...prefix.toString()].find((character) => "-_AJ".includes(character)) ?? "";
}

function byteKinds(): Uint8Array {
  const kinds = new Uint8Array(256);
  for (const byte of Buffer.from("_-.")) kinds[byte] = 1;
  for (const byte of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")) {
    kinds[byte] = 1 | IN_WORD;
  }
  return kinds;
}
