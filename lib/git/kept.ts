import { asideFolder } from "../host/remove_path.ts";
import { behindLinks, layEntries } from "./index_entries.ts";
import { join } from "node:path";
import { deleteRefs, ownCommit, refsBelow } from "./refs.ts";
import { foldersAbove, makeFoldersAbove } from "../host/folders_kept.ts";
import { removePath, writeAtomic } from "../host/files.ts";
import { factsOf, type PathFacts, readLink, setMode, writeLink } from "../host/path_facts.ts";
import { lineFrom, outputFrom, overPaths } from "./run_git.ts";
import { treeWith } from "./own_index.ts";
import type { GitTree, TreeSnapshot, WithGit, WithIndex } from "./repository.ts";

/** The content of a path that is not committed, as a git object. */
export interface KeptPath {
  /** As the snapshot has it; `null` for a file that is gone. */
  readonly content: string | null;
  /** Absent: nothing is there, or it was too large. */
  readonly blob?: string;
  readonly facts: Pick<PathFacts, "kind" | "mode"> | null;
  /** Permission bits of the folders above it, the outer ones first, where they are not the usual ones. */
  readonly folders?: readonly number[];
  /** As a status says it of the index. Absent: nothing is staged. */
  readonly staged?: string;
}

/** The most that is kept of one file, and in all, in bytes. */
const [LARGEST_KEPT, MOST_KEPT] = [5 << 20, 100 << 20];

