import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { JsonLines } from "../agents/json_lines.ts";
import { didYouMean, type RunPartName, usage } from "../cli/command.ts";
import { afterParked } from "../cli/next_step.ts";
import { ownFiles } from "../context/context.ts";
import { asRalphError, RalphError } from "../errors/ralph_error.ts";
import { knownRuns, RUN_REGEXP } from "../events/known_runs.ts";
import { redactorFor } from "../events/redact.ts";
import { findFolders } from "../git/find_folders.ts";
import { openRepository } from "../git/open_repository.ts";
import type { Repository } from "../git/repository.ts";
import { realPath } from "../host/file_state.ts";
import { isDirectory, listDirectory, pathExists, readChunks } from "../host/files.ts";
import { readLockHolder } from "../host/lock.ts";
import type { Host } from "../host/types.ts";
import { createFold } from "./fold.ts";
import type { CommitReport, Draft, DraftReport, ItemCounts, RunReport } from "./types.ts";

const EVENTS_FILE = "events.ndjson";
const SHOWN_RUNS = 5;

/** A run that left its events. */
export interface FoundRun {
  /** The run's id. */
  readonly id: string;
  /** Absolute paths. */
  readonly folder: string;
  readonly events: string;
  /** No run below the root is newer. */
  readonly newest: boolean;
}

/**
 * The run that was named by its id, by the path of its folder or of a folder that holds runs ; without a name the
 * newest one in the folders that are given.
 *
 * @throws {RalphError} usage when there is none
 */
export async function findRun(
  { root, cwd, folders }: { readonly root: string; readonly cwd: string; readonly folders: readonly string[] },
  named: string | undefined,
): Promise<FoundRun> {
  const runs = await listRuns(folders.map((folder) => join(root, folder)));
  if (named === undefined) {
    const newest = runs.at(-1);
    if (newest !== undefined) return newest;
    throw usage(`no run below ${root} has left its events`, "a run writes them: `ralph run` …");
  }
  const found = runs.find(({ id }) => id === named);
  if (found !== undefined) return found;
  const path = resolve(cwd, basename(named) === EVENTS_FILE ? dirname(named) : named);
  if (await pathExists(join(path, EVENTS_FILE))) {
    const same = runs.find(({ folder }) => folder === path);
    return same ?? { id: basename(path), folder: path, events: join(path, EVENTS_FILE), newest: false };
  }
  const held = (await listRuns([path, join(path, "logs")])).at(-1);
  if (held !== undefined) return runs.find(({ folder }) => folder === held.folder) ?? { ...held, newest: false };
  const ids = runs.map(({ id }) => id);
  const last = ids.slice(-SHOWN_RUNS).reverse().join(", ");
  const others = last === "" ? `no run below ${root} has left its events` : `the last runs: ${last}`;
  const hint = didYouMean(named, ids, others, (near) => `ralph report ${near}`);
  throw usage(`${named} is neither a run's id nor the folder of one`, hint);
}

