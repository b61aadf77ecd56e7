import { basename, join } from "node:path";
import { ownFiles } from "../context/context.ts";
import { asRalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { createGit } from "../git/run_git.ts";
import { resolveInside } from "../host/files.ts";
import { readEnd } from "../host/read_end.ts";
import type { Clock, Host } from "../host/types.ts";
import { watchPath } from "../host/watch_path.ts";
import { type FoundRun, listRuns } from "../report/make_report.ts";
import { controlFolder, liveFile, type LiveRun } from "../steer/control.ts";
import { followEvents, runEnded } from "../watch/follow.ts";
import { runsAt } from "../watch/now.ts";
import { RunModel } from "./model.ts";

/** A project whose runs are shown. */
export interface Project {
  /** In addresses. */
  readonly index: number;
  readonly name: string;
  /** Absolute path. */
  readonly root: string;
  /** Ralph's own folder. */
  readonly own: string;
}

/** A run as the page follows it. */
export interface WatchedRun extends Disposable {
  readonly project: Project;
  readonly found: FoundRun;
  readonly model: RunModel;
  /** The live state of the run as it tells it; `null` if it is not at work. */
  live(): Promise<LiveRun | null>;
  /** Calls when something has changed, until disposed. */
  changed(act: () => void): Disposable;
}

/** Runs that no page looks at are kept for so long: a reload is quick. */
const KEPT_MS = 60_000;
const MOST_KEPT = 4;

/** The page needs this of the disk and of the workflows. */
export interface RunsOptions {
  readonly host: Host;
  readonly roots: readonly string[];
  /** Folders below a root that hold runs. */
  readonly folders: (root: string) => Promise<readonly string[]>;
}

/** The runs of some projects. A run is read once for all its viewers, and followed while there is one. */
export class Runs implements Disposable {
  readonly #options: RunsOptions;
  readonly #open: Map<string, Follower> = new Map();
  #projects: Promise<readonly Project[]> | null = null;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  projects(): Promise<readonly Project[]> {
    const { host, roots } = this.#options;
    return this.#projects ??= Promise.all(roots.map(async (root, index) => {
      const own = ownFiles(await openRepository(host, root), root);
      return { index, name: basename(root), root, own: own.directory };
    }));
  }

  /** Newest first. */
  async list(project: Project): Promise<readonly FoundRun[]> {
    const folders = await this.#options.folders(project.root);
    return (await listRuns(folders.map((folder) => `${project.root}/${folder}`))).toReversed();
  }

  async live(project: Project): Promise<readonly LiveRun[]> {
    return await runsAt(project.own, project.root);
  }

  /** The run with this id, followed; `null` where there is none. Dispose it. */
  async open(project: Project, id: string): Promise<WatchedRun | null> {
    const key = `${project.index}/${id}`;
    let follower = this.#open.get(key);
    if (follower === undefined) {
      const found = (await this.list(project)).find((run) => run.id === id);
      if (found === undefined) return null;
      follower = this.#open.get(key) ?? new Follower(project, found, this.#options.host.clock);
      this.#open.set(key, follower);
    }
    const held = follower;
    const hold = held.hold(() => this.#close(key));
    const live = async (): Promise<LiveRun | null> => (await this.live(project)).find(({ run }) => run === id) ?? null;
    const now = await live();
    if (now !== null) held.watchProcess(now);
    this.#prune(held);
    const { found, model } = held;
    return { project, found, model, live, changed: (act) => held.listen(act), [Symbol.dispose]: hold };
  }

  /** Calls when a run begins, ends, pauses or asks, until disposed. */
  async changed(act: () => void): Promise<Disposable> {
    const watchers = (await this.projects()).map(({ own }) => watchPath(controlFolder(own), act));
    return together(watchers);
  }

  [Symbol.dispose](): void {
    for (const key of this.#open.keys()) this.#close(key);
  }

  #close(key: string): void {
    this.#open.get(key)?.[Symbol.dispose]();
    this.#open.delete(key);
  }

  #prune(but: Follower): void {
    const unused = [...this.#open].filter(([, one]) => one.isFree && one !== but);
    for (const [key] of unused.slice(0, Math.max(0, unused.length - MOST_KEPT))) this.#close(key);
  }
}

