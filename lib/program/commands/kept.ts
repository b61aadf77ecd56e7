/**
 * Things that Ralph keeps of a project outside of its tree: copies in the cache, files set aside, and refs of its own.
 *
 * @module
 */
import { asideFolder } from "../../host/remove_path.ts";
import { join, relative, resolve } from "node:path";
import { homesOf, removeHome } from "../../checks/checkout/home.ts";
import { type Invocation, printed, toJson, usage } from "../../cli/command.ts";
import { openSession } from "../../cli/session.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { loadConfig } from "../../config/load.ts";
import { ownFiles } from "../../context/context.ts";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { deleteRefs, refsBelow } from "../../git/refs.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { cacheFolder, hashText, listDirectory, pathExists, removeOwn, sizeOnDisk } from "../../host/files.ts";
import { localTime } from "../../host/local_date.ts";
import { readLockHolder } from "../../host/lock.ts";
import type { Host } from "../../host/types.ts";
import { findTrees, type FoundTree, rescueTrees, type TreesOf } from "../../loop/parallel/leftover_trees.ts";
import { gate } from "../../recipe/gate.ts";
import { formatSize } from "../../ui/format_size.ts";

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
  const home = "the clean checkout, with copies of what `workspace` names: the next run makes it again";
  return [
    ...(await homesOf(cache, topLevel)).map((name) => ({
      ...stored("cache", name, folder, home),
      remove: () => removeHome(host, name),
    })),
    ...await pathExists(sandbox)
      ? [stored("cache", sandbox, folder, "what package managers keep in the sandbox: they fetch it again")]
      : [],
  ];
}

async function aside({ repository: { ralphDirectory } }: StoredOf): Promise<readonly Stored[]> {
  // a sandbox's home is this worktree's own; all else is the repository's
  const folders = new Set([join(ralphDirectory, "aside"), asideFolder(ralphDirectory)]);
  const lists = [...folders].map(async (folder) =>
    (await listDirectory(folder)).map((name) =>
      stored("aside", join(folder, name), folder, "was in the way, and is nowhere else")
    )
  );
  return (await Promise.all(lists)).flat();
}

function stored(kind: Stored["kind"], name: string, folder: string, what: string): Stored {
  return { kind, name, what, bytes: sizeOnDisk(name), remove: () => removeOwn(name, folder).then(() => true) };
}

async function refs({ repository }: StoredOf): Promise<readonly Stored[]> {
  const folders = Object.keys(REFS).map((name) => `refs/ralph/${name}/`);
  const found: Stored[] = [];
  for (const name of await refsBelow(repository, ...folders)) {
    const what = REFS[name.split("/")[2] ?? ""] ?? "";
    const remove = (): Promise<boolean> => deleteRefs(repository, [name]).then(() => true);
    found.push({ kind: "refs", name, what, bytes: await bytesOf(repository, name), remove });
  }
  return found;
}

/** Size of the objects that no branch, tag or remote has. */
async function bytesOf({ git }: Repository, ref: string): Promise<number | null> {
  const others = ["--not", "--branches", "--tags", "--remotes"];
  const end = await git(["rev-list", "--objects", "--disk-usage", ref, ...others]);
  return end.exitCode === 0 ? Number(end.stdout.trim()) : null; // git before 2.31
}

/** `ralph clean [cache|aside|refs]`: shows what Ralph keeps of this project, and removes it after a yes. */
export async function clean(invocation: Invocation): Promise<number> {
  const { arguments: [kind], out, host } = invocation;
  if (kind !== undefined && !STORED.some((known) => known === kind)) {
    throw usage(
      `\`ralph clean\` knows no ${kind}`,
      `\`ralph clean\` removes all, \`ralph clean ${STORED[0]}\` one kind`,
    );
  }
  await using session = await openSession(invocation, { asks: true, gates: ["clean"] });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("clean");
  const all = await storedFor({ host, repository: requireRepository(ralph) });
  const stored = all.filter((one) => kind === undefined || one.kind === kind);
  if (stored.length === 0) return printed(out, "Ralph keeps nothing of this project");
  const lines = stored.map(({ name, what, bytes }) =>
    `${name}  ${bytes === null ? "" : `${formatSize(bytes)}  `}${what}`
  );
  ralph.events.emit({ type: "text", title: "Kept of this project", lines });
  const bytes = stored.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const message = `Remove ${stored.length === 1 ? "it" : `all ${stored.length}`} (${formatSize(bytes)})?`;
  const { status } = await gate(ralph, { name: "clean", message, next: ["ralph clean --approve clean"] });
  if (status === "aborted") return EXIT.interrupted;
  if (status === "declined") return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  for (const one of stored) out(await one.remove() ? `removed ${one.name}` : `in use, so it stays: ${one.name}`);
  return EXIT.done;
}

/** `ralph worktrees [list|remove]`: the worktrees that runs with several workers have left. */
export async function worktrees(invocation: Invocation): Promise<number> {
  const { arguments: [verb = "list"], flags, host, out, say } = invocation;
  if (verb !== "list" && verb !== "remove") {
    throw usage(
      `\`ralph worktrees\` knows no ${verb}`,
      "`ralph worktrees` lists them, `ralph worktrees remove` removes them",
    );
  }
  const root = await resolveRoot(invocation);
  const named = flags.text("config");
  const { config } = await loadConfig(root, named === undefined ? undefined : resolve(host.environment.cwd, named));
  const repository = requireRepository({ repository: await openRepository(host, root), root });
  const place: TreesOf = { config, host, repository, root };
  const trees = await findTrees(place);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  if (verb === "list") {
    if (flags.has("json")) out(toJson({ atWork: holder?.pid ?? null, worktrees: trees.map(asData) }));
    else for (const tree of trees) out(lineOf(tree, root, holder !== null));
    if (trees.length === 0 && !flags.has("json")) say("there are no worktrees of `--parallel` here");
    return EXIT.done;
  }
  if (holder !== null) {
    const { purpose, pid, since } = holder;
    throw new RalphError("run-locked", { details: { purpose, pid, startedAt: localTime(since) } });
  }
  const kept = await rescueTrees({ ...place, events: { emit: () => {}, attach: () => {} } }, [], 1);
  if (flags.has("json")) out(toJson({ removed: trees.map(asData), kept }));
  else for (const { path } of trees) out(`removed ${relative(root, path)}`);
  if (kept > 0) say(`work of ${kept} of them is kept (\`git log --all\`): the next run continues with it`);
  return EXIT.done;
}

function asData({ path, marker: { run, work } }: FoundTree): object {
  return { path, run, workOn: work?.base ?? null };
}

function lineOf({ path, marker: { run, work } }: FoundTree, root: string, isAtWork: boolean): string {
  const state = work === null ? "nothing in it" : `work in progress on ${work.base.slice(0, 10)}`;
  return `${relative(root, path)}  run ${run}, ${isAtWork ? "at work" : "left"}: ${state}`;
}
