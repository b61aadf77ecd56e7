import { createRedactor } from "../../events/redact.ts";
import { secretValues } from "../../events/secrets.ts";
import { join } from "node:path";
import type { WorkspaceConfig } from "../../config/schema.ts";
import type { Git } from "../../git/run_git.ts";
import { type ListedEntry, treeListing } from "../../git/tree_listing.ts";
import type { SandboxRequest } from "../../host/confinement.ts";
import { isDirectory } from "../../host/files.ts";
import { shellInvocation } from "../../host/shell.ts";
import { dependencyKey } from "../../workspace/dependency_key.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import { keepCopies, type KeptCopies } from "../../workspace/kept_copies.ts";
import { type Ground, placedProcess } from "./place.ts";
import type { CheckoutPlace } from "./types.ts";

/** The ignored folders of a checkout. */
export interface Dependencies {
  /** As they were when the checkout was opened. */
  readonly first: KeptCopies;
  /** Brings them up to a commit that is checked out. @param looked when the tree's folders were: a turn came since, or not */
  bringUp(entries: readonly ListedEntry[], looked: "just now" | "before"): Promise<BroughtDependencies>;
}

/** The outcome of bringing them up. */
export type BroughtDependencies =
  | {
    readonly status: "ready";
    readonly kept: KeptCopies;
    readonly from: CheckoutPlace["dependencies"];
    readonly lost: readonly string[];
  }
  | { readonly status: "failed"; readonly reason: string };

/** The copies and installations; globs are relative to the top level, the root is absolute. */
export type Copying = Pick<WorkspaceConfig, "copy" | "setup" | "setupTimeout"> & {
  readonly root: string;
  /** Folders that came to be or whose lock file changed are never taken from the tree. */
  readonly mustInstall: boolean;
};

const MUST_INSTALL = "the dependencies are as the agent left them: `trust: strict` needs `workspace.setup`, " +
  "which installs them anew";

/** Copies them as they are now. @param commit `null` before the first one */
export async function openDependencies(
  ground: Ground,
  git: Git,
  { copy, setup, setupTimeout, root, mustInstall }: Copying,
  commit: string | null,
  signal: AbortSignal | undefined,
): Promise<Dependencies> {
  const { host, topLevel, home } = ground;
  const keep = (from: string, keyOf: () => Promise<string>): Promise<KeptCopies> =>
    keepCopies({ host, topLevel: from, folder: join(home.path, "copies"), workspace: { copy } }, keyOf);
  let key: string | null = null;
  const keyBefore = async (): Promise<string> =>
    key ??= commit === null ? "" : await dependencyKey(git, await treeListing(git, commit));
  const first = await keep(topLevel, keyBefore);
  let kept = first;
  let from: CheckoutPlace["dependencies"] = "as at the start";

  /** In the checkout, without the copies. @returns why it failed */
  async function install(command: string): Promise<string | null> {
    const shell = await shellInvocation(command, host.environment);
    const placed = placedProcess(ground, [], shell, command, root);
    const limits = { timeoutMs: setupTimeout * 1000, ...(signal === undefined ? {} : { signal }) };
    const redactor = createRedactor(secretValues(host.environment.variables));
    const sandbox: SandboxRequest = { cwd: root, ...placed.sandbox, role: "setup" };
    const end = await host.processes.run({ ...placed, sandbox, ...limits, mask: () => redactor.stream() });
    return end.exitCode === 0 ? null : `workspace.setup: ${end.tail.trim() || end.reason}`;
  }

  async function hasNewFolder(): Promise<boolean> {
    const known = new Set(kept.copies.map(({ path }) => path));
    return (await ignoredPaths(git, topLevel, copy)).paths.some((path) => !known.has(path));
  }

  async function hasFolder(): Promise<boolean> {
    const { paths } = await ignoredPaths(git, topLevel, copy);
    return (await Promise.all(paths.map((path) => isDirectory(join(topLevel, path))))).includes(true);
  }

  return {
    first,
    async bringUp(entries, looked) {
      const keyNow = await dependencyKey(git, entries);
      const isKnown = looked === "just now" || from === "installed";
      if (keyNow === await keyBefore() && (isKnown || !await hasNewFolder())) {
        return { status: "ready", kept, from, lost: await kept.restore() };
      }
      if (setup === null && mustInstall && await hasFolder()) return { status: "failed", reason: MUST_INSTALL };
      const files = new Set(first.copies.filter(({ isFolder }) => !isFolder).map(({ path }) => path));
      if (setup !== null) await first.copyInto(home.tree, (path) => files.has(path)); // `.env`: no installation makes it
      const reason = setup === null ? null : await install(setup);
      if (reason !== null) return { status: "failed", reason };
      kept = await keep(setup === null ? topLevel : home.tree, () => Promise.resolve(keyNow));
      key = keyNow;
      from = setup === null ? "taken" : "installed";
      return { status: "ready", kept, from, lost: [] };
    },
  };
}
