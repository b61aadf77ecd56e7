import { asideFolder } from "../host/remove_path.ts";
import { behindLinks, dropEntries, entriesOf } from "./index_entries.ts";
import { dirname, join } from "node:path";
import { pathExists, readText, removeEmptyFolders, removePath, temporaryDirectory, writePlain } from "../host/files.ts";
import { listFiles } from "../host/file_state.ts";
import { factsOf } from "../host/path_facts.ts";
import { NAMES_AT, outputFrom, overPaths, pathsFrom } from "./run_git.ts";
import type { GitTree, WithGit } from "./repository.ts";

/** The change from one commit to another. */
export interface TreeChange {
  /** The commit that the change was made from. */
  readonly base: string;
  /** The commit that holds it. */
  readonly commit: string;
  /** The paths that differ between the two, relative to the top level. */
  readonly paths: readonly string[];
}

/** The treatment of a path: nothing, their version, no file, or a text of both sides. */
type Merged = "as-it-is" | "theirs" | "gone" | { readonly text: string };

/**
 * Brings a change into the working tree, file by file: where a file is no longer what the change was made from, both
 * sides are merged. A file that was not there before and now differs on both sides is a conflict.
 *
 * @param union whether lines that both sides added at the same place of a text are both kept. @default false: a conflict
 * @returns the first path that cannot be merged: nothing is written then; else `null`
 */
export async function mergeChange(
  repository: GitTree,
  change: TreeChange,
  { union = false }: { readonly union?: boolean } = {},
): Promise<string | null> {
  const merged = new Map<string, Merged>();
  for (const path of change.paths) {
    const found = await mergedFile(repository, change, path, union);
    if (found === null) return path;
    merged.set(path, found);
  }
  for (const path of change.paths.filter((one) => merged.get(one) === "gone")) { // a link may be in its folder's place
    await removePath(join(repository.topLevel, path), asideFolder(repository.ralphDirectory));
  }
  for (const [path, what] of merged) {
    if (what === "theirs") await outputFrom(repository, ["checkout", "--quiet", change.commit, "--", path]);
    else if (typeof what === "object") await writePlain(join(repository.topLevel, path), what.text);
  }
  return null;
}

/** Makes the paths what a commit has, in index and tree; folders that are empty then go. @param base @default HEAD */
export async function discardPaths(repository: GitTree, paths: readonly string[], base = "HEAD"): Promise<void> {
  if (paths.length === 0) return;
  const known = new Set(await pathsFrom(repository, [...NAMES_AT, base]));
  const tracked = paths.filter((path) => known.has(path));
  const others = paths.filter((path) => !known.has(path));
  for (const path of others) await removePath(join(repository.topLevel, path), asideFolder(repository.ralphDirectory));
  await dropEntries(repository, others);
  await overPaths(repository, ["checkout", "--quiet", base], tracked);
  for (const path of others) await removeEmptyFolders(dirname(join(repository.topLevel, path)), repository.topLevel);
}

async function mergedFile(repository: GitTree, { base, commit, paths }: TreeChange, path: string, union: boolean) {
  const [before = null] = await entriesOf(repository, base, [path]);
  const [theirs = null] = await entriesOf(repository, commit, [path]);
  const isUnchanged = await isHere(repository, base, before, path) ||
    (before === null && isInTheWay(repository.topLevel, path, paths));
  if (isUnchanged) return theirs === null ? "gone" : "theirs";
  if (await isHere(repository, commit, theirs, path)) return "as-it-is";
  if (theirs === null || before === null || !await pathExists(join(repository.topLevel, path))) return null;
  if (![before, theirs].every((entry) => entry.startsWith("100"))) return null;
  const ours = await readText(join(repository.topLevel, path));
  const textOf = (entry: string): Promise<string> => outputFrom(repository, ["cat-file", ...entry.split(" ").slice(1)]);
  const texts = [ours ?? "", await textOf(before), await textOf(theirs)] as const;
  if (ours === null || texts.some((text) => text.includes("\0") || text.includes("\ufffd"))) return null;
  const text = await mergedText(repository, texts) ??
    (union && bothOnlyAdd(texts) ? await mergedText(repository, texts, ["--union"]) : null);
  return text === null ? null : { text };
}

/** The working tree has what the commit has. */
async function isHere({ git, topLevel }: GitTree, commit: string, entry: string | null, path: string) {
  if (entry === null) return !await pathExists(join(topLevel, path));
  const look = ["diff", "--quiet", "--no-ext-diff", commit, "--", `:(top,literal)${path}`];
  return (await git(look)).exitCode === 0;
}

/** A new path is where a folder or a link was that the change takes away, and nothing else is there. */
function isInTheWay(topLevel: string, path: string, paths: readonly string[]): boolean {
  if (behindLinks(topLevel, [path]).length > 0) return paths.some((one) => path.startsWith(`${one}/`));
  const full = join(topLevel, path);
  const changed = new Set(paths.map((one) => join(topLevel, one)));
  return factsOf(full)?.kind === "other" && listFiles(full, () => true).every((file) => changed.has(file));
}

/** Ours, what both were made from, and theirs. */
type Sides = readonly [ours: string, before: string, theirs: string];

/**
 * Both sides of a text; `null` where both changed the same place.
 *
 * @param options those of `git merge-file`: with `--union` the lines of both are there
 */
export async function mergedText(
  { git }: WithGit,
  sides: Sides,
  options: readonly string[] = [],
): Promise<string | null> {
  await using folder = await temporaryDirectory("ralph-merge");
  const files = ["ours", "before", "theirs"].map((name) => join(folder.path, name));
  for (const [index, text] of sides.entries()) await writePlain(files[index] ?? "", text);
  const { exitCode, stdout } = await git(["merge-file", "-p", ...options, ...files]);
  return exitCode === 0 ? stdout : null;
}

/** Both sides insert into a text that they have in common. */
function bothOnlyAdd([ours, before, theirs]: Sides): boolean {
  return before.trim() !== "" && onlyAdds(before, ours) && onlyAdds(before, theirs);
}

/** Every line of the one text is in the other, in the same order. */
function onlyAdds(before: string, after: string): boolean {
  const lines = before.split("\n").filter((line) => line !== "");
  let at = 0;
  for (const line of after.split("\n")) if (line === lines[at]) at += 1;
  return at === lines.length;
}
