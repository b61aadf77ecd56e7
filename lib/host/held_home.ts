/**
 * The namespace of mounts that the processes of a run share under `light`: the home folder lies there under an overlay,
 * so that a check finds what a turn wrote in it, and the person does not.
 *
 * @module
 */
import { chmodSync, constants, copyFileSync, renameSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { firstOf } from "./data.ts";
import { enterArguments, holdArguments, type HoldRights } from "./bubblewrap.ts";
import type { Confinement } from "./confinement.ts";
import { ensurePrivateDirectory, removeEmptyFolders, removeOwn } from "./files.ts";
import { openFolders } from "./remove_path.ts";
import { entryAt, namesIn, orElse } from "./looks.ts";
import type { Host, ProcessEnd } from "./types.ts";

type Overlay = NonNullable<Confinement["overlay"]>;

const MOST_NAMED = 3;
const NAME_REGEXP = /^home-(\d+)-/;

/** The shared namespace, for as long as it is not disposed. Then a turn's files stay set aside, and all else is removed. */
export interface HeldHome extends AsyncDisposable {
  /** `null` if the home folder has no overlay. */
  readonly overlay: Overlay | null;
  /** The words that start a program in it; or how it could not be made. */
  enter(): Promise<readonly string[] | ProcessEnd>;
  /** Call when a process is about to start. @returns call it when it has ended: names what a turn put into the home folder */
  watch(confinement: Confinement): () => void;
}

export interface HeldHomeOptions {
  readonly host: Host;
  /** Absolute paths of both. */
  readonly programs: { readonly bubblewrap: string; readonly nsenter: string };
  readonly rights: HoldRights;
  readonly overlay: Overlay | null;
  readonly tell: (message: string) => void;
}

/** Makes the folders of the overlay; the namespace is made when it is entered, and again if somebody ended it. */
export async function holdHome({ host, programs, rights, overlay: wanted, tell }: HeldHomeOptions): Promise<HeldHome> {
  const overlay = wanted === null ? null : await madeFolders(wanted, host.ids.random(8), tell);
  const written = overlay === null ? null : createWritten(overlay, tell);
  const ending = new AbortController();
  let holding: { readonly entered: Promise<readonly string[] | ProcessEnd>; readonly end: Promise<ProcessEnd> } | null;
  holding = null;

  function hold(): NonNullable<typeof holding> {
    let resolve: (entered: readonly string[] | ProcessEnd) => void = () => {};
    const entered = new Promise<readonly string[] | ProcessEnd>((found) => resolve = found);
    let said = "";
    const end = host.processes.run({
      file: programs.bubblewrap,
      arguments: holdArguments(overlay, rights),
      cwd: "/",
      graceMs: 0,
      signal: ending.signal,
      onOutput(chunk, stream) {
        if (stream === "stdout") said += Buffer.from(chunk).toString("utf8");
        if (said.endsWith("\n")) resolve(enterArguments(said.trim(), rights, programs.nsenter));
      },
    });
    void end.then((how) => {
      resolve(how);
      holding = null;
    });
    return { entered, end };
  }

  return {
    overlay,
    enter: () => (holding ??= hold()).entered,
    watch: (confinement) => written?.watch(confinement) ?? (() => {}),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await holding?.end;
      if (overlay !== null) await endFolders(overlay, written);
    },
  };
}

/** The files that come into an overlay. */
interface Written {
  watch(confinement: Pick<Confinement, "role" | "own">): () => void;
  /** A turn wrote one of them. */
  isTurns(): boolean;
}

