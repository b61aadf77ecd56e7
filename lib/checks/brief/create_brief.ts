/**
 * The judges of a run are fixed when the run begins: read from disk then, compared and restored after each turn. Git is
 * not asked what has changed, so that no index flag, exclude file, filter or setting hides a change.
 *
 * @module
 */
import { firstOf } from "../../host/data.ts";
import { asideFolder } from "../../host/remove_path.ts";
import { join, relative, sep } from "node:path";
import type { AsInstructed } from "../../backlog/check_types.ts";
import type { BriefRecord } from "../../backlog/journal_types.ts";
import type { ManualEdit } from "../../backlog/state_files.ts";
import type { Backlog } from "../../backlog/types.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { addressText } from "../../git/host_of.ts";
import { blobBytes, writeBlobs } from "../../git/kept.ts";
import { requireRepository } from "../../git/repository.ts";
import { restoreInHead } from "../../git/take_out.ts";
import { movedTags, readTags, type Tags } from "../../git/tags.ts";
import * as states from "../../host/file_state.ts";
import { hashText, pathExists, readBytes, resolveInside } from "../../host/files.ts";
import { factsOf } from "../../host/path_facts.ts";
import { changedPrograms, type Programs, programsOf } from "../../host/programs.ts";
import { createAsInstructed, keepFound } from "./kept.ts";
import { changedKeys, decidingOf, restoreSettings, settingsIn, settingsRecord, withPersons } from "./settings.ts";
import { briefSources, createPersonFiles, type PersonFiles } from "./sources.ts";
import type { Brief, BriefChange, BriefEntry, BriefKind, BriefSource } from "./types.ts";

/** A larger file is kept as a git object, and compared by size, inode and times. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;

/** So many programs, tags or settings are named; the others are counted. */
const MOST_NAMED = 5;

/**
 * Reads the brief of a run.
 *
 * @throws {RalphError} not-a-repository, file-unreadable, git-failed
 */
export async function createBrief(ralph: RalphContext, backlog: Backlog): Promise<Brief> {
  const repository = requireRepository(ralph);
  const isConfined = await isWhollyConfined(ralph);
  const sources = await briefSources(ralph, backlog, isConfined);
  const state = new Set(backlog.stateFiles.map((path) => join(ralph.root, path)));
  const entries = new Map<string, BriefEntry>();
  let total = 0;

  async function add(kind: BriefKind, file: string, settings: boolean): Promise<void> {
    if (entries.has(file) || state.has(file)) return;
    const before = states.readFileState(file, Math.min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - total));
    if (before.kind === "text") total += before.bytes.length;
    const all = settings ? await settingsIn(repository, file) : null;
    const path = shownPath(ralph, file);
    entries.set(file, { kind, file, path, before, settings: all, left: all, object: null });
    if (before.kind === "link") await add(kind, states.realPath(file), false);
  }

  for (const { kind, path, accepts, enters, settings = false } of sources) {
    if (accepts === undefined) await add(kind, path, settings);
    else for (const file of states.listFiles(path, enters).filter(accepts)) await add(kind, file, false);
  }
  const folders = sources.filter(({ accepts }) => accepts).map(({ path }) => path);
  const record = await recordOf(ralph, entries, folders);
  const { head } = await repository.head();
  const own = [...entries.values()].filter(({ kind }) => kind === "person");
  const person = createPersonFiles(ralph.host, new Map(own.map(({ file, before }) => [file, before])));
  const written: string[] = [];
  for (const path of backlog.ownFiles ?? []) if (await isFit(ralph.root, path)) written.push(path);
  await ralph.state.adopt(written);
  return new RunBrief({ ralph, backlog, sources, state, written, entries, record, head, person, isConfined });
}

/** The sandbox is Ralph's own, and shows no more to write than the project. */
async function isWhollyConfined({ host, config: { sandbox } }: RalphContext): Promise<boolean> {
  if (sandbox.write.length > 0 || sandbox.command !== null) return false;
  return host.sandbox?.isWhole === true && (await host.sandbox.ensureUsable()).on;
}

/** The sources as they were read when the run began. */
interface BriefParts {
  readonly ralph: RalphContext;
  readonly backlog: Pick<Backlog, "runsDirectory" | "stateFiles">;
  readonly sources: readonly BriefSource[];
  /** Absolute paths of the state files. */
  readonly state: ReadonlySet<string>;
  /** Other files that Ralph writes, relative to the root. */
  readonly written: readonly string[];
  readonly entries: Map<string, BriefEntry>;
  readonly record: BriefRecord;
  /** The commit that the run began on. */
  readonly head: string | null;
  readonly person: PersonFiles;
  /** Programs on PATH need no second look. */
  readonly isConfined: boolean;
}

