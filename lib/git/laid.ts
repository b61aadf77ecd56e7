/**
 * Commits that no repository has: Ralph computes the names of their objects itself, and a checkout gets those that it
 * lacks.
 *
 * @module
 */
import { join } from "node:path";
import { pathExists, temporaryDirectory, writePlain } from "../host/files.ts";
import { createHasher } from "../host/hash.ts";
import { deflated } from "../host/zlib.ts";
import type { WithIndex } from "./repository.ts";
import { commonDirectoryOf } from "./run_git.ts";
import type { ListedEntry } from "./tree_listing.ts";

/** Objects by their names, each as its name is computed: kind, length and content. */
export type Objects = ReadonlyMap<string, Buffer>;

/** A commit with other files laid over it. */
export interface LaidCommit {
  /** The commit of the repository at the bottom. */
  readonly on: string;
  readonly text: string;
  readonly entries: readonly ListedEntry[];
  /** The ones that no repository has. */
  readonly objects: Objects;
  /** The names of the files laid over `on` that the repository has. */
  readonly files: readonly string[];
}

/** The newest ones, by their repository and name: another repository may have a commit of the same name. */
const LAID = new Map<string, LaidCommit>();
const MOST_KEPT = 256;

/** A commit that was made here. @param common git's directory of all worktrees @returns `undefined`: it is the repository's */
export function laidCommit(common: string, commit: string): LaidCommit | undefined {
  return LAID.get(keyOf(common, commit));
}

function keyOf(common: string, commit: string): string {
  return `${commit} ${common}`;
}

/** A file, tree or commit, named as this repository names its objects. */
export function objectOf(kind: string, content: string | Buffer, like: string): readonly [name: string, Buffer] {
  const bytes = Buffer.concat([
    Buffer.from(`${kind} ${Buffer.byteLength(content)}\0`),
    typeof content === "string" ? Buffer.from(content) : content,
  ]);
  return [createHasher(like.length === 40 ? "sha1" : "sha256").update(bytes).digest("hex"), bytes];
}

/**
 * Makes a commit of other files that differs from its base in nothing else.
 *
 * @param from the base, and git's directory of all worktrees @param written files that the repository may lack
 * @returns its name
 */
export function layCommit(
  base: string,
  from: Pick<LaidCommit, "text" | "entries"> & { readonly common: string },
  entries: readonly ListedEntry[],
  written: Objects,
): string {
  const below = laidCommit(from.common, base);
  const [was, is] = [namesOfTrees(from.entries, base), treesOf(entries, base)];
  // names that are not UTF-8 were not read as they are: the base has none of these trees then
  const isRead = from.text.startsWith(`tree ${was.root}\n`);
  const [name, bytes] = objectOf("commit", from.text.replace(/^tree .*/, `tree ${is.root}`), base);
  const before = new Set(from.entries.map(({ hash }) => hash));
  const added = new Set(entries.map(({ hash }) => hash).filter((hash) => !before.has(hash)));
  const files = [...added].filter((hash) => !written.has(hash));
  const texts = [...written].filter(([hash]) => added.has(hash));
  const own = [...is.trees].filter(([tree]) => !isRead || !was.names.has(tree));
  const key = keyOf(from.common, name);
  LAID.delete(key);
  for (const oldest of [...LAID.keys()].slice(0, 1 - MOST_KEPT)) LAID.delete(oldest);
  LAID.set(key, {
    on: below?.on ?? base,
    text: bytes.toString("utf8", bytes.indexOf(0) + 1),
    entries,
    objects: new Map([...below?.objects ?? [], ...texts, ...own, [name, bytes]]),
    files: [...below?.files ?? [], ...files],
  });
  return name;
}

const SURROGATE_REGEXP = /[\ud800-\udfff]/;

interface TreeNames {
  readonly root: string;
  readonly names: ReadonlySet<string>;
}

const NAMED = new WeakMap<readonly ListedEntry[], TreeNames>();

/** The names of these trees, computed once for a listing. */
export function namesOfTrees(entries: readonly ListedEntry[], like: string): TreeNames {
  const known = NAMED.get(entries);
  if (known !== undefined) return known;
  const { root, trees } = treesOf(entries, like);
  const named = { root, names: new Set(trees.keys()) };
  NAMED.set(entries, named);
  return named;
}

/** The folders of some files as git's trees. */
function treesOf(entries: readonly ListedEntry[], like: string): { readonly root: string; readonly trees: Objects } {
  const trees = new Map<string, Buffer>();
  const sorted = inOrder(entries);
  let at = 0;
  function treeOf(folder: string): string {
    const rows: (readonly [start: string, hash: string])[] = [];
    for (let entry = sorted[at]; entry?.path.startsWith(folder) === true; entry = sorted[at]) {
      const { path, mode, hash } = entry;
      const end = path.indexOf("/", folder.length);
      if (end >= 0) rows.push([`40000 ${path.slice(folder.length, end)}\0`, treeOf(path.slice(0, end + 1))]);
      else rows.push([`${mode} ${path.slice(folder.length)}\0`, hash]);
      if (end < 0) at += 1;
    }
    const content = Buffer.allocUnsafe(
      rows.reduce((sum, [start]) => sum + Buffer.byteLength(start), 0) + rows.length * like.length / 2,
    );
    let filled = 0;
    for (const [start, hash] of rows) {
      filled += content.write(start, filled);
      filled += content.write(hash, filled, "hex");
    }
    const [name, bytes] = objectOf("tree", content, like);
    trees.set(name, bytes);
    return name;
  }
  return { root: treeOf(""), trees };
}

/** By the bytes of their paths, as git has the names in a tree. */
function inOrder(entries: readonly ListedEntry[]): readonly ListedEntry[] {
  if (entries.some(({ path }) => SURROGATE_REGEXP.test(path))) {
    return entries.toSorted((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)));
  }
  return entries.toSorted((one, other) => one.path < other.path ? -1 : 1);
}

/** Writes objects into a folder of a repository, as single files. @throws {RalphError} file-unwritable */
export async function writeObjects(folder: string, objects: Objects): Promise<void> {
  for (const [name, bytes] of objects) {
    const path = join(folder, name.slice(0, 2), name.slice(2));
    if (!await pathExists(path)) await writePlain(path, deflated(bytes));
  }
}

/** Lends git's surroundings in which the repository has what was made here. */
export async function withLaid<Value>(
  { gitDirectory }: Pick<WithIndex, "gitDirectory">,
  commit: string,
  use: (environment: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  const laid = laidCommit(await commonDirectoryOf(gitDirectory), commit);
  if (laid === undefined) return await use({});
  await using folder = await temporaryDirectory("ralph-laid-");
  await writeObjects(folder.path, laid.objects);
  return await use({ GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(folder.path) });
}