/** While a turn is at work, all that is new or changed counts as the turn's: a check beside it may have written it. */
function createWritten({ at, on }: Overlay, tell: (message: string) => void): Written {
  const home = join(on, "home");
  const known = new Map<string, string>();
  const told = new Set<string>();
  const real = new Map<string, string>();
  let turns = 0;
  let isTurns = false;
  /** The agent's own files come to their place, unless somebody else wrote there meanwhile. */
  function isBroughtBack(path: string): boolean {
    if (stampAt(path) !== real.get(path)) return false;
    const isDone = orElse(() => replaceBy(join(home, relative(at, path)), path), false);
    if (isDone) real.set(path, stampAt(path));
    return isDone;
  }
  function isMissed(path: string, own: readonly string[]): boolean {
    return own.includes(path) ? !isBroughtBack(path) : !own.some((one) => path.startsWith(one));
  }
  function look(own: readonly string[]): readonly string[] {
    const found = [...filesIn(home)].filter(([path, stamp]) => known.get(path) !== stamp);
    for (const [path, stamp] of found) known.set(path, stamp);
    return found.map(([path]) => join(at, relative(home, path))).filter((path) => isMissed(path, own));
  }
  return {
    isTurns: () => isTurns,
    watch({ role, own }) {
      const isTurn = role !== "check";
      if (isTurn) turns += 1;
      for (const path of own) if (!real.has(path)) real.set(path, stampAt(path));
      return () => {
        if (!isTurn && turns > 0) return;
        const fresh = look(own);
        if (!isTurn) return;
        turns -= 1;
        if (fresh.length > 0) isTurns = true;
        const untold = fresh.filter((path) => !told.has(path));
        for (const path of untold) told.add(path);
        if (untold.length > 0) tell(setAsideText(untold, home));
      };
    },
  };
}

function stampAt(path: string): string {
  const found = orElse(() => entryAt(path), undefined);
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Only a file is taken, and only a file is replaced: a turn may have put a link there. */
function replaceBy(path: string, target: string): boolean {
  const [found, before] = [entryAt(path), entryAt(target)];
  if (found?.isFile() !== true || before?.isFile() === false) return false;
  const temporary = `${target}.${process.pid}`;
  copyFileSync(path, temporary, constants.COPYFILE_EXCL);
  chmodSync(temporary, before?.mode ?? found.mode);
  renameSync(temporary, target);
  return true;
}

async function madeFolders({ at, on: parent }: Overlay, name: string, tell: (text: string) => void): Promise<Overlay> {
  for (const left of namesIn(parent)) {
    const owner = NAME_REGEXP.exec(left)?.[1];
    const isLeft = owner !== undefined && !orElse(() => process.kill(Number(owner), 0), false);
    const overlay = { at, on: join(parent, left) };
    if (!isLeft || entryAt(join(overlay.on, "work")) === undefined) continue;
    const written = createWritten(overlay, tell);
    written.watch({ role: "turn", own: [] })(); // whose they are is not known any more
    await endFolders(overlay, written);
  }
  const on = join(parent, `home-${process.pid}-${name}`);
  for (const path of [parent, on, ...["home", "work", "seen"].map((part) => join(on, part))]) {
    await ensurePrivateDirectory(path);
  }
  chmodSync(join(on, "home"), statSync(at).mode);
  return { at, on };
}

async function endFolders({ on }: Overlay, written: Written | null): Promise<void> {
  openFolders(on);
  const removed = written?.isTurns() === true ? ["work", "seen"].map((part) => join(on, part)) : [on];
  for (const path of removed) await removeOwn(path, dirname(path)).catch(() => {});
  const parent = dirname(on);
  await removeEmptyFolders(parent, dirname(dirname(parent)));
}

/** @param files as a turn sees them @param home the place that they are at */
function setAsideText(files: readonly string[], home: string): string {
  return `a turn wrote ${firstOf(files, MOST_NAMED)}, outside of the tree: set aside in ${home}`;
}

/** Files and links, sorted, each with what changes if it is written; a device notes that something is gone. */
function filesIn(folder: string): ReadonlyMap<string, string> {
  const mode = entryAt(folder)?.mode ?? 0;
  const isClosed = (mode & 0o500) !== 0o500; // opened for the look
  if (isClosed) orElse(() => chmodSync(folder, mode | 0o500), undefined);
  const files = new Map<string, string>();
  for (const name of namesIn(folder).toSorted()) {
    const path = join(folder, name);
    const found = orElse(() => entryAt(path), undefined);
    if (found?.isFile() || found?.isSymbolicLink()) files.set(path, stampAt(path));
    if (found?.isDirectory()) { for (const [inner, stamp] of filesIn(path)) files.set(inner, stamp); }
  }
  if (isClosed) orElse(() => chmodSync(folder, mode), undefined);
  return files;
}