/** Keeps the content of these paths as the snapshot has them, byte for byte, past every filter. */
export async function keepPaths(
  repository: GitTree,
  { contents, changed = [] }: Pick<TreeSnapshot, "contents"> & Partial<Pick<TreeSnapshot, "changed">>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, KeptPath>> {
  const kept = new Map<string, KeptPath>();
  const files: string[] = [];
  const behind = new Set(behindLinks(repository.topLevel, paths));
  const staged = stagedIn(changed);
  let left = MOST_KEPT;
  for (const path of paths) {
    const facts = behind.has(path) ? null : factsOf(join(repository.topLevel, path));
    const known = facts === null ? null : { kind: facts.kind, mode: facts.mode };
    const entry = { ...staged.has(path) && { staged: staged.get(path)! }, ...foldersFor(repository, path) };
    kept.set(path, { content: contents.get(path) ?? null, facts: known, ...entry });
    if (facts === null || facts.kind === "other" || facts.size > Math.min(LARGEST_KEPT, left)) continue;
    left -= facts.size;
    if (facts.kind === "link") {
      const input = readLink(join(repository.topLevel, path));
      const blob = await lineFrom(repository, ["hash-object", "-w", "--stdin"], { input });
      kept.set(path, { ...kept.get(path)!, blob });
    } else files.push(path);
  }
  for (const [path, blob] of await writeBlobs(repository, files)) kept.set(path, { ...kept.get(path)!, blob });
  return kept;
}

/** Writes files as git objects, byte for byte, past every filter. @returns the object of each, by its path */
export async function writeBlobs(repository: WithGit, files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (files.length === 0) return new Map();
  const input = files.map((path) => `${quoted(path)}\n`).join("");
  const blobs = await outputFrom(repository, ["hash-object", "-w", "--no-filters", "--stdin-paths"], { input });
  return new Map(blobs.split("\n").slice(0, -1).map((blob, index) => [files[index]!, blob]));
}

/** The bytes of a git object; `null` if it is gone. */
export async function blobBytes({ git }: WithGit, blob: string): Promise<Uint8Array | null> {
  const { exitCode, stdout } = await git(["cat-file", "blob", blob], { encoding: "latin1" });
  return exitCode === 0 ? Buffer.from(stdout, "latin1") : null;
}

function foldersFor({ topLevel }: GitTree, path: string): Pick<KeptPath, "folders"> {
  const folders = foldersAbove(topLevel, [join(topLevel, path)]).map((folder) => factsOf(folder)?.mode ?? 0o755);
  return folders.every((mode) => mode === 0o755) ? {} : { folders };
}

/** As git reads a line: a name that a line cannot hold is quoted, and so is one that would be taken for quoted. */
function quoted(path: string): string {
  if (!/^"|[\n\r]/.test(path)) return path;
  return `"${path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}"`;
}

/** The entries of the index that are staged, by their paths. */
export function stagedIn(changed: TreeSnapshot["changed"]): ReadonlyMap<string, string> {
  return new Map(changed.flatMap(({ path, staged }) => staged === undefined ? [] : [[path, staged]]));
}

type Kept = ReadonlyMap<string, KeptPath>;

/** The kept paths, as `git update-index --index-info` reads it. */
export function linesOf(kept: Kept): readonly string[] {
  return [...kept].flatMap(([path, { blob, facts }]) => {
    if (blob === undefined || facts === null) return [];
    const fileMode = (facts.mode & 0o100) === 0 ? "100644" : "100755";
    return [`${facts.kind === "link" ? "120000" : fileMode} ${blob}\t${path}\0`];
  });
}

/** Staged entries that differ from the file, in the same way. */
function stagedLines(kept: Kept): readonly string[] {
  return [...kept].flatMap(([path, { staged = "0", blob }]) =>
    /^0|^16/.test(staged) || (blob !== undefined && staged.includes(blob)) ? [] : [`${staged}\t${path}\0`]
  );
}

/**
 * Names the kept objects by a ref, so that git does not take them away; `git show REF:PATH` prints one, and
 * `git show REF.staged:PATH` what is staged of it. Both show the versions that were found first; newer ones are in
 * their parents.
 *
 * @param parents the commits of the refs, which are set
 */
export async function nameKept(
  repository: GitTree,
  ref: string,
  { first, now }: { readonly first: Kept; readonly now: Kept },
  parents: Map<string, string>,
): Promise<void> {
  for (const [name, lines] of [[ref, linesOf], [`${ref}.staged`, stagedLines]] as const) {
    const versions = new Set([now, first].map((kept) => lines(kept).join("")).filter((text) => text !== ""));
    for (const text of versions) {
      const parent = parents.get(name);
      const of = { parents: parent === undefined ? [] : [parent], message: `ralph: ${name}\n` };
      parents.set(name, await ownCommit(repository, await treeWith(repository, null, text), of));
    }
    if (versions.size > 0) await outputFrom(repository, ["update-ref", name, parents.get(name)!]);
  }
}

/** Lays entries of the index in again. @throws {RalphError} git-failed */
export async function restoreStaged(repository: GitTree, staged: ReadonlyMap<string, string>): Promise<void> {
  if (staged.size === 0) return;
  const input = [...staged].map(([path, entry]) => `${entry.replace(" N", "")}\t${path}\0`).join("");
  await layEntries(repository, input);
  const isThere = (path: string): boolean => factsOf(join(repository.topLevel, path)) !== null;
  const intended = [...staged].filter(([path, entry]) => entry.endsWith(" N") && isThere(path)).map(([path]) => path);
  await overPaths(repository, ["add", "--intent-to-add", "--force"], intended);
}

/**
 * Writes a path as it was kept.
 *
 * @returns false where its content was not kept
 * @throws {RalphError} file-unwritable, git-failed
 */
export async function restoreKept(
  repository: GitTree,
  path: string,
  { blob, facts, folders }: KeptPath,
): Promise<boolean> {
  const target = join(repository.topLevel, path);
  const aside = asideFolder(repository.ralphDirectory);
  if (behindLinks(repository.topLevel, [path]).length > 0) return facts === null;
  if (facts === null) return await removePath(target, aside).then(() => true);
  const bytes = blob === undefined ? null : await blobBytes(repository, blob);
  if (bytes === null) return false;
  await removePath(target, aside);
  makeFoldersAbove(repository.topLevel, target, folders ?? []);
  if (facts.kind === "link") writeLink(target, Buffer.from(bytes).toString("utf8"));
  else {
    await writeAtomic(target, bytes, { mode: facts.mode });
    setMode(target, facts.mode);
  }
  return true;
}

/** Takes away what Ralph has kept for runs whose folders are gone: `refs/ralph/lost/<run>…`, `refs/ralph/kept/<run>`. */
export async function pruneRefs(repository: WithIndex, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  const refs = await refsBelow(repository, "refs/ralph/");
  await deleteRefs(repository, refs.filter((ref) => runs.some((run) => ref.split("/").at(-1)!.startsWith(run))));
}
