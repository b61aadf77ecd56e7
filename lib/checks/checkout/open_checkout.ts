/**
 * A clean checkout of a commit, as anyone else would get it, for checks to run in. It judges nothing.
 *
 * @module
 */
import { join, posix, relative } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Git } from "../../git/run_git.ts";
import type { ListedEntry } from "../../git/tree_listing.ts";
import { hashText, isDirectory } from "../../host/files.ts";
import { createSlots } from "../../host/slots.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import { cleanGit } from "./clean_git.ts";
import { createClone } from "./clone.ts";
import { openDependencies } from "./dependencies.ts";
import { takeHome } from "./home.ts";
import { outwardLinks, specialEntries } from "./index_entries.ts";
import { probeNamespace } from "./namespace.ts";
import { type Ground, layCopies, placeOf, type Results } from "./place.ts";
import { readSettings } from "./settings.ts";
import type { BroughtUp, Checkout } from "./types.ts";

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
export async function openCheckout(ralph: CheckoutContext, options: CheckoutOptions = {}): Promise<Checkout> {
  const { host, root, config: { trust, workspace } } = ralph;
  const { topLevel } = requireRepository(ralph);
  const settings = await readSettings(host, topLevel);
  const home = await takeHome(host, topLevel);
  const git = cleanGit(host, topLevel, home.path);
  const inside = relative(topLevel, root);
  const fromTop = (glob: string): string => glob.includes("/") ? posix.join(inside, glob) : glob;
  const links = workspace.link.length === 0
    ? []
    : (await ignoredPaths(git, topLevel, workspace.link.map(fromTop))).paths;
  const ground: Ground = { host, topLevel, home, namespace: await probeNamespace(host), links };
  const copying = { ...workspace, copy: workspace.copy.map(fromTop), root, mustInstall: trust === "strict" };
  const dependencies = await openDependencies(ground, git, copying, await headOf(git), options.signal);
  const clone = createClone(host, topLevel, home, settings);
  const results: Results = new Map();
  const oneAtATime = createSlots(1);
  let allowed: { readonly submodules: ReadonlySet<string>; readonly links: ReadonlySet<string> } | null = null;

  async function bringUp(wanted: string | undefined): Promise<BroughtUp> {
    const commit = wanted ?? await headOf(git);
    if (commit === undefined) return { status: "nothing-committed" };
    const branch = await branchOf(git);
    const entries = await clone.bringUp({ commit, branch }, allowed?.submodules ?? null);
    const special = specialEntries(entries);
    const outward = await outwardLinks(special.links, home.tree, topLevel);
    allowed ??= { submodules: new Set(special.submodules.map(({ path }) => path)), links: new Set(outward) };
    const added = outward.filter((link) => !allowed?.links.has(link));
    if (added.length > 0) return { status: "links-outside", links: added };
    if (!await isDirectory(join(home.tree, inside))) return { status: "failed", reason: `${inside} is not committed` };
    const brought = await dependencies.bringUp(entries);
    if (brought.status === "failed") return brought;
    const laid = { kept: brought.kept, committed: special.links };
    await layCopies(ground, laid);
    const shell = placeOf(ground, laid, root, results, treeKey(entries, new Set(options.state)));
    const { from, lost, kept } = brought;
    const copied = kept.copies.map(({ path }) => path);
    const name = branch?.replace(/^refs\/heads\//, "") ?? null;
    return { status: "ready", place: { ...shell, commit, branch: name, dependencies: from, copied, lost } };
  }

  return {
    tree: home.tree,
    changedSinceLastRun: dependencies.first.changed,
    tracked: dependencies.first.tracked,
    bringUp: (commit) => oneAtATime.run(() => withoutThrow(() => bringUp(commit))),
    touched: () => oneAtATime.run(() => clone.touched()),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

async function headOf(git: Git): Promise<string | undefined> {
  const end = await git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
  return end.exitCode === 0 ? end.stdout.trim() : undefined;
}

/** The full ref, also of a branch without a commit; `null` when HEAD is detached. */
async function branchOf(git: Git): Promise<string | null> {
  return (await git(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim() || null;
}

/** One text for what a commit holds beside state files. Pure. */
function treeKey(entries: readonly ListedEntry[], state: ReadonlySet<string>): string {
  const counted = entries.filter(({ path }) => !state.has(path));
  return hashText(counted.map(({ mode, hash, path }) => `${mode} ${hash}\t${path}`).join("\0"));
}

async function withoutThrow(bringUp: () => Promise<BroughtUp>): Promise<BroughtUp> {
  try {
    return await bringUp();
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "git-failed") return { status: "failed", reason: error.message };
    throw error;
  }
}
