/**
 * A clean checkout of a commit, as anyone else would get it, for checks to run in. It judges nothing.
 *
 * @module
 */
import { join, posix, relative } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../context/require_repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { outputOfGit } from "../../git/run_git.ts";
import { hashText, isDirectory } from "../../host/files.ts";
import { shellInvocation } from "../../host/shell.ts";
import { createSlots } from "../../host/slots.ts";
import { dependencyKey } from "../../workspace/dependency_key.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import { keepCopies, type KeptCopies } from "../../workspace/kept_copies.ts";
import { cleanGit } from "./clean_git.ts";
import { createClone } from "./clone.ts";
import { takeHome } from "./home.ts";
import { outwardLinks } from "./index_entries.ts";
import { probeNamespace } from "./namespace.ts";
import { createResults, type Ground, type LaidCopies, layCopies, placedProcess } from "./place.ts";
import { readSettings } from "./settings.ts";
import type { BroughtUp, Checkout, CheckoutPlace } from "./types.ts";

/** What a checkout needs of a context. */
export type CheckoutContext = Pick<RalphContext, "host" | "repository" | "root" | "config">;

/** How a checkout is opened. */
export interface CheckoutOptions {
  /** State files, relative to the top level: results are the same whatever they hold. @default none */
  readonly state?: readonly string[];
  /** Ends `workspace.setup`. */
  readonly signal?: AbortSignal;
}

/** What the copies of ignored folders were made from. */
interface Dependencies {
  readonly key: string;
  readonly kept: KeptCopies;
  readonly from: CheckoutPlace["dependencies"];
}

/**
 * Opens the checkout of a repository: its git settings, and copies of the ignored paths that `workspace` names, as they
 * are now. Open it before the first turn, and bring it up then.
 *
 * @throws {RalphError} not-a-repository, git-failed, git-missing, file-unwritable
 *
 * @example Check HEAD
 * ```ts
 * import { openCheckout } from "../../../lib/checks/checkout/open_checkout.ts";
 * import { verify } from "../../../lib/checks/verify.ts";
 * import { createRalph } from "ralph";
 * import { temporaryRepository } from "ralph/testing";
 *
 * await using repository = await temporaryRepository({ files: { "a.txt": "a\n" } });
 * await using ralph = await createRalph({ root: repository.path });
 * await using checkout = await openCheckout(ralph);
 * const up = await checkout.bringUp();
 * if (up.status === "ready") console.log((await verify(ralph, ["test -f a.txt"], { place: up.place })).status); // passed
 * ```
 */
