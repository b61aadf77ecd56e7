import { topLevelPaths } from "../../../git/tree_paths.ts";
import { commitFiles } from "../../commit_files.ts";
import { pathExists } from "../../../host/files.ts";
import { isoNow } from "../../../host/local_date.ts";
import { join } from "node:path";
import { EXEC_FOLDER, PLAN_TRANSCRIPT_FILE } from "../paths.ts";
import type { RalphContext } from "../../../context/context.ts";
import type { TranscriptEntry } from "./state.ts";

const TITLE =
  "# Plan transcript\n\nWritten by Ralph, only ever added to: what was asked, answered, proposed and decided.\n";

/** The transcript with the entries at its end; those that it holds already are left out. Pure. */
export function withEntries(transcript: string | null, entries: readonly TranscriptEntry[]): string {
  const before = transcript ?? TITLE;
  const missing = entries.filter((entry) => !before.includes(markOf(entry.id)));
  return [before, ...missing.map((entry) => `\n${markOf(entry.id)}\n${entry.text}\n`)].join("");
}

/** A heading, the time, and what there is to say. */
export function entryText(heading: string, time: string, body: readonly string[]): string {
  return [`## ${heading}`, "", time, ...(body.length === 0 ? [] : ["", ...body])].join("\n");
}

/** Text as a quotation, so that its own headings stay apart from the transcript's. */
export function quoted(text: string): string {
  return text.split(/\r?\n/).map((line) => line === "" ? ">" : `> ${line}`).join("\n");
}

/** A PRD summary as it was shown. */
export function summaryBody(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}

/**
 * A gate's decision: all that a gate writes. Nothing where the exec workflow has no folder yet.
 *
 * @param isLast no run follows, with whose first story the transcript is committed: it is committed now
 */
export async function recordDecision(
  ralph: RalphContext,
  heading: string,
  body: readonly string[],
  isLast: boolean = false,
): Promise<void> {
  if (!await pathExists(join(ralph.root, EXEC_FOLDER))) return;
  const id = `gate.${ralph.run.id}.${ralph.host.ids.random(4)}`;
  const text = entryText(heading, isoNow(ralph.host), body);
  await ralph.state.update(PLAN_TRANSCRIPT_FILE, (before) => withEntries(before, [{ id, text }]));
  if (!isLast || !ralph.config.commits.prdChanges || ralph.repository === null) return;
  const paths = [PLAN_TRANSCRIPT_FILE];
  const tracked = await ralph.repository.git(["ls-files", "--", ...topLevelPaths(ralph, paths)]);
  if (tracked.stdout !== "") await commitFiles(ralph, { paths, subject: "ralph: plan decided" });
}

function markOf(id: string): string {
  return `<!-- ${id} -->`;
}
