/**
 * Things that Ralph keeps of a project outside of its tree: copies in the cache, files set aside, and refs of its own.
 *
 * @module
 */
import { join } from "node:path";
import { deleteRefs, refsBelow } from "../git/refs.ts";
import { homesOf, removeHome } from "../checks/checkout/home.ts";
import type { Repository } from "../git/repository.ts";
import { cacheFolder } from "../host/cache_folder.ts";
import { hashText, listDirectory, pathExists, removeOwn } from "../host/files.ts";
import { sizeOnDisk } from "../host/folder_size.ts";
import type { Host } from "../host/types.ts";

/** The kinds, in the order in which they are shown. */
export const STORED = ["cache", "aside", "refs"] as const;

/** One thing that is kept. */
export interface Stored {
  readonly kind: typeof STORED[number];
  /** An absolute path, or a ref. */
  readonly name: string;
  readonly what: string;
  /** On the disk; `null`: git does not say. */
  readonly bytes: number | null;
  /** @returns false where another process uses it */
  remove(): Promise<boolean>;
}

/** A project with its machine. */
export interface StoredOf {
  readonly host: Host;
  readonly repository: Repository;
}

/** The meaning of refs below `refs/ralph/`. */
const REFS: Readonly<Record<string, string>> = {
  kept: "your uncommitted work, as a run found it",
  lost: "commits of a turn that rewrote history or left the branch",
  work: "work of an item that is not done: `--retry-blocked` continues with it",
};

/** Everything that is kept for one project. @throws {RalphError} git-failed, file-unwritable */
export async function storedFor(of: StoredOf): Promise<readonly Stored[]> {
  return [...await cached(of), ...await aside(of), ...await refs(of)];
}

/** How many bytes the checkouts of all projects take, and where. @throws {RalphError} file-unwritable */
export async function allCheckouts(host: Host): Promise<{ readonly path: string; readonly bytes: number }> {
  const path = join(await cacheFolder(host), "checkouts");
  return { path, bytes: sizeOnDisk(path) };
}

async function cached({ host, repository: { topLevel } }: StoredOf): Promise<readonly Stored[]> {
  const cache = await cacheFolder(host);
  const folder = join(cache, "ralph-sandbox");
  const sandbox = join(folder, hashText(topLevel).slice(0, 16));
  return [
    ...(await homesOf(cache, topLevel)).map((name) => ({
      ...stored(
        "cache",
        name,
        folder,
        "the clean checkout, with copies of what `workspace` names: the next run makes it again",
      ),
      remove: () => removeHome(host, name),
    })),
    ...await pathExists(sandbox)
      ? [stored("cache", sandbox, folder, "what package managers keep in the sandbox: they fetch it again")]
      : [],
  ];
}

async function aside({ repository: { ralphDirectory } }: StoredOf): Promise<readonly Stored[]> {
  const folder = join(ralphDirectory, "aside");
  const names = await listDirectory(folder);
  return names.map((name) => stored("aside", join(folder, name), folder, "was in the way, and is nowhere else"));
}

function stored(kind: Stored["kind"], name: string, folder: string, what: string): Stored {
  return { kind, name, what, bytes: sizeOnDisk(name), remove: () => removeOwn(name, folder).then(() => true) };
}

async function refs({ repository }: StoredOf): Promise<readonly Stored[]> {
  const folders = Object.keys(REFS).map((name) => `refs/ralph/${name}/`);
  const found: Stored[] = [];
  for (const name of await refsBelow(repository, ...folders)) {
    found.push({
      kind: "refs",
      name,
      what: REFS[name.split("/")[2] ?? ""] ?? "",
      bytes: await bytesOf(repository, name),
      remove: () => deleteRefs(repository, [name]).then(() => true),
    });
  }
  return found;
}

/** Size of the objects that no branch, tag or remote has. */
async function bytesOf({ git }: Repository, ref: string): Promise<number | null> {
  const others = ["--not", "--branches", "--tags", "--remotes"];
  const end = await git(["rev-list", "--objects", "--disk-usage", ref, ...others]);
  return end.exitCode === 0 ? Number(end.stdout.trim()) : null; // git before 2.31
}