export async function openCheckout(ralph: CheckoutContext, options: CheckoutOptions = {}): Promise<Checkout> {
  const { host, root, config: { workspace } } = ralph;
  const { topLevel } = requireRepository(ralph);
  const settings = await readSettings(host, topLevel);
  const home = await takeHome(host, topLevel);
  const git = cleanGit(host, topLevel, home.path);
  const clone = createClone(host, topLevel, home, settings);
  const inside = relative(topLevel, root);
  const fromTop = (glob: string): string => glob.includes("/") ? posix.join(inside, glob) : glob;
  const copy = workspace.copy.map(fromTop);
  const folder = join(home.path, "copies");
  const ground: Ground = {
    host,
    topLevel,
    home,
    namespace: await probeNamespace(host),
    links: workspace.link.length === 0 ? [] : (await ignoredPaths(git, topLevel, workspace.link.map(fromTop))).paths,
  };
  const results = createResults();
  const oneAtATime = createSlots(1);
  const start = await headOf();
  const startKey = start === null ? "" : await dependencyKey(git, start.commit);
  const first = await keepCopies({ host, topLevel, folder, workspace: { copy } }, startKey);
  let dependencies: Dependencies = { key: startKey, kept: first, from: "as at the start" };
  let allowed: { readonly submodules: ReadonlySet<string>; readonly links: ReadonlySet<string> } | null = null;

  async function headOf(): Promise<{ readonly commit: string; readonly branch: string | null } | null> {
    const commit = await git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
    if (commit.exitCode !== 0) return null;
    const branch = (await git(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
    return { commit: commit.stdout.trim(), branch: branch === "" ? null : branch };
  }

  /** Anew where the lock files differ from those that the copies were installed by, or a folder has come since. */
  async function bringDependencies(commit: string): Promise<readonly string[] | string> {
    const key = await dependencyKey(git, commit);
    const known = new Set(dependencies.kept.copies.map(({ path }) => path));
    const isNew = key !== dependencies.key ||
      dependencies.from !== "installed" && (await ignoredPaths(git, topLevel, copy)).paths.some((path) => !known.has(path));
    if (!isNew) return await dependencies.kept.restore();
    const from = workspace.setup === null ? topLevel : home.tree;
    if (workspace.setup !== null) {
      const shell = placedProcess(ground, { copies: [] }, await shellInvocation(workspace.setup, host.environment), workspace.setup, root);
      const limits = { timeoutMs: workspace.setupTimeout * 1000, ...(options.signal && { signal: options.signal }) };
      const end = await host.processes.run({ ...shell, ...limits });
      if (end.exitCode !== 0) return `workspace.setup: ${end.tail.trim() || end.reason}`;
    }
    const kept = await keepCopies({ host, topLevel: from, folder, workspace: { copy } }, key);
    dependencies = { key, kept, from: workspace.setup === null ? "taken" : "installed" };
    return [];
  }

  async function bringUp(wanted: string | undefined): Promise<BroughtUp> {
    const head = await headOf();
    if (head === null && wanted === undefined) return { status: "nothing-committed" };
    const branch = head === null ? (await git(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim() || null : head.branch;
    const commit = wanted ?? head!.commit;
    const entries = await clone.bringUp({ commit, branch }, allowed?.submodules ?? null);
    const outward = await outwardLinks(entries.links, home.tree, topLevel);
    allowed ??= {
      submodules: new Set(entries.submodules.map(({ path }) => path)),
      links: new Set(outward),
    };
    const links = outward.filter((link) => !allowed?.links.has(link));
    if (links.length > 0) return { status: "links-outside", links };
    if (!await isDirectory(join(home.tree, inside))) return { status: "failed", reason: `${inside} is not committed` };
    const lost = await bringDependencies(commit);
    if (typeof lost === "string") return { status: "failed", reason: lost };
    return { status: "ready", place: await placeOf(commit, branch, lost, entries.links) };
  }

  async function placeOf(
    commit: string,
    branch: string | null,
    lost: readonly string[],
    links: readonly string[],
  ): Promise<CheckoutPlace> {
    const { kept, from } = dependencies;
    const laid: LaidCopies = kept;
    await layCopies(ground, laid, links);
    const tree = await treeKey(commit);
    let whole: Promise<void> | null = null;
    return {
      commit,
      branch: branch?.replace(/^refs\/heads\//, "") ?? null,
      cwd: ground.namespace.kind === "elsewhere" ? join(home.tree, inside) : root,
      namespace: ground.namespace,
      dependencies: from,
      copied: kept.copies.map(({ path }) => path),
      lost,
      run: (shell, command, from) => placedProcess(ground, laid, shell, command, from),
      known: (command) => results.known(tree, command),
      remember: (command, outcome) => results.remember(tree, command, outcome),
      async directory() {
        await (whole ??= layCopies({ ...ground, namespace: { ...ground.namespace, kind: "elsewhere" } }, laid, links));
        return join(home.tree, inside);
      },
    };
  }

  async function treeKey(commit: string): Promise<string> {
    const state = new Set(options.state);
    const entries = (await outputOfGit(git, ["ls-tree", "-r", "-z", "--full-tree", commit])).split("\0");
    return hashText(entries.filter((entry) => !state.has(entry.slice(entry.indexOf("\t") + 1))).join("\0"));
  }

  return {
    tree: home.tree,
    changedSinceLastRun: first.changed,
    tracked: first.tracked,
    bringUp: (commit) =>
      oneAtATime.run(async () => {
        try {
          return await bringUp(commit);
        } catch (error) {
          if (RalphError.isInstance(error) && error.code === "git-failed") return { status: "failed", reason: error.message };
          throw error;
        }
      }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}
