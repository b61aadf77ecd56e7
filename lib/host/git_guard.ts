/**
 * Programs outside of a turn follow no link that the turn made. A turn can write to the git directory and to the tree,
 * and Ralph's git opens files there: a link at `.git/logs/HEAD` would have it write any file of the person. So the git
 * directory is compared with what it was before the first turn; what was there then is the person's and stays.
 *
 * @module
 */
import { readFileSync, readlinkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { firstOf } from "./data.ts";
import { type FileState, isSameState, readFileState, writeFileState } from "./file_state.ts";
import { nestedSettings, programSettings, readSpecials, type Specials, withPrograms } from "./nested_git.ts";
import { foldersAbove } from "./programs.ts";
import { asideFolder, setAside } from "./remove_path.ts";
import type { GitGuard, Host, WatchedRepository } from "./types.ts";
import { writeAtomic } from "./write_atomic.ts";
import { entriesIn, entryAt, entryOrNothing, linkAt } from "./looks.ts";

const MAX_BYTES = 1 << 20;
/** So many are named. */
const MOST_NAMED = 5;

/**
 * A host whose processes are looked after: a request that says what it is (`sandbox`) is an agent's, a check's or a
 * service's, and after it, or before each git while it runs, the guard looks.
 */
export function guardedHost(host: Host, report: (message: string) => void): Host & { readonly guard: GitGuard } {
  const guard = createGitGuard(report);
  let working = 0;
  const run: Host["processes"]["run"] = async (request) => {
    if (request.sandbox === undefined) {
      if (working > 0 && request.file === "git") await guard.look();
      return await host.processes.run(request);
    }
    guard.begin();
    working += 1;
    try {
      return await host.processes.run(request);
    } finally {
      working -= 1;
      await guard.look();
    }
  };
  return { ...host, guard, processes: { ...host.processes, run } };
}

/** A repository as it was before the first turn. */
interface Known {
  readonly repository: WatchedRepository;
  /** Device and inode of the git directory. */
  readonly identity: string | null;
  readonly specials: Specials;
  /** Small files by which git finds its settings and objects. */
  readonly files: ReadonlyMap<string, FileState>;
  /** The settings of nested repositories. */
  readonly nested: ReadonlyMap<string, FileState>;
  /** Its own settings: what a turn may change of them is taken over. */
  readonly settings: { readonly path: string; state: FileState };
}

function createGitGuard(report: (message: string) => void): GitGuard {
  const waiting = new Map<string, WatchedRepository>();
  const known = new Map<string, Known>();
  const kept = new Map<string, ReadonlyMap<string, string>>();
  const moved = new Map<string, string>();
  let hasBegun = false;
  let holdsSettings = false;

  function begin(): void {
    hasBegun = true;
    for (const repository of waiting.values()) known.set(repository.gitDirectory, readKnown(repository));
    waiting.clear();
    moved.clear();
  }

  return {
    moved,
    watch(repository) {
      if (known.has(repository.gitDirectory)) return;
      waiting.set(repository.gitDirectory, repository);
      if (hasBegun) begin();
    },
    forget(topLevel) {
      for (const [key, one] of [...waiting, ...[...known].map(([key, { repository }]) => [key, repository] as const)]) {
        if (one.topLevel !== topLevel) continue;
        waiting.delete(key);
        known.delete(key);
      }
    },
    keep(path) {
      if (!kept.has(path)) kept.set(path, linksAbove(path, topLevelOf(path, [...waiting.values(), ...values(known)])));
    },
    holdSettings() {
      holdsSettings = true;
    },
    begin,
    async look() {
      const named: string[] = [];
      for (const one of known.values()) {
        named.push(...await settle(one), ...holdsSettings ? await settleSettings(one) : []);
      }
      for (const [path, links] of kept) named.push(...settlePath(path, links, { repositories: values(known), moved }));
      if (named.length === 0) return;
      report(`the turn put into the way of Ralph's own git, set aside: ${firstOf(named, MOST_NAMED)}`);
    },
  };
}

function values(known: ReadonlyMap<string, Known>): readonly WatchedRepository[] {
  return [...known.values()].map(({ repository }) => repository);
}

function readKnown(repository: WatchedRepository): Known {
  const { topLevel, gitDirectory, commonDirectory, included = [] } = repository;
  const settings = join(commonDirectory, "config");
  const paths = [
    ...included,
    join(topLevel, ".git"),
    ...["commondir", "gitdir", "config.worktree"].map((name) => join(gitDirectory, name)),
    ...["config.worktree", "commondir", "objects/info/alternates", "objects/info/http-alternates"]
      .map((name) => join(commonDirectory, name)),
  ];
  return {
    repository,
    identity: identityOf(gitDirectory),
    specials: specialsOf(repository),
    files: new Map(paths.map((path) => [path, readFileState(path, MAX_BYTES)])),
    settings: { path: settings, state: readFileState(settings, MAX_BYTES) },
    nested: new Map(nestedSettings(repository).map(({ path }) => [path, readFileState(path, MAX_BYTES)])),
  };
}

function specialsOf({ gitDirectory, commonDirectory }: WatchedRepository): Specials {
  const isInside = gitDirectory === commonDirectory || gitDirectory.startsWith(`${commonDirectory}${sep}`);
  return new Map([...readSpecials(commonDirectory), ...isInside ? [] : readSpecials(gitDirectory)]);
}

async function settle(known: Known): Promise<readonly string[]> {
  const { repository, identity, specials, files } = known;
  const { topLevel, gitDirectory } = repository;
  if (entryAt(topLevel) === undefined) return []; // a worker's tree that is gone
  const named: string[] = [];
  if (bringBack(repository, identity)) named.push(".git, which was moved: it is back");
  if (entryAt(gitDirectory)?.isDirectory() !== true) return named;
  const aside = asideFolder(join(gitDirectory, "ralph"));
  const name = (path: string): string => relative(topLevel, path).replaceAll("\\", "/");
  for (const [path, what] of [...specialsOf(repository)].toSorted(([one], [other]) => one.length - other.length)) {
    if (specials.get(path) === what) continue;
    if (what.startsWith("file ")) await writeAtomic(path, readFileSync(path));
    else if (setAside(path, aside) === null) continue;
    named.push(`${name(path)} (${what})`);
  }
  for (const [path, before] of files) {
    const found = readFileState(path, MAX_BYTES);
    if (before.kind === "folder" || before.kind === "special" || isSameState(before, found)) continue;
    if (found.kind === "folder" && before.kind === "missing") continue;
    setAside(path, aside);
    await writeFileState(path, before, dirname(path), { aside });
    named.push(name(path));
  }
  for (const path of await settleNested(known, aside)) named.push(name(path));
  return named;
}

/** Settings that name a program are what they were; all others stay, such as `user.email` and remotes. */
async function settleSettings({ repository, settings }: Known): Promise<readonly string[]> {
  const { topLevel, gitDirectory } = repository;
  const { path, state: before } = settings;
  const found = readFileState(path, MAX_BYTES);
  if (entryAt(topLevel) === undefined || isSameState(before, found)) return [];
  const [was, is] = [programsOf(before), programsOf(found)];
  settings.state = found;
  if (was.length === is.length && was.every((line, index) => line === is[index])) return [];
  const aside = asideFolder(join(gitDirectory, "ralph"));
  const isWhole = found.kind !== "text" || was.some((line) => line.endsWith("\\")); // of one line and the next
  const text = isWhole ? "" : withPrograms(Buffer.from(found.bytes).toString("utf8"), was);
  settings.state = isWhole ? before : { ...found, bytes: Buffer.from(text) };
  setAside(path, aside);
  await writeFileState(path, settings.state, dirname(path), { aside });
  return [`${relative(topLevel, path).replaceAll("\\", "/")} (what may name a program is as before)`];
}

function programsOf(state: FileState): readonly string[] {
  return state.kind === "text" ? programSettings(Buffer.from(state.bytes).toString("utf8")) : [state.kind];
}

/**
 * Git looks into nested repositories as well, and would run the filters that their settings name. Settings that name a
 * program are what they were before the first turn; those of a repository that was not there are set aside.
 */
async function settleNested({ repository, nested }: Known, aside: string): Promise<readonly string[]> {
  const named: string[] = [];
  for (const { path, entry, isInside } of nestedSettings(repository)) {
    const found = readFileState(path, MAX_BYTES);
    const before = nested.get(path) ?? { kind: "missing" };
    if (found.kind === "missing" || isSameState(before, found)) continue;
    if (programsOf(found).length === 0) continue;
    const moved = isInside ? path : entry;
    setAside(moved, aside);
    if (isInside) await writeFileState(path, before, dirname(path), { aside });
    named.push(moved);
  }
  return named;
}

/** A git directory that a turn moved away, and left a file or a link to it behind (`git init --separate-git-dir`). */
function bringBack({ gitDirectory, topLevel }: WatchedRepository, identity: string | null): boolean {
  const found = entryAt(gitDirectory);
  if (found === undefined || found.isDirectory()) return false;
  const written = found.isFile() ? readFileSync(gitDirectory, "utf8") : "";
  const target = found.isSymbolicLink() ? readlinkSync(gitDirectory) : /^gitdir: (.+)\s*$/.exec(written)?.[1];
  const moved = target === undefined ? null : resolve(topLevel, target);
  if (moved === null || identity === null || identityOf(moved) !== identity) return false;
  rmSync(gitDirectory, { force: true });
  renameSync(moved, gitDirectory);
  return true;
}

function identityOf(path: string): string | null {
  const found = entryOrNothing(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

function topLevelOf(path: string, repositories: readonly WatchedRepository[]): string {
  return repositories.map(({ topLevel }) => topLevel).find((top) => path.startsWith(`${top}${sep}`)) ?? dirname(path);
}

/** The links among a path and the folders above it, up to `top`, with where they lead. */
function linksAbove(path: string, top: string): ReadonlyMap<string, string> {
  const paths = foldersAbove(path).filter((at) => at.startsWith(`${top}${sep}`));
  return new Map(paths.filter((at) => entryAt(at)?.isSymbolicLink()).map((at) => [at, readlinkSync(at)]));
}

/** Links in a folder of a run, and in its folders of logs. */
function linksBelow(folder: string, depth = 2): readonly string[] {
  if (entryAt(folder)?.isDirectory() !== true) return [];
  const entries = entriesIn(folder).filter((entry) => !entry.isFile()); // logs: one more with each item
  return entries.map(({ name }) => join(folder, name)).flatMap((path) => {
    if (entryAt(path)?.isSymbolicLink() === true) return [path];
    return depth > 1 ? linksBelow(path, depth - 1) : [];
  });
}

function settlePath(
  path: string,
  before: ReadonlyMap<string, string>,
  { repositories, moved }: { readonly repositories: readonly WatchedRepository[]; readonly moved: Map<string, string> },
): readonly string[] {
  const top = topLevelOf(path, repositories);
  const own = repositories.find(({ topLevel }) => topLevel === top);
  if (own === undefined) return [];
  const inside = linksBelow(path).map((link) => [link, linkAt(link)] as const); // Ralph makes none there
  const fresh = [...linksAbove(path, top), ...inside].filter(([link, target]) => before.get(link) !== target);
  return fresh.toReversed().flatMap(([link, target]) => {
    const place = setAside(link, asideFolder(join(own.gitDirectory, "ralph")));
    if (place === null) return [];
    moved.set(link, place);
    return [`${relative(top, link).replaceAll("\\", "/")} (link to ${target})`];
  });
}
