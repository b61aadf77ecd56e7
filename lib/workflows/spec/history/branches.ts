/** A commit as far as branches go. */
export interface GraphCommit {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly subject: string;
}

/** A branch and where it ends. */
export interface Tip {
  readonly name: string;
  readonly hash: string;
}

/** Names of branches that others start from and come back to, the likeliest first. */
const TRUNKS: readonly string[] = ["main", "master", "trunk", "develop", "development"];
const MERGED = [
  /^Merge (?:remote-tracking )?branch(?:es)? '(?:origin\/)?([^']+)'/,
  /^Merge pull request \S+ from [^/\s]+\/(\S+)/,
  /^Merge (?:branch )?(\S+) into \S+/,
];

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

  for (const tip of inOrder(tips, trunk)) name(tip.name, tip.hash);
  for (let at = 0; at < merges.length; at++) {
    const { hash, parents, subject } = merges[at] as GraphCommit;
    const from = MERGED.map((pattern) => pattern.exec(subject)?.[1]).find((found) => found !== undefined);
    for (const parent of parents.slice(1)) name(from ?? names.get(hash) ?? "", parent);
  }
  return names;
}

/** The branch that the others belong to: named so by its remote, or by custom, else the current one. */
export function trunkOf(tips: readonly Tip[], remote: string | null, current: string | null): string | null {
  const names = new Set(tips.map((tip) => tip.name));
  return [...(remote === null ? [] : [remote]), ...TRUNKS].find((one) => names.has(one)) ?? current ?? tips[0]?.name ??
    null;
}

function inOrder(tips: readonly Tip[], trunk: string | null): readonly Tip[] {
  return tips.toSorted((one, other) => Number(other.name === trunk) - Number(one.name === trunk));
}
