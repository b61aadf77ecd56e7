/**
 * One attempt as plain JSON, so that any machine can make it: what a job asks for, and what a worker hands back. The code
 * itself travels by git. No job carries a secret or a configuration: those are the worker's own.
 *
 * @module
 */
import { z } from "zod";
import { type Attempt, BACKLOG_VERSION } from "../backlog/types.ts";
import type { AttemptJob } from "../context/elsewhere.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { USAGE_SCHEMA } from "../events/schema.ts";
import type { OwnCommits } from "../git/repository.ts";
import { orElse } from "../host/looks.ts";

/**
 * One attempt at one item, for a worker anywhere. Its text is in the remote as well, in the commit that `jobRef()` names,
 * with the commits that it begins with as parents.
 */
export interface Job extends AttemptJob {
  readonly v: 1;
  /** Ralph's version where the job was made: a worker of another minor version refuses it. */
  readonly ralph: string;
  /** Version of the `Backlog` interface. */
  readonly backlogVersion: number;
  /** Which repository, as `repositoryName()` gives it: a worker takes only those that it was started for. */
  readonly repository: string;
  /** The project's folder in it, "" for its top level. */
  readonly project: string;
  /** `exec`, `spec` … */
  readonly workflow: string;
  /** Feature, file: as the backlog has it; "" where it has none. */
  readonly scope: string;
}

/** The result that a worker made of a job. */
export interface JobResult {
  readonly v: 1;
  readonly attempt: Attempt;
  /** Commit with all that the attempt changed, with the job's base as its parent; `null`: nothing was changed. */
  readonly commit: string | null;
  /** The commits that the turn made by itself. */
  readonly own: OwnCommits;
  /** Name of the worker. */
  readonly worker: string;
}

const hash = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, "must be the full hash of a commit");
/** As `<run>.<iteration>`: it becomes the name of a ref. */
const attemptId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]*\.\d+$/, "must be `<run>.<iteration>`");
const attempt = z.looseObject({ id: attemptId, number: z.int().positive(), status: z.string() });
const words = z.string();
const check = z.looseObject({
  name: words,
  scope: words,
  ok: z.boolean(),
  exitCode: z.int().nullable(),
  tail: words,
  durationMs: z.number().nonnegative(),
  usage: USAGE_SCHEMA.exactOptional(),
});
const checks = z.array(check);
/** The part of an attempt that the loop reads: it is made elsewhere, and nothing of it is taken on trust. */
const made = z.intersection(
  z.looseObject({
    id: attemptId,
    number: z.int().positive(),
    claim: z.discriminatedUnion("status", [
      z.looseObject({ status: z.literal("done") }),
      z.looseObject({ status: z.literal("not-done"), reason: words.exactOptional() }),
      z.looseObject({ status: z.enum(["failed", "blocked"]), reason: words }),
    ]).nullable(),
    turn: z.looseObject({
      end: z.looseObject({ reason: words }),
      usage: USAGE_SCHEMA,
      transcript: words,
      durationMs: z.number().nonnegative(),
      changedFiles: z.array(words),
      base: hash.nullable(),
      head: hash.nullable(),
    }).nullable(),
    verification: z.discriminatedUnion("status", [
      z.looseObject({ status: z.enum(["passed", "unverified", "aborted"]), results: checks }),
      z.looseObject({ status: z.literal("failed"), results: checks, failures: checks }),
    ]).nullable(),
    doubts: z.array(z.looseObject({ kind: words, message: words })).exactOptional(),
  }),
  z.discriminatedUnion("status", [
    z.looseObject({ status: z.enum(["verified", "unverified", "interrupted"]) }),
    z.looseObject({ status: z.enum(["not-done", "blocked", "agent-unusable"]), message: words }),
    z.looseObject({ status: z.literal("failed"), reason: words, message: words }),
    z.looseObject({ status: z.literal("trespassed"), paths: z.array(words), diff: words }),
  ]),
);
const item = z.looseObject({ id: z.string().min(1), kind: z.string(), title: z.string() });

