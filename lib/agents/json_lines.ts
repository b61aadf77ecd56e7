/**
 * From bytes to JSON values, a line each, in memory that does not grow with the stream: what is longer than a limit,
 * or begins like a line that is never needed, is skipped and not kept.
 *
 * @module
 */
import { jsonIn } from "../host/data.ts";

/** A line longer than this is not read: no agent's own words are. */
export const LONGEST_LINE: number = 8 * 1024 * 1024;

export interface JsonLinesOptions {
  readonly take: (value: object) => void;
  /** A line that is no JSON object, with its beginning. */
  readonly invalid: (reason: string, beginning: string) => void;
  /** Beginnings of lines to leave out unread. */
  readonly ignored?: readonly string[];
  /** In bytes. @default 8388608 */
  readonly longest?: number;
}

const NEWLINE = 10;
const BEGINNING = 200;

/** Reads a stream of JSON lines. Any split of the same bytes into chunks gives the same values. */
export class JsonLines {
  readonly #options: JsonLinesOptions;
  readonly #longest: number;
  readonly #ignored: readonly Buffer[];
  #parts: Buffer[] = [];
  #length = 0;

  constructor(options: JsonLinesOptions) {
    this.#options = options;
    this.#longest = options.longest ?? LONGEST_LINE;
    this.#ignored = (options.ignored ?? []).map((beginning) => Buffer.from(beginning));
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#finish(bytes.subarray(start, end));
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(Buffer.from(bytes.subarray(start))); // the memory of a chunk is used again
  }

  /** The stream has ended: its last line may have no end. */
  end(): void {
    this.#finish(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    const isLong = this.#length > this.#longest;
    this.#length += part.length;
    if (isLong) return;
    this.#parts.push(part);
    if (this.#length > this.#longest) this.#parts = [Buffer.from(Buffer.concat(this.#parts).subarray(0, BEGINNING))];
  }

  #finish(last: Buffer): void {
    this.#keep(last);
    const line = this.#parts.length === 1 ? last : Buffer.concat(this.#parts);
    const isLong = this.#length > this.#longest;
    const text = isLong ? this.#parts[0]! : line;
    const isIgnored = this.#ignored.some((beginning) => text.subarray(0, beginning.length).equals(beginning));
    if (isLong && !isIgnored) {
      const beginning = text.subarray(0, this.#longest).toString("utf8");
      this.#options.invalid(`longer than ${this.#longest} bytes`, beginning);
    } else if (!isIgnored) readLine(line.toString("utf8"), this.#options);
    this.#parts = [];
    this.#length = 0;
  }
}

function readLine(line: string, { take, invalid }: JsonLinesOptions): void {
  const text = line.charCodeAt(0) === 0xfeff ? line.slice(1) : line;
  if (text.trim() === "") return;
  const value = jsonIn(text);
  if (value === undefined) return invalid("not JSON", text.slice(0, BEGINNING));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid("not an object", text.slice(0, BEGINNING));
  }
  take(value);
}
