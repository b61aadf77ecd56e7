/** Puts other texts in the place of lines (numbers from 1), or after them, in the text's own line ends. */
export function changeLines(
  text: string,
  changes: ReadonlyMap<number, string>,
  insertions: ReadonlyMap<number, readonly string[]> = new Map(),
): string {
  const parts = text.split(/(\r?\n)/);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  let result = "";
  for (let index = 0; index < parts.length; index += 2) {
    const number = index / 2 + 1;
    result += changes.get(number) ?? parts[index];
    for (const inserted of insertions.get(number) ?? []) result += end + inserted;
    result += parts[index + 1] ?? "";
  }
  return result;
}
