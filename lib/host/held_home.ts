/**
 * The namespace of mounts that the processes of a run share under `light`: the home folder lies there under an overlay,
 * so that a check finds what a turn wrote in it, and the person does not.
 *
 * @module
 */
import { chmodSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { enterArguments, holdArguments, type HoldRights } from "./bubblewrap.ts";
import type { Confinement } from "./confinement.ts";
import { ensurePrivateDirectory, removeEmptyFolders, removeOwn } from "./files.ts";
import { entryAt, namesIn, orElse } from "./looks.ts";
import type { Host, ProcessEnd } from "./types.ts";

type Overlay = NonNullable<Confinement["overlay"]>;

/** More files are not counted. */
const MOST_FILES = 1000;
const MOST_NAMED = 3;
const NAME_REGEXP = /^home-(\d+)-/;

/** The shared namespace, for as long as it is not disposed. Then a turn's files stay set aside, and all else is removed. */
export interface HeldHome extends AsyncDisposable {
  /** `null` if the home folder has no overlay. */
  readonly overlay: Overlay | null;
  /** The words that start a program in it; or how it could not be made. */
  enter(): Promise<readonly string[] | ProcessEnd>;
  /** Call when a process has ended: names the files that a turn put into the home folder. */
  look(role: Confinement["role"]): void;
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
    look: (role) => written?.look(role),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await holding?.end;
      if (overlay !== null) await endFolders(overlay, written);
    },
  };
}

/** The files that come into an overlay. */
interface Written {
  look(role: Confinement["role"]): void;
  /** A turn wrote one of them. */
  isTurns(): boolean;
}

function createWritten({ at, on }: Overlay, tell: (message: string) => void): Written {
  const known = new Set<string>();
  const home = join(on, "home");
  let isTurns = false;
  return {
    isTurns: () => isTurns,
    look(role) {
      const fresh = filesIn(home).filter((path) => !known.has(path));
      for (const path of fresh) known.add(path);
      if (role === "check" || fresh.length === 0) return;
      isTurns = true;
      tell(setAsideText(fresh, { at, home }));
    },
  };
}

async function madeFolders({ at, on: parent }: Overlay, name: string, tell: (text: string) => void): Promise<Overlay> {
  for (const left of namesIn(parent)) {
    const owner = NAME_REGEXP.exec(left)?.[1];
    const isLeft = owner !== undefined && !orElse(() => process.kill(Number(owner), 0), false);
    const overlay = { at, on: join(parent, left) };
    if (isLeft && entryAt(join(overlay.on, "work")) !== undefined) {
      await endFolders(overlay, createWritten(overlay, tell));
    }
  }
  const on = join(parent, `home-${process.pid}-${name}`);
  for (const path of [parent, on, ...["home", "work", "seen"].map((part) => join(on, part))]) {
    await ensurePrivateDirectory(path);
  }
  chmodSync(join(on, "home"), statSync(at).mode);
  return { at, on };
}

async function endFolders({ on }: Overlay, written: Written | null): Promise<void> {
  written?.look("turn");
  openFolders(on);
  const removed = written?.isTurns() === true ? ["work", "seen"].map((part) => join(on, part)) : [on];
  for (const path of removed) await removeOwn(path, dirname(path)).catch(() => {});
  const parent = dirname(on);
  await removeEmptyFolders(parent, dirname(dirname(parent)));
}

function setAsideText(files: readonly string[], { at, home }: { readonly at: string; readonly home: string }): string {
  const more = files.length - MOST_NAMED;
  const named = files.slice(0, MOST_NAMED).map((path) => join(at, relative(home, path))).join(", ");
  const count = more > 0 ? ` and ${files.length === MOST_FILES ? "at least " : ""}${more} more` : "";
  return `a turn wrote ${named}${count}, outside of the tree: set aside in ${home}`;
}

/** An overlay's own folders are closed, and those of some package managers. */
function openFolders(folder: string): void {
  orElse(() => chmodSync(folder, statSync(folder).mode | 0o700), undefined);
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    if (entryAt(path)?.isDirectory() === true) openFolders(path);
  }
}

/** Files and links, sorted; a device notes that something is gone. A folder that is closed is opened for the look. */
function filesIn(folder: string): readonly string[] {
  const mode = entryAt(folder)?.mode ?? 0;
  const isClosed = (mode & 0o500) !== 0o500;
  if (isClosed) orElse(() => chmodSync(folder, mode | 0o500), undefined);
  const files: string[] = [];
  for (const name of namesIn(folder).toSorted()) {
    const path = join(folder, name);
    const found = orElse(() => entryAt(path), undefined);
    if (found?.isFile() || found?.isSymbolicLink()) files.push(path);
    if (found?.isDirectory()) files.push(...filesIn(path));
    if (files.length >= MOST_FILES) break;
  }
  if (isClosed) orElse(() => chmodSync(folder, mode), undefined);
  return files.slice(0, MOST_FILES);
}