/** Disposes all of them. */
export function together(parts: readonly Disposable[]): Disposable {
  return { [Symbol.dispose]: () => parts.forEach((part) => part[Symbol.dispose]()) };
}

class Follower implements Disposable {
  readonly project: Project;
  readonly found: FoundRun;
  readonly model: RunModel;
  readonly #listeners: Set<() => void> = new Set();
  readonly #events: Disposable;
  readonly #control: Disposable;
  readonly #holders = new Set<object>();
  #closing: AbortController | null = null;
  readonly #clock: Clock;
  readonly #disposed = new AbortController();
  #process: string | null = null;

  constructor(project: Project, found: FoundRun, clock: Clock) {
    this.#clock = clock;
    this.project = project;
    this.found = found;
    this.model = new RunModel(found.events);
    this.#events = followEvents(found.events, (read) => {
      this.model.take(read);
      this.#tell();
    });
    this.#control = watchPath(controlFolder(project.own), () => this.#tell());
  }

  get isFree(): boolean {
    return this.#holders.size === 0;
  }

  /** @returns lets go of it, once: it is closed when nobody has held it for a while */
  hold(close: () => void): () => void {
    const hold = {};
    this.#holders.add(hold);
    this.#closing?.abort();
    return () => {
      if (!this.#holders.delete(hold) || this.#holders.size > 0) return;
      const closing = this.#closing = new AbortController();
      void this.#clock.sleep(KEPT_MS, closing.signal).then(() => {
        if (!closing.signal.aborted) close();
      });
    };
  }

  /** A killed process sends no event: it is checked for. */
  watchProcess({ pid, started, run }: LiveRun): void {
    if (this.#process === started) return;
    this.#process = started;
    const file = liveFile(controlFolder(this.project.own), run);
    const ended = runEnded({ pid, started }, { liveFile: file, clock: this.#clock, signal: this.#disposed.signal });
    void ended.then(() => this.#tell());
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(act: () => void): Disposable {
    this.#listeners.add(act);
    return { [Symbol.dispose]: () => void this.#listeners.delete(act) };
  }

  [Symbol.dispose](): void {
    this.#disposed.abort();
    this.#closing?.abort();
    this.#events[Symbol.dispose]();
    this.#control[Symbol.dispose]();
  }
}

/** A transcript's end that is shown. */
const TRANSCRIPT_BYTES = 256 * 1024;
const DIFF_BYTES = 200 * 1024;
const DIFF_LINES = 800;
const KEPT = 200;
const HASH_REGEXP = /^[0-9a-f]{7,64}$/;

const commits = new Map<string, string | null>();

/** The changes of a commit, shortened; `null` where git does not have it. A commit never changes: it is read once. */
export async function readCommit(host: Host, root: string, commit: string): Promise<string | null> {
  if (!HASH_REGEXP.test(commit)) return null;
  const key = `${root}\0${commit}`;
  const known = commits.get(key);
  if (known !== undefined) return known;
  const show = ["show", "--format=", "--stat", "--patch", "--no-color", "--no-ext-diff", "--no-textconv", commit, "--"];
  const end = await createGit(host, root)(show, { maxBytes: DIFF_BYTES });
  const lines = end.stdout.trimStart().split("\n");
  const cut = lines.length > DIFF_LINES
    ? [...lines.slice(0, DIFF_LINES), `… ${lines.length - DIFF_LINES} more lines`]
    : lines;
  const diff = end.exitCode === 0 ? cut.join("\n") : null;
  if (commits.size >= KEPT) commits.delete(commits.keys().next().value as string);
  commits.set(key, diff);
  return diff;
}

/**
 * The end of a turn's transcript; `null` where there is none. The events name it, and they lie where agents can write: no
 * path leads out of the project or the run's folder.
 */
export async function readTranscript(
  root: string,
  folder: string,
  path: string,
): Promise<{ readonly text: string; readonly isWhole: boolean } | null> {
  const inside = await resolveInside(root, path).catch(asRalphError);
  if (typeof inside !== "string") return null;
  const isText = inside.startsWith(join(folder, "/")) || /\.(?:log|jsonl|txt)$/.test(inside);
  return isText ? readEnd(inside, TRANSCRIPT_BYTES) : null;
}