/** Oldest first: a run's name begins with its time. A folder that no run of this working tree made is left out. */
export async function listRuns(directories: readonly string[]): Promise<readonly FoundRun[]> {
  const found: Omit<FoundRun, "newest">[] = [];
  for (const directory of directories) {
    if (!await isDirectory(directory)) continue;
    const real = realPath(directory);
    const repository = await findFolders(real, { variables: {} });
    const known = repository === null ? null : await knownRuns(repository, real);
    for (const id of await listDirectory(directory)) {
      const folder = join(directory, id);
      const events = join(folder, EVENTS_FILE);
      if (!RUN_REGEXP.test(id) || known?.has(id) === false) continue;
      if (await pathExists(events)) found.push({ id, folder, events });
    }
  }
  const sorted = found.toSorted((one, other) => one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
  return sorted.map((run, index) => ({ ...run, newest: index === sorted.length - 1 }));
}

/** A path as it is shown: relative to the root where it is below it. */
function shownPath(root: string, path: string): string {
  const inside = relative(root, path).replaceAll(sep, "/");
  return inside.startsWith("..") ? path : inside;
}

/** The command that continues a part of a run; `null` where only its user knows it. */
export type Resume = (part: RunPartName) => Promise<string | null>;

/** Reads a run's events line by line, then asks git and the run lock. Changes nothing. @throws {RalphError} file-unreadable */
export async function makeReport(
  root: string,
  run: FoundRun,
  { host, resume }: { readonly host: Host; readonly resume: Resume },
): Promise<RunReport> {
  const draft = await readRun(run, shownPath(root, run.events));
  Object.assign(draft, { run: run.id, root, folder: shownPath(root, run.folder), project: basename(root) });
  draft.running = run.newest ? await whoIsAtWork(root, host, draft.endedAt) : null;
  settleState(draft);
  await addCommits(draft, run.folder, host);
  draft.counts = countsOf(draft);
  const last = draft.parts.at(-1);
  draft.next = nextSteps(draft, last === undefined ? null : await resume({ ...last, folder: draft.folder }));
  return draft;
}

async function readRun({ events }: Pick<FoundRun, "events">, shown = events): Promise<DraftReport> {
  const fold = createFold(shown);
  const lines = new JsonLines({ take: fold.take, invalid: fold.invalid });
  for await (const chunk of readChunks(events)) lines.push(chunk);
  lines.end();
  return fold.end();
}

/** True for an item that the last run which worked on it, of those beside this one, has given up on. */
export async function isGivenUp({ folder }: Pick<FoundRun, "folder">, item: string): Promise<boolean> {
  for (const run of (await listRuns([dirname(folder)])).toReversed()) {
    const found = (await readRun(run)).items.findLast(({ id }) => id === item);
    if (found !== undefined) return found.state === "parked";
  }
  return false;
}

/** The holder of the run lock, when it took it before the run's last event: a later one is another run's. */
async function whoIsAtWork(root: string, host: Host, lastAt: string | null) {
  const repository = await repositoryOf(host, root);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  if (holder === null || lastAt === null || !(Date.parse(holder.since) <= Date.parse(lastAt))) return null;
  return { pid: holder.pid, since: holder.since };
}

function settleState(draft: DraftReport): void {
  const part = draft.parts.at(-1);
  const begun = part?.turns.at(-1);
  const isOver = part !== undefined &&
    (part.status !== null || (part.kind === "turns" && begun !== undefined && begun.reason !== null));
  if (part === undefined && draft.events.count === 0) draft.state = "empty";
  else if (draft.running !== null) draft.state = "running";
  else draft.state = isOver ? "ended" : "cut-off";
  if (draft.state === "running") return;
  draft.status = part?.status ?? null;
  draft.reasons = part?.reasons ?? [];
  for (const item of draft.items) if (item.state === "in-progress") item.state = "interrupted";
}

function countsOf({ parts, items }: DraftReport): ItemCounts {
  const last = parts.findLastIndex(({ kind }) => kind === "loop");
  const counted = items.filter(({ part, preparatory }) => part === last && !preparatory);
  const of = (state: string): number => counted.filter((item) => item.state === state).length;
  const [verified, unverified, parked] = [of("verified"), of("unverified"), of("parked")];
  return { verified, unverified, parked, open: counted.length - verified - unverified - parked };
}

/**
 * The next steps for a person. Pure.
 *
 * @param command what continues with the last part; `null` where only its user knows it
 */
function nextSteps({ state, parts, items, counts }: DraftReport, command: string | null): string[] {
  const part = parts.at(-1);
  if (state === "running") return ["`ralph status` shows the progress"];
  if (part === undefined) return [];
  const again = command === null ? "the same command" : `\`${command}\``;
  const parked = items.filter((item) => item.state === "parked" || item.state === "blocked");
  const retry = command === null ? "the same command with `--retry-blocked`" : `\`${command} --retry-blocked\``;
  const steps: string[] = [];
  if (state === "cut-off") steps.push(`${again} continues where it stopped; nothing is lost`);
  else if (part.status === "blocked" || parked.length > 0) steps.push(...afterParked(parked, { again, retry }));
  else if (["failed", "exhausted", "error"].includes(part.status ?? "")) steps.push(`${again} continues`);
  else if (part.status === "aborted" || part.status === "declined") {
    steps.push(`${again} continues where this one stopped`);
  } else if (part.name === "plan" && part.status === "approved") steps.push("`ralph run` implements it");
  if (counts.unverified > 0 && command !== null) {
    steps.push("`ralph verify` runs what checks there are, `verify.default` names more");
  }
  return steps;
}

/** More commits than these, made by others while a run lasted, are not looked for. */
const OTHERS_KEPT = 500;
const FORMAT = "--format=%x1e%H%x1f%ct%x1f%s";
const HASH_REGEXP = /^[0-9a-f]{7,64}$/;

/** A commit as git has it; its time is in seconds since 1970. */
type Known = ReturnType<typeof parse>[number];

/**
 * Adds what git knows: the files of each commit that the events name, and the commits that the agent (or another person)
 * made meanwhile. Without a repository, or without git, the report has what the events say.
 */
async function addCommits(draft: DraftReport, folder: string, host: Host): Promise<void> {
  const repository = await repositoryOf(host, folder);
  if (repository === null) return;
  const attempts = draft.items.flatMap((item) => item.attempts);
  const own = [draft, ...attempts].flatMap(({ commits }) => commits).filter(({ commit }) => HASH_REGEXP.test(commit));
  const known = new Map<string, Known>();
  for (const one of await readKnown(repository, own.map(({ commit }) => commit))) known.set(one.commit, one);
  for (const commit of own) commit.filesChanged = known.get(commit.commit)?.filesChanged ?? null;
  const redactor = redactorFor(host.environment.variables);
  const others = (await madeMeanwhile(repository, draft, [...known.keys()].at(-1)))
    .filter(({ commit }) => !known.has(commit));
  for (const { commit, filesChanged, subject, time } of others.toReversed()) {
    const list = attemptAt(draft, time)?.commits ?? draft.commits;
    list.unshift({ commit, subject: redactor.text(subject), filesChanged, by: "other" }); // before Ralph's, which end an attempt
  }
}

/** The repository that a folder is in; `null` without one, and where git cannot be asked. */
export async function repositoryOf(host: Host, folder: string): Promise<Repository | null> {
  const opened = await openRepository(host, folder).catch(asRalphError);
  return RalphError.isInstance(opened) ? null : opened;
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
  { startedAt, endedAt, base }: DraftReport,
  last: string | undefined,
): Promise<readonly Known[]> {
  if (startedAt === null || endedAt === null || base === null || !HASH_REGEXP.test(base)) return [];
  const [from, to] = [secondsOf(startedAt), secondsOf(endedAt)];
  const range = [`--since=@${from - 1}`, `--until=@${to + 1}`, `--max-count=${OTHERS_KEPT}`];
  const tips = ["HEAD", ...last === undefined ? [] : [last], `^${base}`];
  const { exitCode, stdout } = await repository.git(["log", "--shortstat", "--reverse", FORMAT, ...range, ...tips]);
  return exitCode === 0 ? parse(stdout).filter(({ time }) => time >= from && time <= to) : [];
}

function attemptAt({ items }: DraftReport, time: number): { readonly commits: Draft<CommitReport>[] } | undefined {
  return items.flatMap(({ attempts }) => attempts).find(({ startedAt, durationMs }) => {
    const started = secondsOf(startedAt);
    const ended = durationMs === null ? Infinity : Math.floor((Date.parse(startedAt) + durationMs) / 1000);
    return time >= started && time <= ended;
  });
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

function parse(output: string) {
  return output.split("\u001e").slice(1).map((record) => {
    const [commit = "", time = "", rest = ""] = record.split("\u001f");
    const [subject = "", ...stat] = rest.split("\n");
    const files = /(\d+) files? changed/.exec(stat.join("\n"))?.[1];
    return { commit, time: Number(time), subject, filesChanged: files === undefined ? null : Number(files) };
  });
}