type KindTest = (of: { readonly kind: BriefKind }) => boolean;

class RunBrief implements Brief {
  readonly record: BriefRecord;
  readonly asInstructed: AsInstructed;
  readonly #parts: BriefParts;
  readonly #restored = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #programs: Programs;
  readonly #tags: Tags;

  constructor(parts: BriefParts) {
    this.#parts = parts;
    this.record = parts.record;
    this.#programs = this.#programsNow();
    this.#tags = this.#tagsNow();
    this.asInstructed = createAsInstructed(parts.ralph, () => this.#runFolder());
  }

  get restored(): readonly string[] {
    return [...this.#restored];
  }

  get reported(): readonly string[] {
    return [...this.#reported];
  }

  async compare(only?: BriefKind): Promise<readonly BriefChange[]> {
    if (this.#reported.size > 0) await this.#parts.person.hold();
    const isWanted: KindTest = ({ kind }) => only === undefined || kind === only;
    const state = only === undefined || only === "state" ? await this.#stateChanges() : [];
    return [...state, ...await this.#knownChanges(isWanted), ...this.#newFiles(isWanted)];
  }

  async restore(changes: readonly BriefChange[]): Promise<readonly BriefChange[]> {
    const { ralph, backlog, entries, head, person } = this.#parts;
    const own = changes.filter(({ kind }) => kind === "person");
    const isGone = !await pathExists(join(requireRepository(ralph).gitDirectory, "HEAD"));
    const others = changes.filter(({ kind }) => kind !== "person" && kind !== "state" && !(isGone && kind === "git"));
    const reverted = await restoreState(ralph, backlog, changes.flatMap(({ edit }) => edit ?? []));
    const done = [...changes.filter(({ kind, path }) => kind === "state" && reverted.includes(path)), ...others];
    const folder = await this.#runFolder();
    for (const change of others) await keepFound(ralph.host.clock, folder, change);
    for (const change of others) await restoreFile(ralph, change, entries.get(change.file) ?? null);
    if (head !== null) await restoreHead(ralph, head, others);
    if (own.length > 0) await person.hold();
    for (const { file, found, kind, path } of own) {
      entries.set(file, { kind, file, path, before: found, settings: null, left: null, object: null });
    }
    for (const { path } of done) this.#restored.add(path);
    const hint = `(\`ralph restore ${ralph.run.id}\` brings back what was found)`;
    this.#warn("restored as the run began with it", others.map(namedChange), hint);
    this.#report("changed outside of the repository, not reverted", own.map(({ path }) => path));
    return done;
  }

  hear({ restored, reported }: Pick<Brief, "reported" | "restored">): void {
    for (const path of restored) this.#restored.add(path);
    for (const name of reported) this.#reported.add(name);
  }

  async adoptSettings(): Promise<void> {
    for (const entry of this.#parts.entries.values()) {
      if (entry.settings === null || entry.left === null) continue;
      const found = states.readFileState(entry.file, MAX_FILE_BYTES);
      if (states.isSameState(entry.before, found)) continue;
      const now = await settingsIn(requireRepository(this.#parts.ralph), entry.file);
      if (now === null) continue;
      Object.assign(entry, { settings: withPersons(entry.settings, entry.left, now), left: now });
    }
  }

  lookAtPrograms(): void {
    const { ralph } = this.#parts;
    const changed = changedPrograms(this.#programs, this.#programsNow()).map((path) => shownPath(ralph, path));
    const named = changed.slice(0, MOST_NAMED).filter((path) => !this.#reported.has(path));
    const left = changed.length - MOST_NAMED;
    if (left > 0) this.#reported.add(`${left} more programs on PATH`);
    this.#report("changed outside of the repository, not reverted", named);
    // a check may take from a tag what it compares with
    const moved = movedTags(this.#tags, this.#tagsNow()).map((name) => `tag ${name}`);
    const tags = moved.filter((name) => !this.#reported.has(name)).slice(0, MOST_NAMED);
    this.#report("moved or removed while the run lasted, not reverted", tags);
  }

  #report(what: string, names: readonly string[]): void {
    for (const name of names) this.#reported.add(name);
    this.#warn(what, names);
  }

  #warn(what: string, names: readonly string[], ...behind: readonly string[]): void {
    if (names.length === 0) return;
    note(this.#parts.ralph, "warn", [`${what}: ${names.join(", ")}`, ...behind].join(" "));
  }

  #tagsNow(): Tags {
    return readTags(requireRepository(this.#parts.ralph).gitDirectory);
  }

  async release(): Promise<void> {
    this.lookAtPrograms();
    await this.#parts.person.release();
  }

  covers(path: string): boolean {
    const { sources, state, entries } = this.#parts;
    const file = join(this.#parts.ralph.root, path);
    if (entries.has(file) || state.has(file)) return true;
    return sources.some(({ path: folder, accepts }) =>
      accepts !== undefined && file.startsWith(`${folder}/`) && accepts(file)
    );
  }

  /** Programs of the repository are judged with it: a checkout of it has its own. */
  #programsNow(): Programs {
    const { config: { verify }, host, root, repository } = this.#parts.ralph;
    if (this.#parts.isConfined && verify.final === "clean") return new Map();
    return programsOf(host.environment, root, verify.final === "clean" ? repository?.topLevel ?? null : null);
  }

  async #runFolder(): Promise<string> {
    return await this.#parts.ralph.run.folder(this.#parts.backlog.runsDirectory ?? ".ralph/runs");
  }

  async #stateChanges(): Promise<readonly BriefChange[]> {
    const edits = [...await this.#parts.ralph.state.edited(this.#parts.backlog.stateFiles)];
    for (const path of this.#parts.written) {
      if (!await isFit(this.#parts.ralph.root, path)) edits.push({ path, found: null, written: "" });
    }
    return edits.map((edit) => stateChange(this.#parts.ralph, edit));
  }

  async #knownChanges(isWanted: KindTest): Promise<readonly BriefChange[]> {
    const changes: BriefChange[] = [];
    for (const entry of this.#parts.entries.values()) {
      if (!isWanted(entry)) continue;
      const { kind, path, file, before } = entry;
      const found = states.readFileState(file, before.kind === "large" ? -1 : MAX_FILE_BYTES);
      if (states.isSameState(before, found)) continue;
      const keys = await this.#changedSettings(entry, found);
      if (keys?.length !== 0) changes.push({ kind, path, file, before, found, ...(keys === null ? {} : { keys }) });
    }
    return changes;
  }

  /** Files that have appeared in folders that were read as a whole. */
  #newFiles(isWanted: KindTest): readonly BriefChange[] {
    const { sources, state, entries } = this.#parts;
    const changes = new Map<string, BriefChange>();
    for (const { kind, path, accepts, enters } of sources.filter(isWanted)) {
      if (accepts === undefined) continue;
      for (const file of states.listFiles(path, enters).filter(accepts)) {
        if (entries.has(file) || state.has(file) || changes.has(file)) continue;
        const found = states.readFileState(file, MAX_FILE_BYTES);
        changes.set(file, { kind, path: shownPath(this.#parts.ralph, file), file, before: { kind: "missing" }, found });
      }
    }
    return [...changes.values()];
  }

  /** The keys that differ; `null`: the file as a whole does. */
  async #changedSettings(entry: BriefEntry, found: states.FileState): Promise<readonly string[] | null> {
    const repository = requireRepository(this.#parts.ralph);
    if (entry.settings === null || found.kind !== "text") return null;
    const now = await settingsIn(repository, entry.file);
    const keys = now && await changedKeys(repository, entry.settings, now);
    if (keys?.length === 0) Object.assign(entry, { before: found, left: now });
    return keys;
  }
}

/** Restores state files that were edited; the run's folder keeps what was found. @returns the paths of what was reverted */
export async function restoreState(
  ralph: RalphContext,
  backlog: Pick<Backlog, "runsDirectory">,
  edits: readonly ManualEdit[],
): Promise<readonly string[]> {
  const paths = await ralph.state.restore(edits, (edit) => keepEdit(ralph, backlog, edit));
  if (paths.length > 0) ralph.events.emit({ type: "state-restored", paths });
  return paths;
}

/** Keeps what is found in a state file in the run's folder. */
export async function keepEdit(
  ralph: RalphContext,
  { runsDirectory }: Pick<Backlog, "runsDirectory">,
  edit: ManualEdit,
): Promise<void> {
  const folder = await ralph.run.folder(runsDirectory ?? ".ralph/runs");
  await keepFound(ralph.host.clock, folder, stateChange(ralph, edit));
}

/** Ralph can write the file: nothing is there, or a file in the tree, and no pipe, folder or link to nowhere. */
async function isFit(root: string, path: string): Promise<boolean> {
  if (factsOf(join(root, path)) === null) return true;
  return await resolveInside(root, path).then((file) => readBytes(file)).then((bytes) => bytes !== null, () => false);
}

function stateChange({ root }: Pick<RalphContext, "root">, edit: ManualEdit): BriefChange {
  const { path, written, found } = edit;
  return { kind: "state", path, file: join(root, path), before: textState(written), found: textState(found), edit };
}

function textState(text: string | null): states.FileState {
  return text === null ? { kind: "missing" } : { kind: "text", bytes: Buffer.from(text), executable: false };
}

async function recordOf(ralph: RalphContext, entries: ReadonlyMap<string, BriefEntry>, folders: readonly string[]) {
  const judging = [...entries.values()].filter(({ kind }) => kind !== "person");
  const plain = judging.filter(({ before, settings }) =>
    (before.kind === "text" || before.kind === "large") && settings === null
  );
  const objects = await writeBlobs(requireRepository(ralph), plain.map(({ file }) => file));
  for (const entry of plain) if (entry.before.kind === "large") entry.object = objects.get(entry.file) ?? null;
  const files = judging.map((entry) => [entry.path, objects.get(entry.file) ?? otherHash(entry)] as const);
  const settings = judging.flatMap(({ path, settings }) => settings === null ? [] : [settingsRecord(path, settings)]);
  return {
    files: Object.assign(Object.fromEntries(files), ...settings.map((one) => one.files)) as BriefRecord["files"],
    folders: [...folders.map((path) => shownPath(ralph, path)), ...settings.flatMap((one) => one.folders)],
  };
}

/** For what is no plain file: `null` for one that is absent. */
function otherHash({ before, settings }: BriefEntry): string | null {
  if (before.kind === "missing") return null;
  if (settings !== null) return `settings ${hashText(JSON.stringify(decidingOf(settings)))}`;
  return before.kind === "link" ? `link ${hashText(before.target)}` : before.kind;
}

/** Relative to the root where it is below it; `.git/…` and `~/…` for the git directory and the person's home. */
export function shownPath({ root, repository, host }: RalphContext, file: string): string {
  const below = (folder: string): string | null => {
    const path = relative(folder, file).replaceAll(sep, "/");
    return path.startsWith("..") ? null : path;
  };
  const inRoot = below(root);
  if (inRoot !== null) return inRoot;
  const inGit = repository === null ? null : below(repository.gitDirectory);
  if (inGit !== null) return `.git/${inGit}`;
  const inHome = below(host.environment.home);
  return inHome === null ? file.replaceAll(sep, "/") : `~/${inHome}`;
}

/** `.git/config (remote.origin.url)`. */
function namedChange({ path, keys = [] }: BriefChange): string {
  return keys.length === 0 ? path : `${path} (${firstOf(keys.map(addressText), MOST_NAMED)})`;
}

/** Compares, and restores what differs. @param only one kind. @default all @returns what was restored */
export async function restoreBrief(brief: Brief, only?: BriefKind): Promise<readonly BriefChange[]> {
  const changes = await brief.compare(only);
  return changes.length === 0 ? [] : await brief.restore(changes);
}

/** Makes one file what it was when the run began. @throws {RalphError} file-unwritable */
async function restoreFile(ralph: RalphContext, change: BriefChange, entry: BriefEntry | null): Promise<void> {
  const { file, before, keys } = change;
  const repository = requireRepository(ralph);
  if (entry?.settings && keys !== undefined) {
    const now = await settingsIn(repository, file);
    if (now !== null && await restoreSettings(repository, file, { before: entry.settings, now, keys })) {
      entry.before = states.readFileState(file, MAX_FILE_BYTES);
      entry.left = await settingsIn(repository, file);
      return;
    }
  }
  const aside = asideFolder(repository.ralphDirectory);
  const base = file.startsWith(ralph.root) ? ralph.root : repository.gitDirectory;
  if (before.kind !== "large") return await states.writeFileState(file, before, base, { aside });
  const object = entry?.object ?? null;
  const content = object === null ? null : await blobBytes(repository, object);
  if (content === null) throw new Error(`the git object of ${file} is gone`);
  await states.writeFileState(file, before, base, { aside, content });
  if (entry !== null) entry.before = states.readFileState(file, -1);
}

/** Makes a commit of Ralph's where commits since `start` have changed these files. */
async function restoreHead(ralph: RalphContext, start: string, changes: readonly BriefChange[]): Promise<void> {
  const repository = requireRepository(ralph);
  const paths = changes.map(({ file }) => relative(repository.topLevel, file).replaceAll(sep, "/"))
    .filter((path) => !path.startsWith("..") && !path.startsWith(".git/"));
  const made = await restoreInHead(repository, start, paths);
  if (made !== null) ralph.events.emit({ type: "commit", ...made });
}
