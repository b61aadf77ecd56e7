/** Ralph's own part of a story's notes begins here. Its other lines are indented: behind them a person may go on. */
const RALPH_PART = "[ralph] ";
const INDENT = "  ";

/** How much of a failure is kept in the notes, in characters. */
const FAILURE_CHARACTERS = 4000;

/** Notes with the last failure's reason behind what a person wrote. Pure. */
export function withFailure(notes: string, failure: string): string {
  const kept = withoutFailure(notes);
  const shown = failure.length > FAILURE_CHARACTERS
    ? `${failure.slice(0, 200)}\n…${failure.slice(200 - FAILURE_CHARACTERS)}`
    : failure;
  return `${kept}${kept === "" ? "" : "\n"}${RALPH_PART}${shown.replaceAll("\n", `\n${INDENT}`)}`;
}

/** The text that Ralph had added to the notes, or `null`: why the item did not pass last time. Pure. */
export function failureIn(notes: string): string | null {
  const { own } = partsOf(notes);
  return own === null ? null : own.slice(RALPH_PART.length).replaceAll(`\n${INDENT}`, "\n").trim();
}

/** Notes without what Ralph had added. Pure. */
export function withoutFailure(notes: string): string {
  return partsOf(notes).kept;
}

function partsOf(notes: string): { readonly kept: string; readonly own: string | null } {
  const lines = notes.split("\n");
  const from = lines.findIndex((line) => line.startsWith(RALPH_PART));
  if (from === -1) return { kept: notes, own: null };
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith(INDENT));
  const to = length === -1 ? lines.length : from + 1 + length;
  return { kept: [...lines.slice(0, from), ...lines.slice(to)].join("\n"), own: lines.slice(from, to).join("\n") };
}
