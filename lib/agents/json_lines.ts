/**
 * From bytes to JSON values, a line each, in memory that does not grow with the stream: what is longer than a limit,
 * or begins like a line that is never needed, is skipped and not kept.
 *
 * @module
 */

/** A line longer than this is not read: no agent's own words are. */
export const LONGEST_LINE: number = 8 * 1024 * 1024;

/** What receives the lines. */
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
  readonly #prefixes: readonly Buffer[];
  /** Bytes by which every ignored beginning can be recognised. */
  readonly #enough: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** `ignored`: it begins like a line to leave out; `long`: only its beginning is kept. */
  #state: "new" | "kept" | "ignored" | "long" = "new";

  constructor(options: JsonLinesOptions) {
    this.#options = options;
    this.#longest = options.longest ?? LONGEST_LINE;
    this.#prefixes = (options.ignored ?? []).map((prefix) => Buffer.from(prefix));
    this.#enough = Math.max(0, ...this.#prefixes.map((prefix) => prefix.length));
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (this.#length === 0 && end - start <= this.#longest) this.#whole(bytes, start, end);
      else {
        this.#append(bytes.subarray(start, end));
        this.#finish();
      }
      start = end + 1;
    }
    if (start < bytes.length) this.#append(bytes.subarray(start));
  }

  /** The stream has ended: its last line may have no end. */
  end(): void {
    if (this.#length > 0) this.#finish();
  }

  /** A line that is in one piece, as most are. */
  #whole(bytes: Buffer, start: number, end: number): void {
    if (!this.#prefixes.some((prefix) => startsWith(bytes, start, end, prefix))) {
      readLine(bytes.toString("utf8", start, end), this.#options);
    }
  }

  #append(part: Buffer): void {
    this.#length += part.length;
    if (this.#state === "ignored" || this.#state === "long") return;
    this.#parts.push(Buffer.from(part)); // a copy: the memory of a chunk is used again
    if (this.#state === "new" && this.#length >= this.#enough) this.#decide();
    if (this.#state === "kept" && this.#length > this.#longest) {
      this.#parts = [Buffer.from(this.#joined().subarray(0, Math.min(BEGINNING, this.#longest)))];
      this.#state = "long";
    }
  }

  #decide(): void {
    const line = this.#joined();
    const isIgnored = this.#prefixes.some((prefix) => line.subarray(0, prefix.length).equals(prefix));
    this.#state = isIgnored ? "ignored" : "kept";
    this.#parts = isIgnored ? [] : [line];
  }

  #joined(): Buffer {
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
  }

  #finish(): void {
    if (this.#state === "new") this.#decide();
    const text = (): string => this.#joined().toString("utf8");
    if (this.#state === "long") this.#options.invalid(`longer than ${this.#longest} bytes`, text());
    else if (this.#state === "kept") readLine(text(), this.#options);
    this.#parts = [];
    this.#length = 0;
    this.#state = "new";
  }
}

function startsWith(bytes: Buffer, start: number, end: number, prefix: Buffer): boolean {
  if (end - start < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) if (bytes[start + index] !== prefix[index]) return false;
  return true;
}

function readLine(line: string, { take, invalid }: JsonLinesOptions): void {
  const text = line.charCodeAt(0) === 0xfeff ? line.slice(1) : line;
  if (text.trim() === "") return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("not JSON", text.slice(0, BEGINNING));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid("not an object", text.slice(0, BEGINNING));
  }
  take(value);
}
