import type { Repository } from "../../../git/repository.ts";

/** Names of branches that others start from and come back to, the likeliest first. */
const TRUNKS: readonly string[] = ["main", "master", "trunk", "develop", "development"];

const MERGED = [
  /^Merge (?:remote-tracking )?branch(?:es)? '(?:origin\/)?([^']+)'/,
  /^Merge pull request \S+ from [^/\s]+\/(\S+)/,
  /^Merge (?:branch )?(\S+) into \S+/,
];

/** The branches of a repository and the commits that were made on them. */
export interface Branches {
  readonly tips: readonly Tip[];
  /** Commit to branch. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads branches and the shape of the history, two git processes. */
export async function readBranches(repository: Repository, from: readonly string[]): Promise<Branches> {
  const [refs, log] = await Promise.all([
    repository.git([
      "for-each-ref",
      "--format=%(objectname) %(refname) %(symref) %(HEAD)",
      "refs/heads",
      "refs/remotes",
    ]),
    repository.git(["log", "-z", "--format=tformat:%H %P%x00%s", ...from], { timeoutMs: 600_000 }),
  ]);
  const { tips, remote, current } = readTips(refs.stdout);
  const fields = log.stdout.split("\0");
  const commits: GraphCommit[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [hash = "", ...parents] = (fields[at] ?? "").split(" ").filter(Boolean);
    commits.push({ hash, parents, subject: fields[at + 1] ?? "" });
  }
  return { tips, names: branchesOf(commits, tips, trunkOf(tips, remote, current)) };
}

/** Local branches, and remote ones that have no local one. */
function readTips(text: string) {
  const local: Tip[] = [];
  const distant: Tip[] = [];
  let remote: string | null = null;
  let current: string | null = null;
  for (const line of text.split("\n")) {
    const [hash = "", ref = "", symref = "", head = ""] = line.split(" ");
    const [, , name = ""] = /^refs\/(heads|remotes\/[^/]+)\/(.+)$/.exec(ref) ?? [];
    if (name === "") continue;
    if (ref.startsWith("refs/heads/")) {
      local.push({ name, hash });
      if (head === "*") current = name;
    } else if (name === "HEAD") remote = symref.split("/").slice(3).join("/") || null;
    else distant.push({ name, hash });
  }
  const known = new Set(local.map(({ name }) => name));
  return { tips: [...local, ...distant.filter(({ name }) => !known.has(name))], remote, current };
}

/** A commit as far as branches go. */
interface GraphCommit {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly subject: string;
}

/** A branch and where it ends. */
interface Tip {
  readonly name: string;
  readonly hash: string;
}

/**
 * On which branch each commit was made. Git does not record that; this is how people read it: a branch's own commits are
 * those on its first-parent line that no earlier branch has; a branch that is gone has its name in the commit that merged it.
 */
export function branchesOf(
  commits: readonly GraphCommit[],
  tips: readonly Tip[],
  trunk: string | null,
): ReadonlyMap<string, string> {
  const byHash = new Map(commits.map((commit) => [commit.hash, commit]));
  const names = new Map<string, string>();
  const merges: GraphCommit[] = [];

  function name(branch: string, start: string): void {
    for (let hash: string | undefined = start; hash !== undefined && !names.has(hash);) {
      const commit = byHash.get(hash);
      if (commit === undefined) return; // a shallow clone ends here
      names.set(hash, branch);
      if (commit.parents.length > 1) merges.push(commit);
      hash = commit.parents[0];
    }
  }

  const trunkFirst = tips.toSorted((one, other) => Number(other.name === trunk) - Number(one.name === trunk));
  for (const tip of trunkFirst) name(tip.name, tip.hash);
  for (let at = 0; at < merges.length; at++) {
    const { hash, parents, subject } = merges[at] as GraphCommit;
    const from = MERGED.map((pattern) => pattern.exec(subject)?.[1]).find((found) => found !== undefined);
    for (const parent of parents.slice(1)) name(from ?? names.get(hash) ?? "", parent);
  }
  return names;
}

/** The branch that the others belong to: named so by its remote, or by custom, else the current one. */
function trunkOf(tips: readonly Tip[], remote: string | null, current: string | null): string | null {
  const isThere = (one: string | null): boolean => tips.some(({ name }) => name === one);
  return [remote, ...TRUNKS].find(isThere) ?? current ?? tips[0]?.name ?? null;
}
