import { dirname, join } from "node:path";
import { type Git, outputOfGit } from "../../git/run_git.ts";
import { type ListedEntry, treeListing } from "../../git/tree_listing.ts";
import { copyPath, ensureDirectory, isDirectory, pathExists, removeOwn, removePath } from "../../host/files.ts";
import { changedAt } from "../../host/path_facts.ts";
import { type Seal, sealDifferences, sealOf } from "../../host/seal.ts";
import type { Host } from "../../host/types.ts";
import { cleanGit } from "./clean_git.ts";
import type { CheckoutHome } from "./home.ts";
import { specialEntries } from "./index_entries.ts";
import { type GitSettings, writeHome, writeSettings } from "./settings.ts";

/** The commit that a clone is brought up to. `branch`: a full ref, `null` for a detached HEAD. */
export interface CloneTarget {
  readonly commit: string;
  readonly branch: string | null;
}

/** The clone of one run: its git directory is believed only while nothing else has touched it. */
export interface Clone {
  readonly git: Git;
  /**
   * @param submodules paths that are filled; `null`: all
   * @returns what the commit holds
   * @throws {RalphError} git-failed
   */
  bringUp(target: CloneTarget, submodules: ReadonlySet<string> | null): Promise<readonly ListedEntry[]>;
  /** Files that something has written since, also where their content is the same. */
  touched(): Promise<readonly string[]>;
}

const SPACES = ["heads", "tags", "remotes"].map((space) => `+refs/${space}/*:refs/${space}/*`);

/** A file's entry in the index: git itself compares seconds only, and a check is over in less. */
const ENTRY_REGEXP =
  /([^\0]+)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: [^\n]*\n {2}dev: [^\n]*\n {2}uid: [^\n]*\n {2}size: [^\n]*\n/g;

const FETCH = ("fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head --no-auto-maintenance " +
  "--update-head-ok --update-shallow --prune").split(" ");

/** Makes the clone of a run; nothing is fetched yet. */
export function createClone(host: Host, topLevel: string, home: CheckoutHome, settings: GitSettings): Clone {
  const { tree } = home;
  const git = cleanGit(host, tree, home.path);
  const gitDirectory = join(tree, ".git");
  const index = join(home.path, "index");
  const environment = { GIT_INDEX_FILE: index };
  const sealNow = (): Seal => sealBoth(gitDirectory, index);
  let sealed: Seal | null = null;
  let onBranch: string | null = null;

  async function initialize(directory: string): Promise<void> {
    await removeOwn(directory, home.path);
    await ensureDirectory(directory);
    const inside = cleanGit(host, directory, home.path);
    await outputOfGit(inside, ["init", "--quiet", "--template=", `--object-format=${settings.objects}`]);
  }

  /**
   * By `file://` git computes the name of each object that it receives; a local clone believes the names of files.
   * Named ref spaces only: `refs/replace` would come along otherwise.
   */
  async function fetch({ commit, branch }: CloneTarget): Promise<void> {
    await writeSettings(gitDirectory, settings, { kind: "bare" });
    const [wanted, refs] = settings.partial ? [["--depth=1"], []] : [[], SPACES];
    await outputOfGit(git, [...FETCH, ...wanted, `file://${topLevel}`, commit, ...refs]);
    if (branch !== null && branch !== onBranch) await outputOfGit(git, ["symbolic-ref", "HEAD", branch]);
    onBranch = branch;
    await outputOfGit(git, ["update-ref", ...(branch === null ? ["--no-deref"] : []), "HEAD", commit]);
  }

  /** Out of the repository's own copy of the submodule; where that is not filled, it is not filled here. */
  async function fill(path: string, commit: string): Promise<void> {
    const [from, to] = [join(topLevel, path), join(tree, path)];
    if (!await pathExists(join(from, ".git"))) return;
    await initialize(to);
    const inside = cleanGit(host, to, home.path);
    await outputOfGit(inside, [...FETCH, `file://${from}`, commit]);
    await outputOfGit(inside, ["checkout", "--quiet", "--detach", commit]);
    const { submodules } = specialEntries(await treeListing(inside, commit));
    for (const nested of submodules) await fill(`${path}/${nested.path}`, nested.commit);
  }

  return {
    git,
    async bringUp(target, submodules) {
      if (sealed === null || sealDifferences(sealed, sealNow()).length > 0 || !await isDirectory(gitDirectory)) {
        await removeOwn(dirname(tree), home.path);
        await removePath(index);
        await initialize(tree);
        onBranch = null;
      }
      sealed = null;
      await writeHome(home.path, settings);
      await fetch(target);
      await writeSettings(gitDirectory, settings, { kind: "writing", from: topLevel });
      await outputOfGit(git, ["read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"], { environment });
      await outputOfGit(git, ["clean", "-ffdxq"], { environment });
      const entries = await treeListing(git, target.commit);
      for (const { path, commit } of specialEntries(entries).submodules) {
        if (submodules === null || submodules.has(path)) await fill(path, commit);
      }
      await writeSettings(gitDirectory, settings, { kind: "all" });
      await copyPath(index, join(gitDirectory, "index"));
      sealed = sealNow();
      return entries;
    },
    touched: async () => sealed === null ? [] : await touchedIn(git, tree, environment),
  };
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
