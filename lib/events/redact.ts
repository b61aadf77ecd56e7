/**
 * Masks secrets in text and in streams of bytes, also where a secret is split between two chunks.
 *
 * Bytes are read as a string of one character each: that is what expressions are fastest on. Secrets are
 * looked for in the text as it reads too, and masked with the colours and the characters without width in them.
 *
 * @module
 */
import { orElse } from "../host/looks.ts";
import { endOfKey, findKeys, type KeySpan, LONGEST_SHAPE, undecidedKey } from "./key_shapes.ts";
import { hidesSomething, type Readable, readableOf } from "./readable.ts";

/** Shorter values are words, not secrets. */
export const SHORTEST_VALUE = 8;
const LONGEST_VALUE = 8192;
/** `base64` breaks its lines after 76 characters, `openssl base64` and PEM after 64. */
const LINE_LENGTHS = [64, 76];

/** The first group also at the end of a word (`APIKEY`), the second only as words between underscores. */
const NAME_REGEXP = new RegExp(
  "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|WEBHOOK|MNEMONIC|CONNECTION_STRING)S?(?:_|\\d|$)|" +
    "(?:^|_)(?:PAT|PASS|PWD|DSN|AUTH|SEED|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|PG|MYSQL|AMQP)_UR[IL])" +
    "S?(?:_|\\d|$)",
  "i",
);
const HARMLESS_NAME_REGEXP = /(?:_PATH|_FILE|_DIR|_NAME|_LENGTH|_TYPE|_SOCK)$|^(?:OLD)?PWD$/i;

/** Text by which an agent's claims are known: a variable with such a value must not hide one. */
const SIGNALS = "DONE COMPLETE VERIFIED BLOCKED FAILED LEARNING RESET APPROVE REJECT REJECTED APPROVED " +
  "<ralph> </ralph> <promise>COMPLETE</promise> <review> </review> RALPH_COMPLETE ###PLAN_COMPLETE### [RALPH] " +
  "PLAN_FAILED TASK_FAILED";

/**
 * Values to mask: those of variables whose names look like keys, a value of several lines line by line. Sorted, each
 * once; beside the plain form also those that JSON, URLs and base64 give it, and the password in a URL alone.
 *
 * @example
 * ```ts
 * import { secretValues } from "ralph/host";
 *
 * console.log(secretValues({ SERVICE_TOKEN: "abcdef123456", EDITOR: "vi" }).includes("abcdef123456")); // true
 * ```
 */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || value.length > LONGEST_VALUE) continue;
    if (!isSecretName(name)) continue;
    for (const secret of value.split(/[\r\n]+/).flatMap((line) => [line.trim(), ...passwordIn(line.trim())])) {
      if (secret.length < SHORTEST_VALUE || SIGNALS.includes(secret)) continue;
      for (const form of formsOf(secret)) if (form.length >= SHORTEST_VALUE) values.add(form);
    }
  }
  return [...values].sort();
}

/** True for the name of a variable that looks like a key. Pure. */
export function isSecretName(name: string): boolean {
  return NAME_REGEXP.test(name) && !HARMLESS_NAME_REGEXP.test(name);
}

/** The password in a URL, as it is there and as a program gets it: it is a secret without the rest as well. */
function passwordIn(text: string): readonly string[] {
  const password = URL.canParse(text) ? new URL(text).password : "";
  if (password === "") return [];
  const decoded = orElse(() => decodeURIComponent(password), password); // a sign that is no escape stands for itself
  return [password, Buffer.from(decoded).toString()];
}

function formsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  // by way of bytes: half a surrogate pair would throw
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  const lowerCase = inUrl.replaceAll(/%../g, (byte) => byte.toLowerCase());
  const encoded = [0, 1, 2].map((shift) => inBase64(secret, shift));
  const urlSafe = encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const wrapped = LINE_LENGTHS.flatMap((length) => linesOf(encoded[0]!, length));
  return [secret, inJson, inJson.replaceAll("/", "\\/"), inUrl, lowerCase, ...encoded, ...urlSafe, ...wrapped];
}

/** The whole lines of a text that is printed with line breaks; none where it fits in one. */
function linesOf(text: string, length: number): readonly string[] {
  return text.length <= length ? [] : text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
}

