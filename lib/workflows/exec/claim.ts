import { join } from "node:path";
import type { Repository } from "../../git/repository.ts";
import { readLeftText } from "../../host/files.ts";
import type { Claim, Turn } from "../../backlog/types.ts";
import { signalsOf, stripMarks } from "../../backlog/signals.ts";

/** The agent prints this as its last line when the story is done. */
export const COMPLETE = "<promise>COMPLETE</promise>";

/** Files that are looked through for a printed marker. */
const FILES = 50;

/**
 * A turn at a story without checks claims to be done by the marker with the attempt's nonce, or as other workflows have
 * it. The plain marker counts as the last line, unless that is the end of a file that the agent printed.
 */
export async function claimOf(turn: Turn, nonce: string, repository: Repository | null): Promise<Claim> {
  const found = signalsOf(turn.lines, nonce).filter(({ form, name, sealed, counts }) =>
    form === "promise" && name === "COMPLETE" && counts || name === "DONE" && sealed
  );
  if (found.some(({ sealed }) => sealed)) return { status: "done" };
  if (found.length === 0) return { status: "not-done", reason: `the answer did not end with \`${COMPLETE}\`` };
  const before = turn.lines.at(-2);
  if (before !== undefined && repository !== null && await endsAFile(before, repository)) {
    return { status: "not-done", reason: `\`${COMPLETE}\` stood in a file that the agent printed` };
  }
  return { status: "done" };
}

async function endsAFile(before: string, repository: Repository): Promise<boolean> {
  for (const path of (await repository.filesHolding(COMPLETE)).slice(0, FILES)) {
    const text = await readLeftText(join(repository.topLevel, path)) ?? "";
    const lines = text.split("\n").map(stripMarks).filter((line) => line !== "");
    if (lines.some((line, index) => line === COMPLETE && lines[index - 1] === before)) return true;
  }
  return false;
}
