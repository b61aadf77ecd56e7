import { RalphError } from "../errors/ralph_error.ts";
import type { Redactor } from "../events/redact.ts";
import { openRepository } from "../git/open_repository.ts";
import type { Repository } from "../git/repository.ts";
import type { Host } from "../host/types.ts";
import type { CommitReport, Draft, RunReport } from "./types.ts";

/** More commits than these, made by others while a run lasted, are not looked for. */
const OTHERS_KEPT = 500;
const FORMAT = "--format=%x1e%H%x1f%ct%x1f%s";
const HASH_REGEXP = /^[0-9a-f]{7,64}$/;

/** A commit as git has it. */
interface Known {
  readonly commit: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly subject: string;
  readonly filesChanged: number | null;
}

/**
 * Adds what git knows: the files of each commit that the events name, and the commits that the agent (or another person)
 * made meanwhile. Without a repository, or without git, the report has what the events say.
 */
export async function addCommits(
  draft: Draft<RunReport>,
  folder: string,
  { host, redactor }: { readonly host: Host; readonly redactor: Redactor },
): Promise<void> {
  const repository = await repositoryOf(host, folder);
  if (repository === null) return;
  const own = commitsOf(draft).filter(({ commit }) => HASH_REGEXP.test(commit));
  const known = new Map<string, Known>();
  for (const one of await readKnown(repository, own.map(({ commit }) => commit))) known.set(one.commit, one);
  for (const commit of own) commit.filesChanged = known.get(commit.commit)?.filesChanged ?? null;
  const others = (await madeMeanwhile(repository, draft, [...known.keys()].at(-1)))
    .filter(({ commit }) => !known.has(commit));
  for (const { commit, filesChanged, subject, time } of others.toReversed()) {
    const list = attemptAt(draft, time)?.commits ?? draft.commits;
    list.unshift({ commit, subject: redactor.text(subject), filesChanged, by: "other" }); // before Ralph's, which end an attempt
  }
}

/** The repository that a folder is in; `null` without one, and where git cannot be asked. */
export async function repositoryOf(host: Host, folder: string): Promise<Repository | null> {
  try {
    return await openRepository(host, folder);
  } catch (error) {
    if (RalphError.isInstance(error)) return null;
    throw error;
  }
}

function commitsOf({ commits, items }: Draft<RunReport>): readonly Draft<CommitReport>[] {
  return [...commits, ...items.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.commits))];
}

async function readKnown(repository: Repository, hashes: readonly string[]): Promise<readonly Known[]> {
  if (hashes.length === 0) return [];
  const arguments_ = ["log", "--stdin", "--no-walk=unsorted", "--ignore-missing", "--shortstat", FORMAT];
  const { exitCode, stdout } = await repository.git(arguments_, { input: `${hashes.join("\n")}\n` });
  return exitCode === 0 ? parse(stdout) : [];
}

/**
 * After the commit that the run began on, on the current branch and on the one that the run left: it may have been
 * another. Git's clock has seconds: what was committed in the run's last one may have come after it.
 */
async function madeMeanwhile(
  repository: Repository,
  { startedAt, endedAt, base }: Draft<RunReport>,
  last: string | undefined,
): Promise<readonly Known[]> {
  if (startedAt === null || endedAt === null || base === null || !HASH_REGEXP.test(base)) return [];
  const [from, to] = [secondsOf(startedAt), secondsOf(endedAt)];
  const range = [`--since=@${from - 1}`, `--until=@${to + 1}`, `--max-count=${OTHERS_KEPT}`];
  const tips = ["HEAD", ...last === undefined ? [] : [last], `^${base}`];
  const { exitCode, stdout } = await repository.git(["log", "--shortstat", "--reverse", FORMAT, ...range, ...tips]);
  return exitCode === 0 ? parse(stdout).filter(({ time }) => time >= from && time <= to) : [];
}

function attemptAt({ items }: Draft<RunReport>, time: number): { readonly commits: Draft<CommitReport>[] } | undefined {
  return items.flatMap(({ attempts }) => attempts).find(({ startedAt, durationMs }) => {
    const started = secondsOf(startedAt);
    const ended = durationMs === null ? Infinity : Math.floor((Date.parse(startedAt) + durationMs) / 1000);
    return time >= started && time <= ended;
  });
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

function parse(output: string): readonly Known[] {
  return output.split("\u001e").slice(1).map((record) => {
    const [commit = "", time = "", rest = ""] = record.split("\u001f");
    const [subject = "", ...stat] = rest.split("\n");
    const files = /(\d+) files? changed/.exec(stat.join("\n"))?.[1];
    return { commit, time: Number(time), subject, filesChanged: files === undefined ? null : Number(files) };
  });
}
