/**
 * The remote that carries the code between machines. Only refs below `refs/ralph/` are ever pushed from here.
 *
 * @module
 */
import { gitFailed, outputFrom, reasonOf } from "../git/run_git.ts";
import type { Repository } from "../git/types.ts";
import { attemptRef, type JobResult, parseResult, type RemoteCommit } from "./job.ts";

/** A clone may be large, a line slow. */
const TIMEOUT_MS = 10 * 60_000;
const REMOTE = "origin";

type Git = Pick<Repository, "git">;

/** Fetches refs under their own names. @returns false where the remote has one of them not */
export async function fetchRefs(repository: Git, refs: readonly string[]): Promise<boolean> {
  const arguments_ = ["fetch", "--quiet", "--no-tags", REMOTE, ...refs.map((ref) => `+${ref}:${ref}`)];
  const end = await repository.git(arguments_, { timeoutMs: TIMEOUT_MS });
  if (end.exitCode === 0) return true;
  if (/couldn't find remote ref/i.test(end.stderr)) return false;
  throw gitFailed(arguments_, reasonOf({ ...end, tail: end.stderr }));
}

/**
 * Pushes a commit to a ref that only moves from where it is said to be.
 *
 * @param from `null`: the ref is new
 * @returns false where it is elsewhere: another process was first
 */
export async function pushRef(repository: Git, { ref, commit }: RemoteCommit, from: string | null): Promise<boolean> {
  const arguments_ = ["push", "--quiet", `--force-with-lease=${ref}:${from ?? ""}`, REMOTE, `${commit}:${ref}`];
  const end = await repository.git(arguments_, { timeoutMs: TIMEOUT_MS });
  if (end.exitCode === 0) return true;
  if (/stale info|fetch first|already exists|cannot lock ref|reference already/i.test(end.stderr)) return false;
  throw gitFailed(arguments_, reasonOf({ ...end, tail: end.stderr }));
}

/** Takes refs away from the remote; one that is gone is no matter. */
export async function removeRefs(repository: Git, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  // one that is gone already refuses the whole push of some hosts: only those that are there
  const { stdout } = await repository.git(["ls-remote", REMOTE, "refs/ralph/*"], { timeoutMs: TIMEOUT_MS });
  const there = new Set(stdout.split("\n").map((line) => line.split("\t")[1] ?? ""));
  const gone = refs.filter((ref) => there.has(ref)).map((ref) => `:${ref}`);
  if (gone.length > 0) await repository.git(["push", "--quiet", REMOTE, ...gone], { timeoutMs: TIMEOUT_MS });
}

/** The remote's URL; `null` where there is none. */
export async function remoteUrl(repository: Git): Promise<string | null> {
  const { exitCode, stdout } = await repository.git(["remote", "get-url", REMOTE]);
  return exitCode === 0 ? stdout.trim() : null;
}

/**
 * What a worker has pushed of an attempt, whether it lived to say so or not.
 *
 * @returns `null` where nothing was
 * @throws {RalphError} job-invalid, git-failed
 */
export async function pushedResult(repository: Git, id: string): Promise<JobResult | null> {
  const ref = attemptRef(id);
  if (!await fetchRefs(repository, [ref])) return null;
  const [commit = "", ...body] = (await outputFrom(repository, ["log", "-1", "--format=%H%n%b", ref])).split("\n");
  const result = parseResult(parseJson(body.join("\n")));
  return { ...result, commit: result.commit === null ? null : commit };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null; // named as what cannot be read
  }
}
