/** One story's line in `progress.txt`. */
export interface ProgressEntry {
  /** `<run>.<iteration>`: by it the line is never written twice. */
  readonly attemptId: string;
  /** Local day, `YYYY-MM-DD`. */
  readonly date: string;
  readonly storyId: string;
  readonly title: string;
  readonly result: "passed" | "unverified" | "parked";
  /** What ran, or why it was given up. */
  readonly detail: string;
}

/** The text of `progress.txt` with the entry at its end; the same text when the attempt has its line already. */
export function withProgress(text: string | null, entry: ProgressEntry): string {
  const before = text ?? "";
  const tag = `(${entry.attemptId})`;
  if (before.split("\n").some((line) => line.startsWith("- ") && line.endsWith(tag))) return before;
  const detail = entry.detail.replaceAll(/\s+/g, " ").trim();
  const words = `${entry.date} ${entry.storyId} ${entry.title}: ${entry.result}${detail === "" ? "" : `, ${detail}`}`;
  return `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}- ${words.replaceAll("\n", " ")} ${tag}\n`;
}
