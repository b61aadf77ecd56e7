/**
 * Conflict markers with labels of Ralph's own: those of its merges say in words which side is which, and those of a
 * turn's merges say that they are unresolved. By the labels Ralph sees whether the conflict is still there.
 *
 * @module
 */
import { join } from "node:path";
import { readBytes, writeAtomic } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import { outputFrom } from "./run_git.ts";
import type { Repository, WithGit, WithTree } from "./repository.ts";

const SINCE = "merged since: ";
const YOURS = "yours: ";
const BETWEEN = "merged since above, yours below";
/** The mark of a turn's own merge. */
const UNRESOLVED = "unresolved: ";

const OWN_REGEXP = new RegExp(
  `^[ \\t]*(?:<{7,} ${SINCE}|={7,} ${BETWEEN}|>{7,} ${YOURS}|(?:<{7,}|={7,}|>{7,}) ${UNRESOLVED})`,
  "m",
);

/** Larger files are not looked into. */
const LARGEST = 16 << 20;

/** A merge that left markers in the working tree. */
export interface MarkedMerge {
  /** The commit that git's markers name first: what others have merged. */
  readonly tip: string;
  /** The commit that they name last: the item's own work, on an earlier tip. */
  readonly left: string;
  readonly itemId: string;
}

/**
 * Gives git's markers in these files of the working tree labels in words. A file that can have no markers, such as a
 * binary one or one that a side removed, gets a text beside it that has them. Paths are relative to the top level.
 *
 * @returns the texts that it made
 */
export async function labelConflicts(
  repository: WithTree,
  merge: MarkedMerge,
  paths: readonly string[],
): Promise<readonly string[]> {
  const made: string[] = [];
  for (const path of paths) {
    const text = await markerText(join(repository.topLevel, path));
    const log = ["log", "--format=%s", `${merge.left}^..${merge.tip}`, "--", `:(top,literal)${path}`];
    const [subject = "", ...more] = (await outputFrom(repository, log, LITERAL)).trim().split("\n");
    const since = Buffer.from(more.length === 0 ? subject : `${subject} (and ${more.length} more)`).toString("latin1");
    const labelled = text === null ? "" : withLabels(text, merge, since);
    if (labelled !== text && text !== null) {
      await writeAtomic(join(repository.topLevel, path), Buffer.from(labelled, "latin1"));
    }
    if (hasOwnMarker(labelled)) continue;
    const beside = unresolvedName(repository, path);
    await writeAtomic(join(repository.topLevel, beside), await sidesOf(repository, merge, path, since));
    made.push(beside);
  }
  return made;
}

/** A name beside the file that nothing has. */
function unresolvedName({ topLevel }: Pick<Repository, "topLevel">, path: string): string {
  let name = `${path}.unresolved`;
  while (factsOf(join(topLevel, name)) !== null) name += "_";
  return name;
}

/** Both sides of a file, with markers around the commands that show them. */
async function sidesOf({ git }: WithGit, { tip, left, itemId }: MarkedMerge, path: string, since: string) {
  const sideAt = async (commit: string): Promise<string> =>
    (await git(["cat-file", "-e", `${commit}:${path}`])).exitCode === 0
      ? `git show ${commit}:${path}`
      : `${path} is not there`;
  return [
    `Git can make no text of both sides of ${path}. Make it what both need, then delete this file.`,
    `<<<<<<< ${SINCE}${Buffer.from(since, "latin1").toString()}`,
    await sideAt(tip),
    `======= ${BETWEEN}`,
    await sideAt(left),
    `>>>>>>> ${YOURS}${itemId}\n`,
  ].join("\n");
}

/** The paths whose file in the working tree has a marker of Ralph's own. Paths are relative to the top level. */
export async function unresolvedIn({ topLevel }: WithTree, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) if (hasOwnMarker(await markerText(join(topLevel, path)) ?? "")) found.push(path);
  return found;
}

