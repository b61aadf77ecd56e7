/** Lines that differ between two versions of a file. */
export interface LineChanges {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The lines that were taken away and those that were added, without those that only moved. Linear in the size. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChanges {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const left = new Map<string, number>();
  for (const line of before.slice(start, before.length - end)) left.set(line, (left.get(line) ?? 0) + 1);
  const added = after.slice(start, after.length - end).filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, Math.max(count - 1, 0));
    return count === 0 && line !== "";
  });
  const removed = [...left].flatMap(([line, count]) => line === "" ? [] : Array.from({ length: count }, () => line));
  return { removed, added };
}
