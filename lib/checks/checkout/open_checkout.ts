/**
 * A clean checkout of a commit, as anyone else would get it, for checks to run in. It judges nothing.
 *
 * @module
 */
import { dirname, join, posix, relative } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { type HeadNow, type Repository, requireRepository } from "../../git/repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { type Git, gitFailed, type GitOptions, outputOfGit, partsOf, reasonOf } from "../../git/run_git.ts";
import { laidCommit, writeObjects } from "../../git/laid.ts";
import { type ListedEntry, treeListing, verifiedListing } from "../../git/tree_listing.ts";
import * as files from "../../host/files.ts";
import { createSlots } from "../../host/slots.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import * as places from "./place.ts";
import { takeHome } from "./home.ts";
import { linksAmong, outwardLinks, submodulesAmong } from "./index_entries.ts";
import { cleanGit, type GitSettings, readSettings, writeHome, writeSettings } from "./settings.ts";
import { foldersAbove } from "../../host/programs.ts";
import { isReadable } from "../../git/parse_status.ts";
import { changedAt, factsOf } from "../../host/path_facts.ts";
import { type Seal, sealDifferences, sealOf } from "../../host/seal.ts";
import { listFromIndex } from "../../git/read_index.ts";
import { ownCommit, readRefs } from "../../git/refs.ts";
import { wholeTree } from "../../git/own_index.ts";

export type CheckoutContext = Pick<RalphContext, "host" | "repository" | "root" | "config">;

