import type { Host } from "../../../host/types.ts";
import { createBatchReader } from "../../../git/batch_reader.ts";
import { createGit, gitFailed, outputOfGit } from "../../../git/run_git.ts";
import type { Repository } from "../../../git/types.ts";
import type { PlanCommit, PlanVersion } from "./types.ts";

/** Fields of one commit, each ended by a NUL: no author or subject can hold one. */
const FORMAT = ["%H", "%h", "%P", "%aI", "%ct", "%ae"].join("%x00");
const FIELDS = 6;
const LONGEST_MS = 600_000;

/** The starting points of the reading. */
export interface HistoryOptions {
  readonly repository: Repository;
  readonly host: Host;
  /** Git's names for them: `HEAD`, or `--branches --remotes HEAD`. */
  readonly from: readonly string[];
}

/** The commits that matter to these paths, parents before children, their parents the nearest that matter. */
export async function readCommits(
  { repository, from }: HistoryOptions,
  paths: readonly string[],
): Promise<readonly PlanCommit[]> {
  const { exitCode, stdout, stderr } = await repository.git([
    "log",
    "--topo-order",
    "--reverse",
    "--full-history",
    "--simplify-merges",
    "--parents",
    "-z",
    `--format=tformat:${FORMAT}`,
    ...from,
    "--",
    ...paths,
  ], { timeoutMs: LONGEST_MS });
  if (exitCode !== 0) {
    if (
      /does not have any commits yet|bad default revision|ambiguous argument 'HEAD'|bad revision 'HEAD'/.test(stderr)
    ) return [];
    throw gitFailed(["log"], stderr);
  }
  const fields = stdout.split("\0");
  const commits: PlanCommit[] = [];
  for (let at = 0; at + FIELDS <= fields.length; at += FIELDS) {
    const [hash = "", short = "", parents = "", date = "", committed = "", author = ""] = fields.slice(at, at + FIELDS);
    commits.push({
      hash,
      short,
      parents: parents.split(" ").filter(Boolean),
      date,
      committed: Number(committed),
      author,
    });
  }
  return commits;
}

/** Former paths of the file: what these commits, which brought it, renamed. */
export async function formerPaths(
  { repository }: HistoryOptions,
  commits: readonly string[],
  paths: readonly string[],
): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const arguments_ = [
    "diff-tree",
    "--stdin",
    "-r",
    "-M40%",
    "--diff-filter=R",
    "--name-status",
    "-z",
    "--no-commit-id",
  ];
  const { stdout } = await repository.git(arguments_, { input: `${commits.join("\n")}\n`, timeoutMs: LONGEST_MS });
  const fields = stdout.split("\0");
  const found = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at++) {
    if (!/^R\d+$/.test(fields[at] ?? "")) continue;
    const [old = "", now = ""] = fields.slice(at + 1, at + 3);
    if (paths.includes(now) && !paths.includes(old)) found.add(old);
    at += 2;
  }
  return [...found];
}

/** Hands over the plan of each commit in their order, read by one git process, one version in memory at a time. */
export async function readVersions(
  { repository, host }: HistoryOptions,
  commits: readonly PlanCommit[],
  paths: readonly string[],
  take: (version: PlanVersion) => void,
): Promise<void> {
  let at = 0;
  let content: Buffer | null = null;
  const onOutput = createBatchReader((blob) => {
    content ??= blob; // the newest path that is there
    at += 1;
    if (at % paths.length > 0) return;
    take({ ...commits[at / paths.length - 1] as PlanCommit, content: content ?? Buffer.alloc(0) });
    content = null;
  });
  const requests = commits.flatMap(({ hash }) => paths.map((path) => `${hash}:${path}\n`));
  const arguments_ = ["cat-file", "--batch"];
  const hint = "`git fsck` checks the repository";
  const input = requests.join("");
  await outputOfGit(createGit(host, repository.topLevel), arguments_, { input, timeoutMs: LONGEST_MS, onOutput, hint });
  if (at !== requests.length) throw gitFailed(arguments_, `${at} of ${requests.length} versions were read`, hint);
}
