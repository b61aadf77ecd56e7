import type { Repository } from "../../../git/types.ts";
import { branchesOf, type GraphCommit, type Tip, trunkOf } from "./branches.ts";

/** The branches of a repository and the commits that were made on them. */
export interface Branches {
  readonly tips: readonly Tip[];
  /** Commit to branch. */
  readonly names: ReadonlyMap<string, string>;
  /** Every commit's parents. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
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
  return {
    tips,
    names: branchesOf(commits, tips, trunkOf(tips, remote, current)),
    parents: new Map(commits.map(({ hash, parents }) => [hash, parents])),
  };
}

/** Local branches, and remote ones that have no local one. */
function readTips(
  text: string,
): { readonly tips: readonly Tip[]; readonly remote: string | null; readonly current: string | null } {
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
