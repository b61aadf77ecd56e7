/**
 * The remote that carries jobs, results and code between machines. Everything that is pushed from here is below
 * `refs/ralph/`, but for the branch of `ralph job`.
 *
 * @module
 */
import { note, type RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { jsonIn, words } from "../host/data.ts";
import { ownCommit } from "../git/refs.ts";
import { gitFailed, lineFrom, outputFrom, reasonOf } from "../git/run_git.ts";
import type { WithGit } from "../git/repository.ts";
import { hashText } from "../host/files.ts";
import { attemptRef, type Job, jobRef, type JobResult, parseJob, parseResult } from "./job.ts";

/** A clone may be large, a line slow. */
const TIMEOUT_MS = 10 * 60_000;
const REMOTE = "origin";

/** Between tries to reach the remote. */
const PAUSES_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];

/** Tries again while git fails: a line that is down for a moment does not end a night's run. @throws {RalphError} git-failed */
export async function patiently<T>(
  ralph: RalphContext,
  act: () => Promise<T>,
  { pauses = PAUSES_MS, signal = ralph.signal }: {
    readonly pauses?: readonly number[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<T> {
  for (const pause of pauses) {
    try {
      return await act();
    } catch (error) {
      if (!RalphError.isInstance(error) || error.code !== "git-failed") throw error;
      note(ralph, "warn", `${error.message}: tried again`);
      await ralph.host.clock.sleep(pause, signal);
    }
  }
  return await act();
}

/** Git looks after each fetch whether it is time to pack, in two more processes: `tidy()` does so after many. */
const NO_HOUSEKEEPING: readonly string[] = ["-c", "maintenance.auto=false", "-c", "gc.auto=0"];

/** Packs what many fetches have left, where it is time to. */
export async function tidy(repository: WithGit): Promise<void> {
  await repository.git(["maintenance", "run", "--auto", "--quiet"], { timeoutMs: TIMEOUT_MS });
}

/** Fetches refs under their own names. @returns false where the remote has one of them not */
export async function fetchRefs(repository: WithGit, refs: readonly string[]): Promise<boolean> {
  if (refs.length === 0) return true;
  const specs = refs.map((ref) => `+${ref}:${ref}`);
  const arguments_ = [...NO_HOUSEKEEPING, "fetch", "--quiet", "--no-tags", REMOTE, ...specs];
  const end = await repository.git(arguments_, { timeoutMs: TIMEOUT_MS });
  if (end.exitCode === 0) return true;
  if (/couldn't find remote ref/i.test(end.stderr)) return false;
  throw gitFailed(arguments_, reasonOf({ ...end, tail: end.stderr }));
}

/** The change of one ref of the remote. */
export interface RefUpdate {
  readonly ref: string;
  /** `null`: it is removed. */
  readonly commit: string | null;
  /** The commit that it is at now; `null`: it is new. Absent: wherever that is, as long as it only moves forward. */
  readonly from?: string | null;
}

/**
 * Moves refs of the remote (`origin` where none is named), all or none of them; `single`: each by itself, for hosts and calls that need no more.
 *
 * @returns `null`, or what the remote said where one of them is elsewhere: another process was first
 */
export async function pushRefs(
  repository: WithGit & { readonly remote?: string },
  updates: readonly RefUpdate[],
  mode: "all" | "single" = "all",
): Promise<string | null> {
  if (updates.length === 0) return null;
  const leases = updates.flatMap(({ ref, from }) =>
    from === undefined ? [] : [`--force-with-lease=${ref}:${from ?? ""}`]
  );
  const specs = updates.map(({ ref, commit }) => `${commit ?? ""}:${ref}`);
  const atomic = updates.length > 1 && mode === "all" ? ["--atomic"] : [];
  const arguments_ = ["push", "--quiet", ...atomic, ...leases, repository.remote ?? REMOTE, ...specs];
  const end = await repository.git(arguments_, { timeoutMs: TIMEOUT_MS });
  if (end.exitCode === 0) return null;
  const lost = /stale info|fetch first|non-fast-forward|already exists|cannot lock ref|reference already/i;
  const lines = end.stderr.split("\n");
  const line = lines.find((one) => lost.test(one));
  if (line !== undefined) return line.trim();
  const said = lines.filter((one) => /^remote: \S|remote rejected/.test(one)).map((one) => one.trim());
  throw gitFailed(["push"], said.length > 0 ? said.slice(0, 5).join("; ") : reasonOf({ ...end, tail: end.stderr }));
}

/** Pushes new refs in one call. @returns of each `null`, or what `pushRefs()` says */
export async function pushEach(
  repository: WithGit,
  updates: readonly RefUpdate[],
): Promise<readonly (string | null)[]> {
  return await each(updates, (some) => pushRefs(repository, some, "single"), null);
}

/** Fetches refs in one call. @returns of each whether the remote has it */
export async function fetchEach(repository: WithGit, refs: readonly string[]): Promise<readonly boolean[]> {
  return await each(refs, (some) => fetchRefs(repository, some), true);
}

/** All in one call; where that does not come out well, one after the other shows which of them it was. */
async function each<Ask, Answer>(asks: readonly Ask[], act: (asks: readonly Ask[]) => Promise<Answer>, good: Answer) {
  const answer = await act(asks);
  if (answer === good || asks.length === 1) return asks.map(() => answer);
  const answers: Answer[] = [];
  for (const ask of asks) answers.push(await act([ask]));
  return answers;
}

/** The refs of the remote that match, with their commits. */
export async function remoteRefs(
  repository: WithGit,
  patterns: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const stdout = await outputFrom(repository, ["ls-remote", REMOTE, ...patterns], { timeoutMs: TIMEOUT_MS });
  const lines = stdout.split("\n").filter((line) => line !== "").map((line) => line.split("\t") as [string, string]);
  return new Map(lines.map(([commit, ref]) => [ref, commit]));
}

/** Takes refs away from the remote; one that is gone is no matter. */
export async function removeRefs(repository: WithGit, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  // one that is gone already refuses the whole push of some hosts: only those that are there
  const there = await remoteRefs(repository, ["refs/ralph/jobs/*", "refs/ralph/attempts/*"]);
  const gone = refs.filter((ref) => there.has(ref)).map((ref) => `:${ref}`);
  if (gone.length > 0) await outputFrom(repository, ["push", "--quiet", REMOTE, ...gone], { timeoutMs: TIMEOUT_MS });
}

/** Lets go of refs here. */
export async function dropRefs(repository: WithGit, refs: readonly string[]): Promise<void> {
  const input = refs.map((ref) => `delete ${ref}\n`).join("");
  if (input !== "") await repository.git(["update-ref", "--stdin"], { input });
}

/** The commit that the newest job of a worker's clone began at. */
const SEEN = "refs/ralph/seen";

/**
 * Lets go of a job that is done, whose result the remote has: each call of git reads all refs that there are. One ref stays,
 * by which the next fetch knows what is here already: without it each would bring the whole history since the clone was made.
 */
export async function dropJob(repository: WithGit, { attempt: { id }, base }: Job): Promise<void> {
  const input = `update ${SEEN} ${base}\ndelete ${jobRef(id)}\ndelete ${attemptRef(id)}\n`;
  await repository.git(["update-ref", "--stdin"], { input });
}

/** The remote's URL; `null` where there is none. */
export async function remoteUrl(repository: WithGit): Promise<string | null> {
  const { exitCode, stdout } = await repository.git(["remote", "get-url", REMOTE]);
  return exitCode === 0 ? stdout.trim() : null;
}

/** A commit whose message holds data, so that the ref alone is enough. @returns its hash; no ref names it yet */
export async function commitData(
  repository: WithGit,
  tree: string,
  parents: readonly string[],
  { subject, data }: { readonly subject: string; readonly data: unknown },
): Promise<string> {
  return await ownCommit(repository, tree, { parents, message: `${subject}\n\n${JSON.stringify(data)}\n` });
}

/** Reads a commit that was made so; `data` is `null` where its message holds none. */
export async function readData(
  repository: WithGit,
  ref: string,
): Promise<{ readonly commit: string; readonly parents: readonly string[]; readonly data: unknown }> {
  const found = await outputFrom(repository, ["log", "-1", "--format=%H%n%P%n%b", ref]);
  const [commit = "", parents = "", ...body] = found.split("\n");
  return { commit, parents: hashesIn(parents), data: jsonIn(body.join("\n")) };
}

function hashesIn(text: string): readonly string[] {
  return text.split(" ").filter((hash) => hash !== "");
}

/** Items of the judging history in one file of a job's tree: those that are full are the same in the next job. */
const ITEMS_A_FILE = 100;

/**
 * A job as a queue and a file have it: without the items that were attempted before it, which grow with the run. The
 * tree of the job's commit holds them. Pure.
 */
export function lightJob(job: Job): Job {
  return { ...job, judging: { ...job.judging, items: [] } };
}

/** Makes commits that hold jobs. */
export function createJobCommits(repository: WithGit): (job: Job) => Promise<string> {
  const blobs = new Map<string, string>();
  return async (job) => {
    const { items } = job.judging;
    const lines: string[] = [];
    for (let from = 0; from < items.length; from += ITEMS_A_FILE) {
      const input = JSON.stringify(items.slice(from, from + ITEMS_A_FILE));
      const text = hashText(input);
      const known = blobs.get(text);
      const blob = known ?? await lineFrom(repository, ["hash-object", "-w", "--stdin"], { input });
      blobs.set(text, blob);
      lines.push(`100644 blob ${blob}\t${String(from).padStart(9, "0")}.json\n`);
    }
    const tree = await lineFrom(repository, ["mktree"], { input: lines.join("") });
    const parents = job.left === null || job.left === job.base ? [job.base] : [job.base, job.left];
    const subject = `ralph: job ${job.attempt.id}`;
    return await commitData(repository, tree, parents, { subject, data: lightJob(job) });
  };
}

/** A job as the remote or this clone has it. */
export interface PushedJob {
  readonly job: Job;
  readonly commit: string;
  /** The commits that it begins with. */
  readonly parents: readonly string[];
}

/** The job that a commit here holds. @throws {RalphError} job-invalid, job-version, git-failed */
export async function readJob(repository: WithGit, ref: string, version: string): Promise<PushedJob> {
  const { data, commit, parents } = await readData(repository, ref);
  const job = parseJob(data, version);
  const items = await itemsOf(repository, commit);
  const whole = items.length === 0 ? job : parseJob({ ...job, judging: { ...job.judging, items } }, version);
  return { job: whole, commit, parents };
}

/** The items of files that are full, by the hashes of these: the next job has the same ones. */
const FULL_FILES = new Map<string, readonly unknown[]>();

async function itemsOf(repository: WithGit, ref: string): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for (const line of (await outputFrom(repository, ["ls-tree", ref])).split("\n")) {
    const hash = /^\d+ blob ([0-9a-f]+)\t/.exec(line)?.[1];
    if (hash === undefined) continue;
    const known = FULL_FILES.get(hash);
    const read = known ?? [jsonIn(await outputFrom(repository, ["cat-file", "blob", hash]))].flat();
    if (read.length === ITEMS_A_FILE) FULL_FILES.set(hash, read);
    items.push(...read);
  }
  return items;
}

/**
 * The job as the remote has it, with the commits that it begins with.
 *
 * @returns `null` where it has none
 * @throws {RalphError} job-invalid, job-version, git-failed
 */
export async function pushedJob(repository: WithGit, id: string, version: string): Promise<PushedJob | null> {
  const ref = jobRef(id);
  return await fetchRefs(repository, [ref]) ? await readJob(repository, ref, version) : null;
}

/**
 * The result that a worker has pushed of an attempt, even if it died before it said so.
 *
 * @returns `null` where nothing was
 * @throws {RalphError} job-invalid, git-failed
 */
export async function pushedResult(repository: WithGit, id: string): Promise<PushedResult | null> {
  return await fetchRefs(repository, [attemptRef(id)]) ? await readResult(repository, id) : null;
}

/** A result as the remote or this clone has it. */
export interface PushedResult {
  readonly result: JobResult;
  readonly parents: readonly string[];
  /** The paths that its commit changes, if that has one parent: relative to the top level. */
  readonly paths: readonly string[];
}

/** Message, parents and changed paths of a commit by one process, whatever the configuration says of logs. */
const SHOW: readonly string[] = words("diff-tree -r -z --name-only --no-renames --always --format=%H%x00%P%x00%b");

/** The same of one that was fetched. @throws {RalphError} job-invalid, git-failed */
export async function readResult(repository: WithGit, id: string): Promise<PushedResult> {
  const found = (await outputFrom(repository, [...SHOW, attemptRef(id)])).split("\0");
  const [commit = "", parents = "", body = "", ...paths] = found;
  const result = parseResult(jsonIn(body));
  return {
    result: { ...result, commit: result.commit === null ? null : commit },
    parents: hashesIn(parents),
    paths: paths.map((path, at) => at === 0 ? path.replace(/^\n/, "") : path).filter((path) => path !== ""),
  };
}
