import { join, relative } from "node:path";
import type { Repository } from "../../../git/types.ts";
import type { Host } from "../../../host/types.ts";
import { refused } from "../refused.ts";
import { PLAN_FILE } from "../types.ts";
import { type Branches, readBranches } from "./read_branches.ts";
import { formerPaths, type HistoryOptions, readCommits, readVersions } from "./read_versions.ts";
import { readSince, type Since } from "./since.ts";
import type { Life, Moment, PlanCommit, TaskOutcome } from "./types.ts";
import { startWalk } from "./walk.ts";

/** Which tasks are told. */
export interface LogOptions {
  readonly root: string;
  readonly repository: Repository;
  readonly host: Host;
  /** All tasks ever, on all branches. @default the last 20 of the current one */
  readonly all?: boolean;
  readonly spec?: string | undefined;
  readonly branch?: string | undefined;
  /** A date as git reads it, or a commit. */
  readonly since?: string | undefined;
}

/** What `ralph log` prints. */
export interface PlanLog {
  readonly tasks: readonly LogEntry[];
}

/** A moment as it is printed. */
export interface LogMoment {
  readonly commit: string;
  readonly date: string;
}

/** One task's life. What did not happen is left out. */
export interface LogEntry {
  readonly id: string;
  /** Its name. */
  readonly desc: string;
  readonly spec: string;
  /** Where it was done, else where it was created; `null` where git does not tell. */
  readonly branch: string | null;
  /** E-mail of who did it, else of who created it. */
  readonly author: string;
  readonly outcome: TaskOutcome;
  readonly created: LogMoment;
  readonly done?: LogMoment;
  readonly accepted?: LogMoment;
  readonly cancelled?: LogMoment;
  readonly rejected: readonly (LogMoment & { readonly done_at: string; readonly reason: string })[];
  readonly readded: readonly LogMoment[];
}

const RECENT = 20;
const ALL: readonly string[] = ["--branches", "--remotes", "HEAD"];

/** What became of the plan's tasks, from git alone; the latest event last. @throws {RalphError} usage, git-failed */
export async function readLog(options: LogOptions): Promise<PlanLog> {
  const { repository, host } = options;
  const known = await readBranches(repository, (await headExists(repository)) ? ALL : ["--branches", "--remotes"]);
  const since = options.since === undefined ? null : await readSince(repository, options.since);
  const from = await startOf(options, known);
  if (from === null) return { tasks: [] };
  const lives = await readLives({ repository, host, from }, relative(repository.topLevel, join(options.root, PLAN_FILE)).replaceAll("\\", "/"));

  const isMeant = meant(options, known, since);
  const chosen = lives.filter(isMeant).toSorted((one, other) => compareMoments(one.last, other.last));
  const isWhole = options.all === true || options.spec !== undefined || options.branch !== undefined || since !== null;
  return { tasks: (isWhole ? chosen : chosen.slice(-RECENT)).map((life) => entryOf(life, known)) };
}

async function readLives(history: HistoryOptions, path: string): Promise<readonly Life[]> {
  const paths = [path];
  for (;;) {
    const former = await formerPaths(history, paths);
    if (former.length === 0) break;
    paths.push(...former);
  }
  const commits = await readCommits(history, paths);
  const walk = startWalk(commits);
  await readVersions(history, commits, paths, (version) => walk.take(version));
  return walk.lives();
}

async function headExists(repository: Repository): Promise<boolean> {
  return (await repository.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).exitCode === 0;
}

/** Where the reading starts. @returns `null` before the first commit */
async function startOf({ all, branch, repository }: LogOptions, { tips, names }: Branches): Promise<readonly string[] | null> {
  const hasHead = await headExists(repository);
  if (branch !== undefined) {
    const tip = tips.find(({ name }) => name === branch);
    if (tip !== undefined) return [tip.hash];
    if (![...names.values()].includes(branch)) {
      throw refused(`there is no branch ${branch}`, `branches: ${tips.map(({ name }) => name).join(", ") || "none"}`);
    }
    return ALL;
  }
  if (all === true) return hasHead ? ALL : tips.length > 0 ? ["--branches", "--remotes"] : null;
  return hasHead ? ["HEAD"] : null;
}

function meant({ spec, branch }: LogOptions, { names, parents }: Branches, since: Since | null): (life: Life) => boolean {
  const old = since?.kind === "commit" ? reachable(since.hash, parents) : new Set<string>();
  const isSince = ({ hash, committed }: PlanCommit): boolean => since === null || (since.kind === "date" ? committed >= since.seconds : !old.has(hash));
  return (life) =>
    (spec === undefined || life.spec === spec || life.spec.endsWith(`/${spec}`) || spec.endsWith(`/${life.spec}`)) &&
    (branch === undefined || momentsOf(life).some(({ commit }) => names.get(commit.hash) === branch)) &&
    (since === null || momentsOf(life).some(({ commit }) => isSince(commit)));
}

function reachable(start: string, parents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([start]);
  for (const hash of found) for (const parent of parents.get(hash) ?? []) found.add(parent);
  return found;
}

function momentsOf({ created, done, accepted, cancelled, rejected, readded, last }: Life): readonly Moment[] {
  return [created, done, accepted, cancelled, ...rejected, ...readded, last].filter((moment) => moment !== null);
}

function entryOf(life: Life, { names }: Branches): LogEntry {
  const { id, name, spec, outcome, created, done, accepted, cancelled } = life;
  const by = (done ?? created).commit;
  return {
    id,
    desc: name,
    spec,
    branch: names.get(by.hash) ?? null,
    author: by.author,
    outcome,
    created: shown(created),
    ...(done === null ? {} : { done: shown(done) }),
    ...(accepted === null ? {} : { accepted: shown(accepted) }),
    ...(cancelled === null ? {} : { cancelled: shown(cancelled) }),
    rejected: life.rejected.map((one) => ({ ...shown(one), done_at: one.doneAt, reason: one.reason })),
    readded: life.readded.map(shown),
  };
}

function shown({ commit: { short, date } }: Moment): LogMoment {
  return { commit: short, date };
}

function compareMoments(one: Moment, other: Moment): number {
  return one.commit.committed - other.commit.committed || one.order - other.order;
}
