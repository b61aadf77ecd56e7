import { gitFailed } from "../../../git/run_git.ts";
import type { Repository } from "../../../git/repository.ts";
import { type Life, type PlanCommit, walked } from "./walk.ts";

/** Fields of one commit, each ended by a NUL: no author or subject can hold one. */
const FIELDS = ["%H", "%h", "%P", "%aI", "%ct", "%ae"];
const FORMAT = `--format=tformat:${FIELDS.join("%x00")}`;
const LONGEST_MS = 600_000;

/**
 * The lives of the tasks in a plan, the history read from these starting points (`HEAD`, or `--branches --remotes HEAD`);
 * again from the start where the file turns out to have had another name before.
 */
export async function readLives(
  repository: Repository,
  path: string,
  from: readonly string[],
): Promise<readonly Life[]> {
  const paths = [path];
  for (;;) {
    const commits = await readCommits(repository, from, paths);
    const { appeared, lives } = walked(commits, await readChanges(repository, commits, paths));
    const former = await formerPaths(repository, appeared, paths);
    if (former.length === 0) return lives;
    paths.push(...former);
  }
}

/** The commits that matter to these paths, parents before children, their parents the nearest that matter. */
async function readCommits({ git }: Repository, from: readonly string[], paths: readonly string[]) {
  const order = ["--topo-order", "--reverse", "--full-history", "--simplify-merges", "--parents"];
  const { exitCode, stdout, stderr } = await git(["log", ...order, "-z", FORMAT, ...from, "--", ...paths], {
    timeoutMs: LONGEST_MS,
  });
  if (/does not have any commits yet|bad default revision|(?:argument|revision) 'HEAD'/.test(stderr)) return [];
  if (exitCode !== 0) throw gitFailed(["log"], stderr);
  const fields = stdout.split("\0");
  const commits: PlanCommit[] = [];
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length) {
    const one = fields.slice(at, at + FIELDS.length);
    const [hash = "", short = "", parents = "", date = "", committed, author = ""] = one;
    const before = parents.split(" ").filter(Boolean);
    commits.push({ hash, short, parents: before, date, committed: Number(committed), author });
  }
  return commits;
}

/** The lines that each commit took away from the plan (`-…`) and added to it (`+…`), against its first parent. */
async function readChanges({ git }: Repository, commits: readonly PlanCommit[], paths: readonly string[]) {
  const arguments_ = ["diff-tree", "--stdin", "--root", "-m", "-r", "-p", "-U0", "--text", "--no-ext-diff"];
  const input = commits.map(({ hash, parents: [first = ""] }) => `${hash} ${first}`.trimEnd() + "\n").join("");
  const { exitCode, stdout, stderr } = await git([...arguments_, "--no-textconv", "--", ...paths], {
    input,
    timeoutMs: LONGEST_MS,
  });
  if (exitCode !== 0) throw gitFailed(["diff-tree"], stderr, "`git fsck` checks the repository");
  const changes = new Map<string, readonly string[]>();
  for (const part of stdout.split(/^(?=[0-9a-f]{40,64}$)/m)) {
    const [hash = "", ...lines] = part.split("\n");
    // a merge that brought the file is compared with each of its parents
    if (!changes.has(hash)) changes.set(hash, lines.filter((line) => /^[+-](?!\+\+ |-- )/.test(line)));
  }
  return changes;
}

/** Former paths of the file: what these commits, which brought it, renamed. */
async function formerPaths({ git }: Repository, commits: readonly string[], paths: readonly string[]) {
  if (commits.length === 0) return [];
  const renames = ["-M40%", "--diff-filter=R", "--name-status", "-z", "--no-commit-id"];
  const { stdout } = await git(["diff-tree", "--stdin", "-r", ...renames], {
    input: `${commits.join("\n")}\n`,
    timeoutMs: LONGEST_MS,
  });
  const found = [...stdout.matchAll(/R\d+\0([^\0]*)\0([^\0]*)\0/g)].flatMap(([, old = "", now = ""]) =>
    paths.includes(now) && !paths.includes(old) ? [old] : []
  );
  return [...new Set(found)];
}
