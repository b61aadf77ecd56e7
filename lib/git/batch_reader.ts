/**
 * Cuts the output of `git cat-file --batch` into contents; `null` for what is missing.
 *
 * @param maxBytes how much of each content is kept, from its start
 */
export function createBatchReader(
  give: (content: Buffer | null) => void,
  maxBytes: number = Infinity,
): (chunk: Buffer) => void {
  let header: Buffer[] = [];
  let body: Buffer | null = null;
  let length = 0; // with the line feed behind it
  let filled = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (body === null) {
        const feed = chunk.indexOf(0x0a, at);
        header.push(chunk.subarray(at, feed < 0 ? chunk.length : feed));
        if (feed < 0) return;
        at = feed + 1;
        const size = / blob (\d+)$/.exec(Buffer.concat(header).toString("utf8"))?.[1];
        header = [];
        if (size === undefined) give(null);
        else {
          length = Number(size) + 1;
          body = Buffer.allocUnsafe(Math.min(Number(size), maxBytes));
        }
        filled = 0;
      } else {
        const count = Math.min(chunk.length - at, length - filled);
        if (filled < body.length) chunk.copy(body, filled, at, at + count);
        filled += count;
        at += count;
        if (filled < length) continue;
        give(body);
        body = null;
      }
    }
  };
}