/** Tells whether a text has a marker of Ralph's own. Pure. */
export function hasOwnMarker(text: string): boolean {
  return OWN_REGEXP.test(text);
}

/** Why an attempt fails that leaves markers. Pure. */
export function unresolvedMessage(paths: readonly string[]): string {
  return `conflict not resolved in ${paths.join(", ")}: make one text of both sides, and remove the lines that begin ` +
    `with \`<<<<<<<\`, \`=======\` or \`>>>>>>>\` and \`${SINCE}\`, \`${YOURS}\` or \`${UNRESOLVED}\`; delete a file that ` +
    "Ralph made for them (`.unresolved`)";
}

/** The last line of each whole conflict in a text, as git writes it, and what it says. Pure. */
export function blocksIn(text: string): readonly { readonly line: string; readonly label: string }[] {
  const blocks: { readonly line: string; readonly label: string }[] = [];
  let opened = 0;
  let isHalf = false;
  for (const line of text.split("\n")) {
    const size = markerSize(line);
    if (size === 0) continue;
    if (line[0] === "<") [opened, isHalf] = [size, false];
    else if (line[0] === "=") isHalf ||= size === opened;
    else if (isHalf && size === opened) {
      blocks.push({ line, label: line.slice(size).trim() });
      [opened, isHalf] = [0, false];
    }
  }
  return blocks;
}

/** The text with its markers labelled as unresolved, but for those that are among the known lines. Pure. */
export function withUnresolved(text: string, known: ReadonlySet<string>): string {
  let opened = 0;
  return text.split("\n").map((line) => {
    const size = markerSize(line);
    if (size === 0 || (line[0] !== "=" && known.has(line)) || hasOwnMarker(line)) return line;
    if (line[0] === "=" && size !== opened) return line;
    opened = line[0] === "<" ? size : 0;
    const end = line.endsWith("\r") ? "\r" : "";
    return `${line.slice(0, size)} ${UNRESOLVED}${line.slice(size).trim()}`.trimEnd() + end;
  }).join("\n");
}

/** How long a line's marker is; 0: it is none of git's. */
function markerSize(line: string): number {
  return /^(?:<{7,}|>{7,})(?= \S)|^={7,}(?=\r?$)/.exec(line)?.[0].length ?? 0;
}

/** The path is given with magic of its own. */
const LITERAL = { environment: { GIT_LITERAL_PATHSPECS: "0" } } as const;

/** Byte by byte, whatever the encoding; `null`: no file, or a large one. */
export async function markerText(path: string): Promise<string | null> {
  if (factsOf(path)?.kind !== "file") return null;
  return (await readBytes(path, LARGEST).catch(() => null))?.toString("latin1") ?? null;
}

function withLabels(text: string, { tip, left, itemId }: MarkedMerge, since: string): string {
  const lines = text.split("\n");
  const opening = new RegExp(`^(<{7,}) ${tip}(?::.*)?\r?$`);
  for (const [at, line] of lines.entries()) {
    const size = opening.exec(line)?.[1]?.length;
    if (size === undefined) continue;
    const closing = new RegExp(`^>{${size}} ${left}(?::.*)?\r?$`);
    const end = lines.findIndex((other, index) => index > at && closing.test(other));
    if (end === -1) continue;
    const return_ = line.endsWith("\r") ? "\r" : "";
    lines[at] = `${"<".repeat(size)} ${SINCE}${since}${return_}`;
    lines[end] = `${">".repeat(size)} ${YOURS}${Buffer.from(itemId).toString("latin1")}${return_}`;
    const between = [...lines.keys()].filter((index) =>
      index > at && index < end && lines[index]?.trimEnd() === "=".repeat(size)
    );
    if (between.length === 1) lines[between[0]!] = `${"=".repeat(size)} ${BETWEEN}${return_}`; // else it may be text
  }
  return lines.join("\n");
}
