/**
 * From bytes to JSON values, a line each, in memory that does not grow with the stream: what is longer than a limit,
 * or begins like a line that nobody needs, is passed over without being kept.
 *
 * @module
 */

/** A line longer than this is not read: no agent's own words are. */
export const LONGEST_LINE: number = 8 * 1024 * 1024;

/** Takes the bytes of a stream of JSON lines as they come. */
export interface JsonLines {
  push(chunk: Uint8Array): void;
  /** The stream has ended: its last line may have no end. */
  end(): void;
}

/** Who is told what. */
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
export function createJsonLines({ take, invalid, ignored = [], longest = LONGEST_LINE }: JsonLinesOptions): JsonLines {
  const prefixes = ignored.map((prefix) => Buffer.from(prefix));
  const enough = Math.max(0, ...prefixes.map((prefix) => prefix.length));
  let parts: Buffer[] = [];
  let length = 0;
  /** `ignored`: its beginning says that nobody needs it; `long`: only its beginning is kept. */
  let state: "new" | "kept" | "ignored" | "long" = "new";

  function append(part: Buffer): void {
    length += part.length;
    switch (state) {
      case "ignored":
        return;
      case "long":
        return;
      case "new":
      case "kept":
        parts.push(part);
    }
    if (state === "new" && length >= enough) decide();
    if (state === "kept" && length > longest) {
      parts = [Buffer.from(joined().subarray(0, Math.min(BEGINNING, longest)))];
      state = "long";
    }
  }

  function decide(): void {
    const line = joined();
    state = prefixes.some((prefix) => line.subarray(0, prefix.length).equals(prefix)) ? "ignored" : "kept";
    parts = state === "kept" ? [line] : [];
  }

  function joined(): Buffer {
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  function finish(): void {
    if (state === "new") decide();
    if (state === "long") invalid(`longer than ${longest} bytes`, joined().toString("utf8"));
    else if (state === "kept") read(joined().toString("utf8"));
    parts = [];
    length = 0;
    state = "new";
  }

  function read(line: string): void {
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

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        append(bytes.subarray(start, end));
        finish();
        start = end + 1;
      }
      if (start < bytes.length) append(bytes.subarray(start));
    },
    end() {
      if (length > 0) finish();
    },
  };
}