/** How a checkout is opened. */
export interface CheckoutOptions {
  /** State files, relative to the top level: results are the same whatever they hold. @default none */
  readonly state?: readonly string[];
  /** Ends `workspace.setup`. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the checkout of a repository: its git settings, and copies of the ignored paths that `workspace` names, as they
 * are now. Open it before the first turn, and bring it up then.
 *
 * @throws {RalphError} not-a-repository, git-failed, git-missing, file-unwritable
 */
export async function openCheckout(ralph: CheckoutContext, options: CheckoutOptions = {}): Promise<places.Checkout> {
  const { host, root, config: { trust, workspace } } = ralph;
  const repository = requireRepository(ralph);
  const { topLevel } = repository;
  const settings = await readSettings(host, repository);
  const home = await takeHome(host, topLevel);
  const git = cleanGit(host, topLevel, home.path);
  const inside = relative(topLevel, root);
  const fromTop = (glob: string): string => glob.includes("/") ? posix.join(inside, glob) : glob;
  const links = workspace.link.length === 0
    ? []
    : (await ignoredPaths(git, topLevel, workspace.link.map(fromTop))).paths;
  const ground: places.Ground = { host, topLevel, home, namespace: await places.probeNamespace(host), links };
  const copying = { ...workspace, copy: workspace.copy.map(fromTop), root, mustInstall: trust === "strict" };
  const { head: commit } = await repository.head();
  const dependencies = await places.openDependencies(ground, git, { ...copying, commit, signal: options.signal });
  const clone = createClone({ host, topLevel, home, settings });
  const results: places.Results = new Map();
  const oneAtATime = createSlots(1);
  let looked: "just now" | "before" = "just now";
  let known: Awaited<ReturnType<typeof refsOf>> | null = null;
  let allowed: Awaited<ReturnType<typeof allowedWithout>> = null;

  async function bringUp(wanted: string | undefined): Promise<places.BroughtUp> {
    const ofDependencies = wanted === undefined ? looked : "just now"; // a named commit follows a look, and no turn
    looked = "before";
    if (wanted === undefined || known === null) known = await refsOf(repository);
    const { head, branch, refs } = known;
    const commit = wanted ?? head;
    if (commit === null) return failed("nothing is committed");
    const entries = await clone.bringUp({ commit, branch, refs }, allowed?.submodules ?? null);
    const committed = linksAmong(entries);
    const outward = outwardLinks(committed, home.tree, topLevel);
    allowed ??= { submodules: new Set(submodulesAmong(entries).map(({ path }) => path)), links: new Set(outward) };
    const added = outward.filter((link) => !allowed?.links.has(link));
    if (added.length > 0) return failed(`new links lead out of the repository: ${added.join(", ")}`);
    if (!await files.isDirectory(join(home.tree, inside))) return failed(`${inside} is not committed`);
    const brought = await dependencies.bringUp(entries, ofDependencies);
    if (brought.status === "failed") return brought;
    const laid = { kept: brought.kept, committed };
    await places.layCopies(ground, laid);
    const shell = places.placeOf(ground, laid, root, results, treeKey(entries, new Set(options.state)));
    const { dependencies: from, lost, kept } = brought;
    const copied = kept.copies.map(({ path }) => path);
    return { status: "ready", place: { ...shell, commit, entries, dependencies: from, copied, lost } };
  }

  return {
    tree: home.tree,
    copied: dependencies.first.copies.map(({ path }) => path),
    begin: () =>
      oneAtATime.run(async () => {
        [looked, allowed] = ["before", await allowedWithout(git, repository, commit)];
        return allowed === null ? await withoutThrow(() => bringUp(undefined)) : null;
      }),
    changedSinceLastRun: dependencies.first.changed,
    tracked: dependencies.first.tracked,
    bringUp: (commit) => oneAtATime.run(() => withoutThrow(() => bringUp(commit))),
    touched: () => oneAtATime.run(() => clone.touched()),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

/** The submodules and the outward links that a checkout may have; `null` where only a checkout of the commit can tell. */
async function allowedWithout(git: Git, repository: Repository, commit: string | null) {
  if (commit !== null) await listFromIndex(repository, commit);
  const entries = commit === null ? null : await treeListing(git, commit);
  if (entries === null || linksAmong(entries).length + submodulesAmong(entries).length > 0) return null;
  return { submodules: new Set<string>(), links: new Set<string>() };
}

/** Named ref spaces only: `refs/replace` would come along otherwise. */
const SPACES = ["refs/heads/", "refs/tags/", "refs/remotes/"];

/** The refs, and the place of HEAD among them. `branch`: the full ref, also without a commit; `null` when detached. */
async function refsOf(repository: Repository): Promise<HeadNow & Pick<CloneTarget, "refs">> {
  const { head, branch } = await repository.head();
  if (head !== null) await listFromIndex(repository, head);
  return { head, branch: branch && `refs/heads/${branch}`, refs: await readRefs(repository, SPACES) };
}

/** One text for what a commit holds beside state files. Pure. */
function treeKey(entries: readonly ListedEntry[], state: ReadonlySet<string>): string {
  const counted = entries.filter(({ path }) => !state.has(path));
  return files.hashText(counted.map(({ mode, hash, path }) => `${mode} ${hash}\t${path}`).join("\0"));
}

function failed(reason: string): places.BroughtUp {
  return { status: "failed", reason };
}

async function withoutThrow(bringUp: () => Promise<places.BroughtUp>): Promise<places.BroughtUp> {
  try {
    return await bringUp();
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "git-failed") return failed(error.message);
    throw error;
  }
}

/** The commit that a clone is brought up to. `branch`: a full ref, `null` for a detached HEAD. */
interface CloneTarget {
  readonly commit: string;
  readonly branch: string | null;
  /** Objects by the full names of branches, tags and what remotes have. */
  readonly refs: ReadonlyMap<string, string>;
}

/** The repository, the folder of its checkout, and how git works there. */
type ClonePlace = Pick<places.Ground, "home" | "host" | "topLevel"> & { readonly settings: GitSettings };

/** A file's entry in the index: git itself compares seconds only, and a check is over in less. */
const ENTRY_REGEXP =
  /([^\0]+)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: [^\n]*\n {2}dev: [^\n]*\n {2}uid: [^\n]*\n {2}size: [^\n]*\n/g;

/** Makes the clone of a run, whose git directory is believed only while nothing else touches it; nothing is fetched yet. */
function createClone(place: ClonePlace) {
  const { host, topLevel, home, settings } = place;
  const { tree } = home;
  const git = cleanGit(host, tree, home.path);
  const gitDirectory = join(tree, ".git");
  const index = join(home.path, "index");
  const environment = { GIT_INDEX_FILE: index };
  const sealNow = (): Seal => sealBoth(gitDirectory, index);
  let sealed: Seal | null = null;
  const had = new Set<string>();

  async function update({ commit, branch, refs }: CloneTarget): Promise<void> {
    const { common, partial } = settings;
    await writeSettings(gitDirectory, settings, topLevel);
    await files.writePlain(join(gitDirectory, "HEAD"), branch === null ? `${commit}\n` : `ref: ${branch}\n`);
    const laid = laidCommit(common, commit);
    const from = laid?.on ?? commit;
    const came = partial
      ? await receive({ git, gitDirectory, common, shallow: [...new Set([from, commit])].join("\n") + "\n" }, [from])
      : await receive({ git, gitDirectory, common }, [from], refs, had);
    if (laid !== undefined) await writeObjects(join(gitDirectory, "objects"), laid.objects);
    const all = new Map(came);
    if (branch !== null) all.set(branch, commit);
    const packed = [...all].map(([name, object]) => `${object} ${name}\n`);
    await files.writePlain(join(gitDirectory, "packed-refs"), packed.join(""));
  }

  return {
    /** @param submodules paths that are filled; `null`: all @returns what the commit holds @throws {RalphError} git-failed */
    async bringUp(target: CloneTarget, submodules: ReadonlySet<string> | null): Promise<readonly ListedEntry[]> {
      const isNew = sealed === null || sealDifferences(sealed, sealNow()).length > 0 ||
        !await files.isDirectory(gitDirectory);
      if (isNew) {
        await files.removeOwn(dirname(tree), home.path);
        await files.removePath(index);
        for (const folder of ["objects/pack", "refs"]) await files.ensureDirectory(join(gitDirectory, folder));
        had.clear();
      }
      sealed = null;
      await writeHome(home.path, settings);
      await update(target);
      await layTree({ git, gitDirectory, common: settings.common, environment }, target.commit);
      if (settings.info.get("sparse-checkout") !== null) await fillSparse(git, topLevel, environment);
      const entries = laidCommit(settings.common, target.commit)?.entries ?? await verifiedListing(git, target.commit);
      if (!isNew && !await isCleaned(tree, entries)) await outputOfGit(git, ["clean", "-ffdxq"], { environment });
      for (const { path, hash } of submodulesAmong(entries)) {
        if (submodules === null || submodules.has(path)) await fill(place, path, hash);
      }
      await writeSettings(gitDirectory, settings, null);
      await files.copyPath(index, join(gitDirectory, "index"));
      sealed = sealNow();
      return entries;
    },
    /** Files that something has written since, also where their content is the same. */
    touched: async () => sealed === null ? [] : await touchedIn(git, tree, environment),
  };
}

/** Writes the files of a commit. Git has most of the files that were laid over it; the others come by themselves. */
async function layTree(to: Receiving & { readonly environment: Readonly<Record<string, string>> }, commit: string) {
  const { git, gitDirectory, environment } = to;
  const lay = ["read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"];
  const laid = laidCommit(to.common, commit)?.files ?? [];
  const end = await git(lay, { environment });
  if (end.exitCode === 0) return;
  if (laid.length === 0) throw gitFailed(lay, reasonOf(end));
  await receive({ ...to, shallow: await files.readText(join(gitDirectory, "shallow")) }, laid);
  await outputOfGit(git, lay, { environment });
}

/**
 * Removes what is no file of the commit: checks have left it.
 *
 * @returns false where git has to do it: of a name that is not UTF-8 the bytes are lost, and a check may have left a link
 * in the place of a folder that a sparse checkout leaves out
 */
async function isCleaned(tree: string, entries: readonly ListedEntry[]): Promise<boolean> {
  const kept = new Set([".git", ...entries.map(({ path }) => path)]);
  const folders = new Set([".", ...entries.flatMap(({ path }) => foldersAbove(posix.dirname(path)))]);
  if ([...folders].some((folder) => factsOf(join(tree, folder))?.kind !== "other")) return false;
  for (const folder of folders) {
    for (const name of await files.listDirectory(join(tree, folder))) {
      const path = posix.join(folder, name);
      if (!isReadable(path)) return false;
      if (!kept.has(path) && !folders.has(path)) await files.removeOwn(join(tree, path), tree);
    }
  }
  return true;
}

/** Writes what the sparse patterns leave out and the repository's own tree has all the same: a turn wrote it. */
async function fillSparse(git: Git, topLevel: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const listed = await outputOfGit(git, ["ls-files", "-t", "-z"], { environment });
  const skipped = partsOf(listed).flatMap((line) => line.startsWith("S ") ? [line.slice(2)] : []);
  const there = skipped.filter((path) => factsOf(join(topLevel, path)) !== null);
  const input = there.map((path) => `${path}\0`).join("");
  for (const how of [["update-index", "--no-skip-worktree"], ["checkout-index", "--force", "--index"]]) {
    if (input !== "") await outputOfGit(git, [...how, "-z", "--stdin"], { input, environment });
  }
}

/** Out of the repository's own copy of the submodule; where that is not filled, it is not filled here. */
async function fill(place: ClonePlace, path: string, commit: string): Promise<void> {
  const { host, topLevel, home, settings } = place;
  const [from, to] = [join(topLevel, path), join(home.tree, path)];
  if (!await files.pathExists(join(from, ".git"))) return;
  await files.removeOwn(to, home.path);
  await files.ensureDirectory(to);
  const git = cleanGit(host, to, home.path);
  await outputOfGit(git, ["init", "--quiet", "--template=", `--object-format=${settings.format}`]);
  const asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const common = (await outputOfGit(cleanGit(host, from, home.path), asked)).trim();
  await receive({ git, gitDirectory: join(to, ".git"), common }, [commit]);
  await outputOfGit(git, ["checkout", "--quiet", "--detach", commit]);
  const nested = submodulesAmong(await verifiedListing(git, commit));
  for (const { path: below, hash } of nested) await fill(place, `${path}/${below}`, hash);
}

/** The git directory that objects come into, and the one of theirs; `shallow`: where the history is cut, if not as there. */
interface Receiving {
  readonly git: Git;
  readonly gitDirectory: string;
  readonly common: string;
  readonly shallow?: string | null;
}

/**
 * Packs what is new of another repository, whose objects this one process sees, and indexes it by what is in it: git
 * computes the name of each object, and fails where one is missing. Copied or linked files would be believed.
 *
 * @param had what is there already, with all that it leads to; what came is added
 * @returns the refs whose objects are there
 */
async function receive(
  from: Receiving,
  objects: readonly string[],
  refs: ReadonlyMap<string, string> = new Map(),
  had: Set<string> = new Set(),
): Promise<ReadonlyMap<string, string>> {
  const { git, gitDirectory, common } = from;
  const [cut, incoming] = [join(gitDirectory, "shallow"), join(gitDirectory, "incoming")];
  const shallow = from.shallow === undefined ? await files.readText(join(common, "shallow")) : from.shallow;
  if (shallow !== await files.readText(cut)) had.clear(); // what was left out before may be there now
  await (shallow === null ? files.removePath(cut) : files.writePlain(cut, shallow));
  const wanted = [...new Set([...objects, ...refs.values()])].filter((object) => !had.has(object));
  if (wanted.length === 0) return refs;
  const environment = { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(common, "objects")) };
  const given = (objects: readonly string[]): GitOptions => ({ environment, input: `${objects.join("\n")}\n` });
  const pack = ["pack-objects", "--quiet", "--revs", "--delta-base-offset", join(incoming, "pack")];
  await files.ensureDirectory(incoming);
  const packed = await git(pack, given([...wanted, ...[...had].map((object) => `^${object}`)]));
  if (packed.exitCode !== 0) {
    const found = (await outputOfGit(git, ["cat-file", "--batch-check"], given(wanted))).split("\n");
    const gone = new Set(wanted.filter((object) => found.includes(`${object} missing`)));
    if (gone.size === 0 || objects.some((object) => gone.has(object))) throw gitFailed(pack, reasonOf(packed));
    return await receive(from, objects, new Map([...refs].filter(([, object]) => !gone.has(object))), had);
  }
  const name = `pack-${packed.stdout.trim()}.pack`;
  const at = join(gitDirectory, "objects", "pack", name);
  await files.renamePath(join(incoming, name), at);
  await files.removeOwn(incoming, gitDirectory);
  const index = ["index-pack", "--check-self-contained-and-connected", at];
  const indexed = await git(index);
  if (indexed.exitCode !== 0 && indexed.exitCode !== 1) throw gitFailed(index, reasonOf(indexed)); // 1: needs older packs
  for (const object of wanted) had.add(object);
  return refs;
}

async function touchedIn(git: Git, tree: string, environment: Record<string, string>): Promise<readonly string[]> {
  const listed = await outputOfGit(git, ["ls-files", "-z", "--debug"], { environment });
  return [...listed.matchAll(ENTRY_REGEXP)].flatMap(([, path = "", seconds = "", part = ""]) =>
    changedAt(join(tree, path)) === BigInt(seconds) * 1_000_000_000n + BigInt(part) ? [] : [path]
  );
}

/** An index in the checkout is a check's to write: the one that counts is outside. */
function sealBoth(gitDirectory: string, index: string): Seal {
  const own = [...sealOf(gitDirectory)].filter(([path]) => path !== "" && path !== "index");
  return new Map([...own, ...[...sealOf(index)].map(([, text]) => [index, text] as const)]);
}

/**
 * A clean checkout of what would be committed now: tracked files as they are, untracked ones, and nothing that git
 * ignores but what `workspace` names.
 *
 * @throws {RalphError} not-a-repository, git-failed
 */
export async function openCheckTree(
  ralph: CheckoutContext,
  options: CheckoutOptions,
): Promise<{ readonly place: places.CheckoutPlace } & AsyncDisposable> {
  const checkout = await openCheckout(ralph, options);
  try {
    const up = await checkout.bringUp(await commitOfTree(ralph));
    if (up.status === "ready") return { place: up.place, [Symbol.asyncDispose]: () => checkout[Symbol.asyncDispose]() };
    const hint = "set `verify.isolated` to false to run the checks in the tree";
    throw new RalphError("git-failed", { details: { command: "checkout", reason: up.reason, hint } });
  } catch (error) {
    await checkout[Symbol.asyncDispose]();
    throw error;
  }
}

/** The tree as it would be committed, as a commit that no branch has; HEAD and index stay as they are. */
export async function commitOfTree(place: CheckoutContext): Promise<string> {
  const repository = requireRepository(place);
  const { head, changed } = await repository.status();
  if (head !== null && changed.length === 0) return head;
  return await ownCommit(repository, await wholeTree(repository), {
    parents: head === null ? [] : [head],
    message: "work in progress\n",
  });
}
