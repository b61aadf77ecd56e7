/**
 * Output that the model gets: its beginning and its end, in memory that does not grow with it.
 *
 * @module
 */

/** Characters of one tool result. */
export const LONGEST_OUTPUT = 30_000;

/** A long text without its middle. */
export function cut(text: string, longest: number = LONGEST_OUTPUT): string {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  return `${text.slice(0, half)}\n… (${text.length - 2 * half} characters left out) …\n${text.slice(-half)}`;
}

/** Takes the bytes of a command as they come, and keeps their beginning; their end is the host's to keep. */
export class OutputStart {
  #parts: Uint8Array[] = [];
  #length = 0;

  push(chunk: Uint8Array): void {
    const room = LONGEST_OUTPUT / 2 - this.#length;
    if (room > 0) this.#parts.push(chunk.slice(0, room));
    this.#length += chunk.length;
  }

  /** @param tail the last bytes, decoded, at least `LONGEST_OUTPUT` of them where there are more */
  text(tail: string): string {
    if (this.#length <= LONGEST_OUTPUT) return tail;
    const half = LONGEST_OUTPUT / 2;
    const start = new TextDecoder().decode(Buffer.concat(this.#parts));
    return `${start}\n… (${this.#length - 2 * half} bytes left out: send long output to a file, and search there) …\n${
      tail.slice(-half)
    }`;
  }
}