/** The characters that the base64 of a text with the secret in it always has, where `shift` bytes (of 3) come first. */
function inBase64(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString("base64").slice(shift === 0 ? 0 : shift + 1, whole);
}

const BEYOND_ASCII_REGEXP = /[\u0080-\uffff]/;
const MASK = Buffer.from("***");
/** Kept of what was written: what is before a secret counts. */
const CONTEXT = 8;
/** Bytes that show nothing are held back with what may become a secret, but no more than these. */
const MOST_HIDDEN = 16_384;

/** Masks a stream: what `push` and `end` return, one after the other, is the masked stream. */
export interface Masker {
  push(chunk: Uint8Array): Uint8Array;
  /** The text that was held back because it could have become a secret. */
  end(): Uint8Array;
}

/** Masks whole texts, or starts a stream. */
export interface Redactor {
  /** The text with each secret replaced by `***`; the same string when there is none. */
  text(text: string): string;
  stream(): Masker;
}

/** Masks the secrets that variables of the environment hold. */
export function redactorFor(variables: Readonly<Record<string, string | undefined>>): Redactor {
  return createRedactor(secretValues(variables));
}

/**
 * Masks these values (of 8 characters and more), and everything that has the shape of a well-known key.
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
  const written = values.map((value) => Buffer.from(value, "utf8").toString("latin1"));
  const needles = [...new Set(written.flatMap((value) => [value, readableOf(`${value} `)?.text.trimEnd() ?? value]))]
    .filter((needle) => needle.length >= SHORTEST_VALUE)
    .toSorted((one, other) => other.length - one.length);
  const find = createFinder(needles);
  return {
    text(text: string): string {
      // ASCII is its own bytes
      if (!BEYOND_ASCII_REGEXP.test(text) && find(text, null, 0).length === 0 && !hidesSomething(text)) return text;
      const bytes = Buffer.from(text, "utf8");
      const raw = bytes.toString("latin1");
      if (find(raw, readableOf(raw), 0).length === 0) return text;
      const masker = createMasker(needles, find);
      return Buffer.concat([masker.push(bytes), masker.end()]).toString("utf8");
    },
    stream: () => createMasker(needles, find),
  };
}

interface Span extends KeySpan {
  /** One of the values; else a key. */
  readonly isValue?: boolean;
  /** Nothing that shows comes after it. */
  readonly isLast?: boolean;
}

type Finder = (text: string, readable: Readable | null, start: number, free?: number) => Span[];

/** All secrets from `start` on, keys only where none that was found before still is, by where they begin. */
function createFinder(needles: readonly string[]): Finder {
  const findValues = needles.length === 0 ? null : createSearch(needles);
  return (text, readable, start, free = start) => {
    const spans: Span[] = [];
    findValues?.(text, start, spans);
    findKeys(text, start, free, (span) => spans.push(span));
    if (readable !== null) {
      const { text: read, at, endAt, from, isBroken } = readable;
      const found: Span[] = [];
      findValues?.(read, from(start), found);
      findKeys(read, from(start), from(free), (span) => found.push(span), isBroken);
      for (const span of found) {
        spans.push({ ...span, from: at(span.from), to: endAt(span.to), isLast: span.to === read.length });
      }
    }
    return spans.length < 2 ? spans : spans.sort((one, other) => one.from - other.from);
  };
}

/**
 * Looks for many values at once. Each has its first 8 characters in a table of what pairs of characters allow to skip,
 * so that most of the text is never looked at: 14 times as fast as an expression of 60 values.
 */
function createSearch(needles: readonly string[]): (text: string, start: number, spans: Span[]) => void {
  const last = SHORTEST_VALUE - 1;
  const skips = new Uint8Array(65536).fill(last);
  const byEnd = new Map<number, string[]>();
  for (const needle of needles) {
    for (let index = 1; index <= last; index += 1) {
      const pair = pairAt(needle, index);
      skips[pair] = Math.min(skips[pair]!, last - index);
      if (index === last) byEnd.set(pair, [...byEnd.get(pair) ?? [], needle]);
    }
  }
  return (text, start, spans) => {
    for (let index = start + last; index < text.length;) {
      const skip = skips[pairAt(text, index)]!;
      if (skip === 0) {
        const from = index - last;
        const needle = byEnd.get(pairAt(text, index))?.find((value) => text.startsWith(value, from));
        if (needle !== undefined) {
          spans.push({ from: unescaped(text, from), to: from + needle.length, more: null, isValue: true });
        }
      }
      index += skip === 0 ? 1 : skip;
    }
  };
}

