import { chmodSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import type { Confinement } from "./confinement.ts";
import { ensurePrivateDirectory, removeEmptyFolders, removeOwn } from "./files.ts";
import { entryAt, namesIn, orElse } from "./looks.ts";

/** More files are not counted. */
const MOST_FILES = 1000;
const MOST_NAMED = 3;
const NAME_REGEXP = /^home-(\d+)-/;

/** The overlay of one process: `home` gets what it writes. Disposed, a turn's files stay there, and all else is removed. */
export async function upperFolder(
  { overlay, role }: Confinement,
  name: string,
  tell: (message: string) => void,
): Promise<Pick<Confinement, "overlay"> & AsyncDisposable> {
  if (overlay === null) return { overlay, async [Symbol.asyncDispose]() {} };
  const end = async (folder: string): Promise<void> => {
    const message = role === "check" ? null : setAsideText(join(folder, "home"), overlay.at);
    const removed = message === null ? [folder] : ["work", "seen"].map((part) => join(folder, part));
    for (const path of removed) await removeClosed(path, dirname(path)).catch(() => {});
    await removeEmptyFolders(overlay.on, dirname(dirname(overlay.on)));
    if (message !== null) tell(message);
  };
  for (const left of namesIn(overlay.on)) {
    const owner = NAME_REGEXP.exec(left)?.[1];
    const isLeft = owner !== undefined && !orElse(() => process.kill(Number(owner), 0), false);
    if (isLeft && entryAt(join(overlay.on, left, "work")) !== undefined) await end(join(overlay.on, left));
  }
  const on = join(overlay.on, `home-${process.pid}-${name}`);
  for (const path of [overlay.on, on, ...["home", "work", "seen"].map((part) => join(on, part))]) {
    await ensurePrivateDirectory(path);
  }
  chmodSync(join(on, "home"), statSync(overlay.at).mode);
  return { overlay: { at: overlay.at, on }, [Symbol.asyncDispose]: () => end(on) };
}

function setAsideText(home: string, at: string): string | null {
  const files: string[] = [];
  for (const { path, found } of entriesIn(home)) {
    if (found.isFile() || found.isSymbolicLink()) files.push(path); // a device notes that something is gone
    if (files.length === MOST_FILES) break;
  }
  if (files.length === 0) return null;
  const more = files.length - MOST_NAMED;
  const named = files.slice(0, MOST_NAMED).map((path) => join(at, relative(home, path))).join(", ");
  const count = more > 0 ? ` and ${files.length === MOST_FILES ? "at least " : ""}${more} more` : "";
  return `a turn wrote ${named}${count}, outside of the tree: set aside in ${home}`;
}

/** Opens closed folders: else what is in them would be taken for nothing. Sorted. */
function* entriesIn(folder: string): Generator<{ readonly path: string; readonly found: Stats }> {
  orElse(() => chmodSync(folder, statSync(folder).mode | 0o700), undefined);
  for (const name of [...namesIn(folder)].sort()) {
    const path = join(folder, name);
    const found = entryAt(path);
    if (found === undefined) continue;
    yield { path, found };
    if (found.isDirectory()) yield* entriesIn(path);
  }
}

/** Removes also what has folders that are closed: an overlay's own, and those of some package managers. */
async function removeClosed(folder: string, below: string): Promise<void> {
  Array.from(entriesIn(folder));
  await removeOwn(folder, below);
}