const judging = z.strictObject({
  base: hash.nullable(),
  steps: z.array(z.strictObject({ from: hash, to: hash, globs: z.array(z.string()).optional() })),
  items: z.array(
    z.strictObject({ id: z.string(), text: z.string(), changed: z.array(z.string()), passed: hash.optional() }),
  ),
});

const JOB = z.strictObject({
  v: z.literal(1),
  ralph: z.string(),
  backlogVersion: z.int(),
  repository: z.string(),
  project: z.string().refine((path) => !path.startsWith("/") && !path.split(/[\\/]/).includes(".."), "must be inside"),
  workflow: z.string(),
  scope: z.string(),
  attempt: z.strictObject({ id: attemptId, number: z.int().positive() }),
  item,
  base: hash,
  left: hash.nullable(),
  previous: attempt.nullable(),
  last: attempt.nullable(),
  judging,
  failedBefore: z.array(z.string()),
  greenBefore: z.boolean().nullable(),
  unseenFailed: z.boolean(),
  told: z.string(),
  budget: z.strictObject({ endsAt: z.number(), words: z.string() }).nullable(),
});

const RESULT = z.strictObject({
  v: z.literal(1),
  attempt: made,
  commit: hash.nullable(),
  own: z.strictObject({ subjects: z.array(z.string()), trailers: z.array(z.string()) }),
  worker: z.string().min(1).max(200),
});

/**
 * Reads a job from another process. Pure.
 *
 * @param version of this Ralph
 * @throws {RalphError} job-invalid: what is wrong with which field; job-version: made by another Ralph
 */
export function parseJob(value: unknown, version: string): Job {
  const known = z.looseObject({ v: z.unknown(), ralph: z.string(), backlogVersion: z.int() }).safeParse(value);
  if (known.success) {
    const { v, ralph, backlogVersion } = known.data;
    if (v !== 1 || backlogVersion !== BACKLOG_VERSION || minor(ralph) !== minor(version)) {
      throw new RalphError("job-version", { details: { theirs: ralph, ours: version } });
    }
  }
  return parsed(JOB, value, "job") as unknown as Job;
}

/**
 * Reads a result from another process. Pure.
 *
 * @throws {RalphError} job-invalid
 */
export function parseResult(value: unknown): JobResult {
  return parsed(RESULT, value, "result") as unknown as JobResult;
}

/** The value as the schema has it. @throws {RalphError} job-invalid */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const problem = found.error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; ");
  throw new RalphError("job-invalid", { details: { what, problem } });
}

/** 0.2 of 0.2.3: what may differ between two machines is the last number. */
function minor(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** The run that a job is of. Pure. */
export function runOf({ attempt: { id } }: Pick<Job, "attempt">): string {
  return id.slice(0, id.lastIndexOf("."));
}

/** The ref that the coordinator pushes a job to, with what it begins with: made once, never moved. Pure. */
export function jobRef(id: string): string {
  return `refs/ralph/jobs/${id}`;
}

/** The ref that a worker pushes its attempt to: made once, never moved. Pure. */
export function attemptRef(id: string): string {
  return `refs/ralph/attempts/${id}`;
}

/** The attempt's id in an id, or in a ref of it; `null`: it is neither. Pure. */
export function attemptIdIn(text: string): string | null {
  const id = text.replace(/^refs\/ralph\/(?:jobs|attempts)\//, "");
  return attemptId.safeParse(id).success ? id : null;
}

/**
 * A repository's name, the same on every machine: host and path of its URL, without user, password, scheme and `.git`:
 * `git@git.example.com:a/b.git` and `https://git.example.com/a/b` are one. Pure.
 */
export function repositoryName(url: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(url);
  const found = scp === null && URL.canParse(url) ? new URL(url) : null;
  const path = found?.pathname ?? "";
  const name = found === null ? url : `${found.host}${orElse(() => decodeURIComponent(path), path)}`;
  const plain = scp === null ? name : `${scp[1]}/${scp[2]}`;
  return plain.replace(/\/+$/, "").replace(/\.git$/, "").replace(/^([^/]+)/, (host) => host.toLowerCase())
    .replaceAll(/\/{2,}/g, "/");
}
