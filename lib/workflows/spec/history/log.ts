import { type Repository, topLevelPaths } from "../../../git/repository.ts";
import { usage } from "../../../cli/command.ts";
import { PLAN_FILE } from "../types.ts";
import { type Branches, readBranches } from "./read_branches.ts";
import { readLives } from "./read_history.ts";
import type { Life, Moment, PlanCommit, TaskOutcome } from "./walk.ts";

/** Words that git takes for a date; anything else without a digit it takes for now, silently. */
const WORDS = [
  "ago|yesterday|today|noon|midnight|tea|now|never|last",
  "mon|tue|wed|thu|fri|sat|sun",
  "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
];
const WORDS_REGEXP = new RegExp(`\\b(?:${WORDS.join("|")})`, "i");

const NUMBERS_REGEXP = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\d{9,}$|^@\d+$|\d{1,2}:\d{2}/;

/** Which tasks are shown. */
export interface LogOptions {
  readonly root: string;
  readonly repository: Repository;
  /** All tasks ever, on all branches. @default the last 20 of the current one */
  readonly all?: boolean;
  readonly spec?: string | undefined;
  readonly branch?: string | undefined;
  /** A date as git reads it, or a commit. */
  readonly since?: string | undefined;
}

/** A moment as it is printed. */
export interface LogMoment {
  readonly commit: string;
  readonly date: string;
}

/** One task's life. Ralph leaves out events that did not happen. */
export interface LogEntry {
  readonly id: string;
  /** Its name. */
  readonly desc: string;
  readonly spec: string;
  /** The branch on which it was done, else on which it was created; `null` if git does not know. */
  readonly branch: string | null;
  /** E-mail of who did it, else of who created it. */
  readonly author: string;
  readonly outcome: TaskOutcome;
  /** The task that it is a part of. */
  readonly parent?: string;
  /** The issue that it was added for. */
  readonly created_from?: string;
  /** The task that it replaced. */
  readonly supersedes?: string;
  /** `timeout` or `context`: its turn was ended, and it was to be taken apart. */
  readonly kill?: string;
  readonly created: LogMoment;
  readonly done?: LogMoment;
  readonly accepted?: LogMoment;
  readonly cancelled?: LogMoment;
  readonly rejected: readonly (LogMoment & { readonly done_at: string; readonly reason: string })[];
  readonly readded: readonly LogMoment[];
}

const RECENT = 20;

/** The lives of the plan's tasks, from git alone; the latest event last. @throws {RalphError} usage, git-failed */
export async function readLog(options: LogOptions): Promise<{ readonly tasks: readonly LogEntry[] }> {
  const { repository, branch } = options;
  const hasHead = (await repository.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).exitCode === 0;
  const everywhere = ["--branches", "--remotes", ...(hasHead ? ["HEAD"] : [])];
  const since = options.since === undefined ? null : await readSince(repository, options.since);
  const [path = PLAN_FILE] = topLevelPaths(options, [PLAN_FILE]);
  const isHere = options.all !== true && branch === undefined;
  if (isHere && !hasHead) return { tasks: [] };
  const shape = readBranches(repository, everywhere);
  const start = isHere ? ["HEAD"] : everywhere;
  const from = branch === undefined ? start : startOf(branch, await shape, everywhere);
  const [lives, known] = await Promise.all([readLives(repository, path, from), shape]);

  const isMeant = meant(options, known, since);
  const wholes = new Set(lives.map(({ task }) => task.parent));
  const chosen = lives.map((life) => decomposed(life, wholes)).filter(isMeant).toSorted((
    { last: one },
    { last: other },
  ) => one.commit.committed - other.commit.committed || one.order - other.order);
  const isWhole = !isHere || options.spec !== undefined || since !== null;
  return { tasks: (isWhole ? chosen : chosen.slice(-RECENT)).map((life) => entryOf(life, known)) };
}

/** The commits from which a branch is read; Ralph finds one that is gone by its merges. @throws {RalphError} usage */
function startOf(branch: string, { tips, names }: Branches, everywhere: readonly string[]): readonly string[] {
  const tip = tips.find(({ name }) => name === branch);
  if (tip !== undefined) return [tip.hash];
  if ([...names.values()].includes(branch)) return everywhere;
  throw usage(`there is no branch ${branch}`, `branches: ${tips.map(({ name }) => name).join(", ") || "none"}`);
}

function meant(
  { spec, branch }: LogOptions,
  { names }: Branches,
  isSince: ((commit: PlanCommit) => boolean) | null,
): (life: Life) => boolean {
  return (life) =>
    (spec === undefined || isSpec(life.task.spec, spec)) &&
    (branch === undefined || momentsOf(life).some(({ commit }) => names.get(commit.hash) === branch)) &&
    (isSince === null || momentsOf(life).some(({ commit }) => isSince(commit)));
}

function isSpec(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}

function momentsOf({ created, done, accepted, cancelled, rejected, readded, last }: Life): readonly Moment[] {
  return [created, done, accepted, cancelled, ...rejected, ...readded, last].filter((moment) => moment !== null);
}

/** A task that went while parts of it came was cut into them. */
function decomposed(life: Life, wholes: ReadonlySet<string | null>): Life {
  return life.outcome === "cancelled" && wholes.has(life.task.id) ? { ...life, outcome: "decomposed" } : life;
}

function entryOf(life: Life, { names }: Branches): LogEntry {
  const { outcome, created, accepted, cancelled } = life;
  const { id, name, spec, parent, createdFrom, supersedes, kill } = life.task;
  const done = life.done ?? (outcome === "rejected" ? life.lastDone : null);
  const by = (done ?? created).commit;
  return {
    id,
    desc: name,
    spec,
    branch: names.get(by.hash) ?? null,
    author: by.author,
    outcome,
    ...(parent === null ? {} : { parent }),
    ...(createdFrom === null ? {} : { created_from: createdFrom }),
    ...(supersedes === null ? {} : { supersedes }),
    ...(kill === null ? {} : { kill }),
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

/** Tells which commits are meant by `--since`: a commit if there is one of that name, else a date. @throws {RalphError} usage */
async function readSince({ git }: Repository, text: string): Promise<(commit: PlanCommit) => boolean> {
  if (!/^[-^]|\.\./.test(text)) {
    const before = await git(["rev-list", "--end-of-options", `${text}^{commit}`], { timeoutMs: 600_000 });
    const old = new Set(before.stdout.split("\n"));
    if (before.exitCode === 0) return ({ hash }) => !old.has(hash);
  }
  if (WORDS_REGEXP.test(text) || NUMBERS_REGEXP.test(text)) {
    const { exitCode, stdout } = await git(["rev-parse", `--since=${text}`]);
    const seconds = /--max-age=(\d+)/.exec(stdout)?.[1];
    if (exitCode === 0 && seconds !== undefined) return ({ committed }) => committed >= Number(seconds);
  }
  throw usage(
    `--since must be a date or a commit (got: ${text})`,
    "write `--since 2026-01-18`, `--since yesterday` or `--since main~20`",
  );
}
