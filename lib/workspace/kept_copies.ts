/**
 * Files that git ignores and checks need all the same (`node_modules`, `.venv`, `.env`): a copy that is kept between
 * runs, sealed in memory, and laid into other trees. It looks at no commit and runs no check.
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { WorkspaceConfig } from "../config/schema.ts";
import { createGit } from "../git/run_git.ts";
import { copyTree, treeDifferences } from "../host/copy_tree.ts";
import { hashText, isDirectory, pathExists, readText, removeOwn, removePath, writePlain } from "../host/files.ts";
import { type Seal, sealDifferences, sealOf } from "../host/seal.ts";
import type { Host } from "../host/types.ts";
import { ignoredPaths } from "./ignored_paths.ts";

/**
 * Caches that tools keep in dependencies. The files of one belong together: a cache that is half of another time makes
 * checks fail. One that has changed is therefore left out: its tool makes it again, and nobody has to believe it.
 */
const CACHE_REGEXP = /^(?:.*\/)?(?:\.cache\/[^/]+|\.vite)(?=\/|$)/;
/** The folder that they are in as well, where it is new or gone. */
const CACHES_REGEXP = /^(?:.*\/)?(?:\.cache(?:\/[^/]+)?|\.vite)(?=\/|$)/;

/** One ignored file or folder with its copy. */
export interface KeptCopy {
  /** Relative to the top level, with `/`. */
  readonly path: string;
  /** Absolute path of the copy. */
  readonly kept: string;
  readonly isFolder: boolean;
}

/** The source of copies, and the folder that keeps them. Both paths are absolute. */
export interface CopySource {
  readonly host: Host;
  /** The top level of the working tree. */
  readonly topLevel: string;
  /** A folder of its own for the copies. */
  readonly folder: string;
  readonly workspace: Pick<WorkspaceConfig, "copy">;
}

/** The copies of one moment. */
export interface KeptCopies {
  readonly copies: readonly KeptCopy[];
  /** Named by `workspace.copy`, but git tracks files in it. */
  readonly tracked: readonly string[];
  /** The copies that differ from those of the last run, if that had the same lock files; relative to the top level. */
  readonly changed: readonly string[];
  /** Copies every path, or those that are wanted, into another tree, where its folder is there. */
  copyInto(directory: string, isWanted?: (path: string) => boolean): Promise<readonly string[]>;
  /**
   * Removes what was added to the copies since they were made, and takes what was changed or deleted there from the
   * tree again, where the tree still has it as it was. @returns what could not be restored
   */
  restore(): Promise<readonly string[]>;
}

/**
 * Brings the kept copies up to what the tree has now.
 *
 * @param keyOf the lock files that they were installed by, as one text: asked for where there is something to copy
 * @throws {RalphError} git-failed, file-unwritable
 *
 * @example Bring what git ignores along into a second tree
 * ```ts
 * import { keepCopies } from "../../lib/workspace/kept_copies.ts";
 * import { createHost } from "../../lib/host/create_host.ts";
 * import { temporaryRepository } from "../../lib/testing/temporary_repository.ts";
 * import { temporaryDirectory } from "../../lib/host/files.ts";
 *
 * await using repository = await temporaryRepository({ files: { ".gitignore": ".env\n" } });
 * await using folder = await temporaryDirectory("copies-");
 * await repository.write({ ".env": "PORT=1\n" });
 * const source = { host: createHost(), topLevel: repository.path, folder: `${folder.path}/kept` };
 * const kept = await keepCopies({ ...source, workspace: { copy: [".env"] } }, async () => "");
 * console.log(await kept.copyInto(folder.path)); // [ ".env" ]
 * ```
 */
export async function keepCopies(source: CopySource, keyOf: () => Promise<string>): Promise<KeptCopies> {
  const { host, topLevel, folder } = source;
  const { paths, tracked } = await ignoredPaths(createGit(host, topLevel), topLevel, source.workspace.copy);
  const keyFile = join(folder, "key");
  const key = paths.length === 0 ? null : await keyOf();
  const isSameKey = key !== null && await readText(keyFile) === key;
  const changed: string[] = [];
  const entries: { copy: KeptCopy; seal: Seal; source: Seal }[] = [];
  if (key !== null) await removePath(keyFile);
  for (const path of paths) {
    const [from, kept] = [join(topLevel, path), join(folder, hashText(path).slice(0, 16))];
    const before = sealOf(from);
    const isKnown = await pathExists(kept);
    const differing = treeDifferences(from, kept);
    const isOlder = isKnown && isSameKey;
    const stale = isOlder ? cachesAmong(differing, CACHES_REGEXP) : [];
    const others = isOlder ? differing.filter((name) => !CACHES_REGEXP.test(name)) : differing;
    if (isOlder) changed.push(...others.map((name) => name === "" ? path : `${path}/${name}`));
    if (others.length > 0) await copyTree(host, from, kept, folder);
    for (const cache of stale) await removeOwn(join(kept, cache), kept);
    entries.push({ copy: { path, kept, isFolder: await isDirectory(kept) }, seal: sealOf(kept), source: before });
  }
  if (key !== null) await writePlain(keyFile, key);
  const copies = entries.map(({ copy }) => copy);

  return {
    copies,
    tracked,
    changed,
    async copyInto(directory, isWanted = () => true) {
      const done: string[] = [];
      for (const { path, kept } of copies) {
        if (!isWanted(path) || !await isDirectory(dirname(join(directory, path)))) continue;
        await copyTree(host, kept, join(directory, path), directory);
        done.push(path);
      }
      return done;
    },
    async restore() {
      const lost: string[] = [];
      for (const entry of entries) lost.push(...await restoreOne(host, topLevel, entry));
      return lost;
    },
  };
}

async function restoreOne(
  host: Host,
  topLevel: string,
  entry: { copy: KeptCopy; seal: Seal; source: Seal },
): Promise<readonly string[]> {
  const { path, kept } = entry.copy;
  const differing = sealDifferences(entry.seal, sealOf(kept));
  if (differing.length === 0) return [];
  const now = sealOf(join(topLevel, path));
  const lost: string[] = [];
  for (const cache of cachesAmong(differing, CACHE_REGEXP)) await removeOwn(join(kept, cache), kept);
  for (const name of differing.filter((one) => !CACHE_REGEXP.test(one))) {
    const [from, to] = [join(topLevel, path, name), join(kept, name)];
    const was = entry.seal.get(name);
    if (was === undefined) await removeOwn(to, dirname(kept));
    else if (isFolder(was) && await isDirectory(to)) continue; // its own time changed with what is in it
    else if (entry.source.get(name) === now.get(name)) await copyTree(host, from, to, dirname(kept));
    else lost.push(`${path}/${name}`);
  }
  entry.seal = sealOf(kept);
  return lost;
}

/** The caches that some paths are in. Pure. */
function cachesAmong(names: readonly string[], caches: RegExp): readonly string[] {
  return [...new Set(names.flatMap((name) => caches.exec(name)?.[0] ?? []))];
}

function isFolder(sealed: string): boolean {
  return (Number(sealed.split(" ")[4]) & 0o170000) === 0o040000;
}
