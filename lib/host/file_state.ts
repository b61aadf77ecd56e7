import * as fs from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { orUnreadable, unreadable, unwritable } from "./file_errors.ts";
import { setAside } from "./remove_path.ts";
import { deepestPath } from "./resolve_inside.ts";
import { writeAtomic } from "./write_atomic.ts";
import { codeOf, entryAt, ifThere, isMissing } from "./looks.ts";

/** The state of a path, to be compared and restored later. Symbolic links are not followed. */
export type FileState =
  | { readonly kind: "missing" | "folder" | "special" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "text"; readonly bytes: Uint8Array; readonly executable: boolean }
  /** Too large to be kept in memory: `key` is made of size, inode and both times. */
  | { readonly kind: "large"; readonly key: string; readonly executable: boolean };

const UNREADABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Reads what is at a path; files of more than `maxBytes` as `large`. @throws {RalphError} file-unreadable */
export function readFileState(path: string, maxBytes: number): FileState {
  try {
    const found = entryAt(path);
    if (found === undefined) return { kind: "missing" };
    if (found.isSymbolicLink()) return { kind: "link", target: fs.readlinkSync(path) };
    if (found.isDirectory()) return { kind: "folder" };
    if (!found.isFile()) return { kind: "special" };
    const executable = (found.mode & 0o100) !== 0;
    if (found.size <= maxBytes) return { kind: "text", bytes: fs.readFileSync(path), executable };
    return { kind: "large", key: [found.size, found.ino, found.mtimeMs, found.ctimeMs].join(" "), executable };
  } catch (error) {
    if (isMissing(error)) return { kind: "missing" };
    if (UNREADABLE.has(codeOf(error))) return { kind: "special" };
    throw unreadable(path, error);
  }
}

/** True for the same content and the same kind of file. Pure. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind === "link" && other.kind === "link") return one.target === other.target;
  if (one.kind === "large" && other.kind === "large") {
    return one.key === other.key && one.executable === other.executable;
  }
  if (one.kind === "text" && other.kind === "text") {
    return one.executable === other.executable && Buffer.compare(one.bytes, other.bytes) === 0;
  }
  return one.kind === other.kind;
}

/**
 * Makes a path what it was. A link that is in its place is removed first, and so is a link in the place of a folder
 * above it, where that leads out of `base`; a folder is renamed into `aside`.
 *
 * @param aside an absolute path; `content`: the bytes, for a state that was too large to be kept
 * @throws {RalphError} file-unwritable
 */
export async function writeFileState(
  path: string,
  state: FileState,
  base: string,
  { aside, content }: { readonly aside: string; readonly content?: Uint8Array },
): Promise<void> {
  try {
    if (state.kind === "folder" || state.kind === "special") return;
    removeLinksAbove(path, base);
    const bytes = state.kind === "text" ? state.bytes : content;
    const found = entryAt(path);
    if (found?.isDirectory() === true) setAside(path, aside);
    else if (found !== undefined && (bytes === undefined || !found.isFile())) fs.rmSync(path, { force: true });
    if (state.kind === "link") {
      fs.mkdirSync(dirname(path), { recursive: true });
      return fs.symlinkSync(state.target, path);
    }
    if (bytes === undefined || !("executable" in state)) return;
    if (found?.isFile() === true) fs.chmodSync(path, found.mode | 0o200);
    await writeAtomic(path, bytes);
    const mode = fs.lstatSync(path).mode;
    fs.chmodSync(path, state.executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Absolute paths of all files and links below a folder, folders that `enter` refuses left out. Sorted. */
export function listFiles(folder: string, enter: (path: string) => boolean = () => true): readonly string[] {
  const files: string[] = [];
  const folders = [folder];
  for (const next of folders) {
    const entries = orUnreadable(next, () => ifThere(() => fs.readdirSync(next, { withFileTypes: true }), []));
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (!entry.isDirectory()) files.push(path);
      else if (enter(path)) folders.push(path);
    }
  }
  return files.sort();
}

/** A path with every symbolic link in it followed, as far as it is there. @throws {RalphError} file-unreadable */
export function realPath(path: string): string {
  return orUnreadable(path, () => deepestPath(path));
}

function removeLinksAbove(path: string, base: string): void {
  const parts = relative(base, dirname(path)).split(sep).filter((part) => part !== "" && part !== "..");
  for (let count = 1; count <= parts.length; count++) {
    const folder = resolve(base, ...parts.slice(0, count));
    const found = entryAt(folder);
    if (found === undefined) return;
    if (found.isDirectory()) continue;
    if (found.isSymbolicLink() && realPath(folder).startsWith(realPath(base) + sep)) continue;
    fs.rmSync(folder, { force: true });
    return;
  }
}
