/**
 * The trees of workers as they are on the disk: whose they are, and what killed runs left in them. A folder without a
 * marker of this project is not this project's, and left alone.
 *
 * @module
 */
import { note, type RalphContext } from "../../context/context.ts";
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { jsonIn, objectOr } from "../../host/data.ts";
import { openRepository } from "../../git/open_repository.ts";
import * as git from "../../git/repository.ts";
import { type Captured, captureWork } from "../../git/fold.ts";
import { asideFolder, isRemovedEmpty, setAsideBytes, setAsideForGood } from "../../host/remove_path.ts";
import { outputFrom, partsOf } from "../../git/run_git.ts";
import { listDirectory, pathExists, readText, removeOwn, removePath, writeAtomic } from "../../host/files.ts";

/** A project, as far as its trees depend on it. */
export type TreesOf = Pick<RalphContext, "config" | "host" | "repository" | "root">;

/** The text of a marker file beside a tree: its owner and its contents. */
export interface Marker {
  readonly v: 1;
  /** Absolute path of the project. */
  readonly root: string;
  readonly run: string;
  /** The work that is being done in it: kept when the run is killed. */
  readonly work: { readonly base: string; readonly ref: string } | null;
}

/** A tree of this project, as its marker names it. Paths are absolute. */
export interface FoundTree {
  readonly path: string;
  readonly marker: Marker;
}

/**
 * Keeps the work in trees of killed runs under its ref, and takes away trees that no worker needs. Call with the run
 * lock held, before trees are opened.
 *
 * @returns how many items' work was kept
 */
export async function rescueTrees(
  ralph: TreesOf & Pick<RalphContext, "events">,
  stateFiles: readonly string[],
  workers: number,
): Promise<number> {
  let kept = 0;
  const state = new Set(git.topLevelPaths(ralph, stateFiles));
  for (const [index, { path, marker }] of (await findTrees(ralph)).entries()) {
    if (await rescueOne(ralph, { path, marker }, state)) kept += 1;
    if (workers === 1 || index >= workers) await removeTree(ralph, path);
  }
  if (kept > 0 && workers === 1) {
    const message = `work of ${kept} ${kept === 1 ? "item" : "items"} was kept (\`git log --all\`): ` +
      "it comes back when they are taken up again";
    note(ralph, "info", message);
  }
  return kept;
}

async function rescueOne(
  ralph: TreesOf & Pick<RalphContext, "events">,
  { path, marker }: FoundTree,
  state: ReadonlySet<string>,
): Promise<boolean> {
  if (marker.work === null || !await isWorktreeOf(ralph, path)) return false;
  const repository = await openRepository(ralph.host, path);
  if (repository === null) return false;
  const { base, ref } = marker.work;
  const work = await captureOf({ ...ralph, repository }, { base, ref, state, wanted: null });
  await writeMarker(path, { ...marker, work: null });
  return work !== null;
}

/**
 * Captures the work in a tree since a commit, as one commit under a ref. Ralph sets aside what git cannot commit, and names it.
 *
 * @param of `wanted`: uncommitted paths that belong to it, `null` for all; state stays as it was
 */
export async function captureOf(
  { events, repository }: Pick<RalphContext, "events"> & { readonly repository: git.Repository },
  { base, ref, state, wanted }: {
    readonly base: string;
    readonly ref: string;
    readonly state: ReadonlySet<string>;
    readonly wanted: ReadonlySet<string> | null;
  },
): Promise<Captured | null> {
  const status = await repository.status();
  await setRestAside({ events }, repository, status);
  const only = status.changed.filter(({ path, submodule }) =>
    submodule === undefined && !path.endsWith("/") && !state.has(path) && (wanted === null || wanted.has(path))
  ).map(({ path }) => path);
  return await captureWork(repository, { base, ref, subject: "ralph: work in progress", without: [...state], only });
}

/** Git commits neither a repository in a folder nor a name that is not UTF-8. */
async function setRestAside(
  { events }: Pick<RalphContext, "events">,
  repository: Pick<git.Repository, "git" | "ralphDirectory" | "topLevel">,
  { changed, unreadable = [] }: git.TreeStatus,
): Promise<void> {
  const { topLevel } = repository;
  const aside = asideFolder(repository.ralphDirectory);
  const places = changed.filter(({ path, untracked }) => untracked && path.endsWith("/"))
    .map(({ path }) => setAsideForGood(join(topLevel, path.slice(0, -1)), aside));
  if (unreadable.length > 0) {
    const listed = ["ls-files", "-z", "--others", "--exclude-standard"];
    const names = partsOf(await outputFrom(repository, listed, { encoding: "latin1" }));
    const bytes = names.map((name) => Buffer.from(name, "latin1")).filter((name) => !isUtf8(name));
    for (const name of bytes) places.push(setAsideBytes(topLevel, name, aside));
  }
  for (const place of places) {
    if (place !== null) note({ events }, "warn", `git cannot commit what a turn made; it is set aside: ${place}`);
  }
}

/** The trees of this project, those of runs that are at work included. */
export async function findTrees(ralph: Omit<TreesOf, "host">): Promise<readonly FoundTree[]> {
  const directory = git.treesDirectory(ralph);
  const found: FoundTree[] = [];
  for (const name of (await listDirectory(directory)).toSorted()) {
    if (!name.endsWith(".json")) continue;
    const marker = parseMarker(await readText(join(directory, name)));
    if (marker?.root === ralph.root) found.push({ path: join(directory, name.slice(0, -".json".length)), marker });
  }
  return found;
}

/** Takes a tree away, with its marker, and the folder of all trees where it was the last. */
export async function removeTree(ralph: TreesOf, path: string): Promise<void> {
  const directory = git.treesDirectory(ralph);
  ralph.host.guard?.forget(path);
  await removeOwn(path, directory); // without git, which has a minute: thousands of files may take longer
  await git.requireRepository(ralph).git(["worktree", "remove", "--force", "--force", path]);
  await removePath(`${path}.json`);
  isRemovedEmpty(directory);
}

/** Tells whether a folder is a worktree of this repository. */
export async function isWorktreeOf(ralph: Omit<TreesOf, "config">, path: string): Promise<boolean> {
  const main = git.requireRepository(ralph);
  if (!await pathExists(join(path, ".git"))) return false;
  const repository = await openRepository(ralph.host, path).catch(() => null);
  if (repository === null || repository.topLevel !== path) return false;
  const common = async (one: git.Repository): Promise<string> =>
    (await one.git(["rev-parse", "--path-format=absolute", "--git-common-dir"])).stdout.trim();
  return await common(repository) === await common(main);
}

/** Says whose a tree is, beside it. */
export async function writeMarker(path: string, marker: Marker): Promise<void> {
  await writeAtomic(`${path}.json`, `${JSON.stringify(marker)}\n`);
}

function parseMarker(text: string | null): Marker | null {
  const marker: Partial<Marker> = objectOr(jsonIn(text));
  return marker.v === 1 && typeof marker.root === "string" ? { work: null, run: "", ...marker } as Marker : null;
}
