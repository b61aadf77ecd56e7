/** Where Ralph's own part of a story's notes begins. */
const RALPH_PART = "[ralph] ";

/** How much of a failure is kept in the notes, in characters. */
const FAILURE_CHARACTERS = 4000;

/** Notes with the last failure's reason behind what a person wrote. Pure. */
export function withFailure(notes: string, failure: string): string {
  const kept = withoutFailure(notes);
  const shown = failure.length > FAILURE_CHARACTERS
    ? `${failure.slice(0, 200)}\n…${failure.slice(200 - FAILURE_CHARACTERS)}`
    : failure;
  return `${kept}${kept === "" ? "" : "\n"}${RALPH_PART}${shown}`;
}

/** What Ralph had added to the notes, or `null`: why the item did not pass last time. Pure. */
export function failureIn(notes: string): string | null {
  const kept = withoutFailure(notes);
  return kept === notes ? null : notes.slice(kept.length).trim().slice(RALPH_PART.length);
}

/** Notes without what Ralph had added. Pure. */
export function withoutFailure(notes: string): string {
  const at = notes.startsWith(RALPH_PART) ? 0 : notes.indexOf(`\n${RALPH_PART}`);
  return at === -1 ? notes : notes.slice(0, at);
}
