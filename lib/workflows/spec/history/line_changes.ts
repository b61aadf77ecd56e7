/** Lines that differ between two versions of a file. */
export interface LineChanges {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Compared at once: less and less, until the byte that differs is found. */
const STEPS = [4096, 256, 16, 1] as const;
const LINE_FEED = 0x0a;

/** What was taken away and what was added, whatever moved in between left out. Linear in the size. */
export function lineChanges(before: Buffer, after: Buffer): LineChanges {
  const start = lineStart(before, commonStart(before, after));
  const end = commonEnd(before, after, start);
  const old = before.toString("utf8", start, before.length - end).split("\n");
  const added: string[] = [];
  const left = new Map<string, number>();
  for (const line of old) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of after.toString("utf8", start, after.length - end).split("\n")) {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    else if (line !== "") added.push(line);
  }
  const removed = [...left].flatMap(([line, count]) => line === "" ? [] : Array.from({ length: count }, () => line));
  return { removed, added };
}

function commonStart(before: Buffer, after: Buffer): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  for (const step of STEPS) {
    while (at + step <= most && before.compare(after, at, at + step, at, at + step) === 0) at += step;
  }
  return at;
}

/** Bytes at the end that are the same, from the start of a line on. */
function commonEnd(before: Buffer, after: Buffer, start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  for (const step of STEPS) {
    while (count + step <= most && isSameBefore(before, after, count, step)) count += step;
  }
  if (count === most && (before.length - count === start || after.length - count === start)) {
    const longer = before.length > after.length ? before : after;
    if (longer.length - count === start || longer[longer.length - count - 1] === LINE_FEED) return count;
  }
  const feed = before.indexOf(LINE_FEED, before.length - count);
  return feed < 0 ? 0 : before.length - feed - 1;
}

function lineStart(text: Buffer, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf(LINE_FEED, at - 1) + 1;
}

/** Whether the `step` bytes are the same that so many bytes follow. Deno's `compare()` takes no range beyond the other's length. */
function isSameBefore(before: Buffer, after: Buffer, bytes: number, step: number): boolean {
  const [one, other] = [before.length - bytes, after.length - bytes];
  return before.subarray(one - step, one).equals(after.subarray(other - step, other));
}
