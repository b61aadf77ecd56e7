/**
 * A clean checkout of a commit, as anyone else would get it, for checks to run in. It judges nothing.
 *
 * @module
 */
import { join, posix, relative } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { type Git, outputOfGit } from "../../git/run_git.ts";
import type { ListedEntry } from "../../git/tree_listing.ts";
import type { HeadNow } from "../../git/types.ts";
import { hashText, isDirectory } from "../../host/files.ts";
import { createSlots } from "../../host/slots.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import { cleanGit } from "./clean_git.ts";
import { type CloneTarget, createClone } from "./clone.ts";
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
  const ground: Ground = { host, topLevel, home, namespace: await probeNamespace(host), links };
  const copying = { ...workspace, copy: workspace.copy.map(fromTop), root, mustInstall: trust === "strict" };
  const dependencies = await openDependencies(ground, git, copying, (await repository.head()).head, options.signal);
  const clone = createClone(host, topLevel, home, settings);
  const results: Results = new Map();
  const oneAtATime = createSlots(1);
  let looked: "just now" | "before" = "just now";
  let allowed: { readonly submodules: ReadonlySet<string>; readonly links: ReadonlySet<string> } | null = null;

  async function bringUp(wanted: string | undefined): Promise<BroughtUp> {
    const ofDependencies = looked;
    looked = "before";
    const { head, branch, refs } = await refsOf(git);
    const commit = wanted ?? head;
    if (commit === null) return { status: "nothing-committed" };
    const entries = await clone.bringUp({ commit, branch, refs }, allowed?.submodules ?? null);
    const special = specialEntries(entries);
    const outward = await outwardLinks(special.links, home.tree, topLevel);
    allowed ??= { submodules: new Set(special.submodules.map(({ path }) => path)), links: new Set(outward) };
    const added = outward.filter((link) => !allowed?.links.has(link));
    if (added.length > 0) return { status: "links-outside", links: added };
    if (!await isDirectory(join(home.tree, inside))) return { status: "failed", reason: `${inside} is not committed` };
    const brought = await dependencies.bringUp(entries, ofDependencies);
    if (brought.status === "failed") return brought;
    const laid = { kept: brought.kept, committed: special.links };
    await layCopies(ground, laid);
    const shell = placeOf(ground, laid, root, results, treeKey(entries, new Set(options.state)));
    const { from, lost, kept } = brought;
    const copied = kept.copies.map(({ path }) => path);
    return { status: "ready", place: { ...shell, commit, dependencies: from, copied, lost } };
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

/** Named ref spaces only: `refs/replace` would come along otherwise. */
const SPACES = ["refs/heads/", "refs/tags/", "refs/remotes/"];

/** The refs, and the place of HEAD among them. `branch`: the full ref, also without a commit; `null` when detached. */
async function refsOf(git: Git): Promise<HeadNow & Pick<CloneTarget, "refs">> {
  const listed = await outputOfGit(git, ["for-each-ref", "--format=%(objectname) %(refname) %(HEAD)", ...SPACES]);
  const rows = listed.split("\n").slice(0, -1).map((line) => line.split(" "));
  const refs = new Map(rows.map(([object = "", name = ""]) => [name, object]));
  const current = rows.find((row) => row[2] === "*");
  if (current !== undefined) return { head: current[0] ?? null, branch: current[1] ?? null, refs };
  const end = await git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
  const branch = (await git(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim() || null;
  return { head: end.exitCode === 0 ? end.stdout.trim() : null, branch, refs };
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