function pairAt(text: string, index: number): number {
  return text.charCodeAt(index - 1) | (text.charCodeAt(index) << 8);
}

/** In JSON the `n` of `\n` can be taken for a value's first character: then its backslash is masked with it. */
function unescaped(text: string, from: number): number {
  let start = from;
  while (start > 0 && text[start - 1] === "\\" && from - start < CONTEXT) start -= 1;
  return (from - start) % 2 === 1 ? from - 1 : from;
}

function createMasker(needles: readonly string[], find: Finder): Masker {
  const undecided = createUndecided(needles);
  /** The end of what was written, then what may begin a secret. */
  let held = "";
  /** The second part begins here in it. */
  let start = 0;
  /** How many characters of that a mask was written for already. */
  let covered = 0;
  /** How many of these are of a key. */
  let keyed = 0;
  /** The last thing written is a mask: what follows it at once needs none of its own. */
  let afterMask = false;
  /** The last mask is for a key that may continue. */
  let open: RegExp | null = null;

  function take(chunk: Uint8Array, last: boolean): Uint8Array {
    const added = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = held === "" ? added : Buffer.concat([Buffer.from(held, "latin1"), added]);
    const text = bytes.toString("latin1");
    const readable = readableOf(text);
    const end = last ? text.length : Math.max(start, undecided(text, readable, start));
    let position = start + covered;
    let free = start + keyed;
    if (open !== null) {
      const goesOn = endOfOpen(text, readable, start, open);
      free = Math.max(free, goesOn.to);
      position = Math.max(position, free);
      if (!goesOn.isLast) open = null;
    }
    const parts: Uint8Array[] = [];
    for (const span of find(text, readable, start, free)) {
      if (span.from >= end) break;
      if (span.from > position) parts.push(bytes.subarray(position, span.from));
      if (span.from > position || !afterMask) parts.push(MASK);
      afterMask = true;
      position = Math.max(position, span.to);
      if (span.isValue !== true) free = Math.max(free, span.to);
      if (span.isLast ?? span.to === text.length) open = span.more;
    }
    if (position < end) {
      parts.push(bytes.subarray(position, end));
      position = end;
      afterMask = false;
    }
    covered = position - end;
    keyed = Math.max(0, free - end);
    held = text.slice(Math.max(0, end - CONTEXT));
    start = Math.min(CONTEXT, end);
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  return { push: (chunk: Uint8Array) => take(chunk, false), end: () => take(new Uint8Array(0), true) };
}

/** How far a key goes on that was open at the end of the last chunk. */
function endOfOpen(
  text: string,
  readable: Readable | null,
  start: number,
  open: RegExp,
): { readonly to: number; readonly isLast: boolean } {
  const plain = endOfKey(text, start, open);
  if (readable === null) return { to: plain, isLast: plain === text.length };
  const read = endOfKey(readable.text, readable.from(start), open);
  return { to: Math.max(plain, readable.endAt(read)), isLast: read === readable.text.length };
}

/** The first place that an unfinished secret could begin at, in the text as it is and as it reads. */
function createUndecided(
  needles: readonly string[],
): (text: string, readable: Readable | null, start: number) => number {
  const spaced = needles.filter((needle) => /\s/.test(needle));
  const longest = Math.max(LONGEST_SHAPE, ...needles.map((needle) => needle.length));
  const within = (text: string, start: number): number => {
    const least = Math.max(start, text.length - longest);
    let end = text.length;
    while (end > least && !isSpace(text.charCodeAt(end - 1))) end -= 1;
    end = undecidedKey(text, end);
    for (const needle of spaced) {
      const first = needle[0]!;
      let from = text.indexOf(first, Math.max(start, text.length - needle.length + 1));
      while (from >= 0 && from < end) {
        if (needle.startsWith(text.slice(from))) end = from;
        from = text.indexOf(first, from + 1);
      }
    }
    return end;
  };
  return (text, readable, start) => {
    const plain = within(text, start);
    if (readable === null) return plain;
    const read = readable.endAt(within(readable.text, readable.from(start)));
    return Math.max(Math.min(plain, read), text.length - longest - MOST_HIDDEN);
  };
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}
