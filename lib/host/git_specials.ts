import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { entryAt, linkAt, orElse } from "./looks.ts";

/**
 * The entries of a git directory that git would follow or be stopped by, each path with its kind. Links, pipes and
 * devices; folders in the place of git's files; files with a second name that git writes in place.
 */
export type Specials = ReadonlyMap<string, string>;

/** The folders that git reads and writes by itself; others (`lfs`, `annex`, `hooks`) are looked at from outside. */
const ENTERED: Readonly<Record<string, Kind>> = {
  info: "folder",
  logs: "logs",
  modules: "directories",
  objects: "objects",
  ralph: "ralph",
  "rebase-apply": "folder",
  "rebase-merge": "folder",
  refs: "folder",
  reftable: "folder",
  sequencer: "folder",
  worktrees: "directories",
};

/** `HEAD`, `COMMIT_EDITMSG`, `index`, and every lock: git's own are files. */
const FILE_REGEXP = /^(?:[A-Z][A-Z_]*|index|packed-refs|config(?:\.worktree)?|commondir|gitdir|shallow)$/;
/** Git opens these and writes, where it replaces all others. */
const IN_PLACE_REGEXP = /(?:_MSG|_EDITMSG|FETCH_HEAD)$/;
/** Names in Ralph's own folder: links that Ralph makes, and files that were set aside. */
const OWN_NAMES: readonly string[] = ["aside", "bin"];

type Kind = "git" | "directories" | "objects" | "logs" | "ralph" | "folder";

/** Reads them; a folder that cannot be read has none. */
export function readSpecials(gitDirectory: string): Specials {
  const found = new Map<string, string>();
  const folders: { readonly path: string; readonly kind: Kind }[] = [{ path: gitDirectory, kind: "git" }];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { path: folder, kind } = next;
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      const special = specialOf(entry, path, kind);
      if (special !== null) found.set(path, special);
      else if (entry.isDirectory()) {
        const inside = kindOf(entry.name, path, kind);
        if (inside !== null) folders.push({ path, kind: inside });
      }
    }
  }
  return found;
}

function specialOf(entry: Dirent, path: string, kind: Kind): string | null {
  if (kind === "ralph" && OWN_NAMES.includes(entry.name) && entry.isDirectory()) return null;
  if (entry.isSymbolicLink()) return `link to ${linkAt(path) || "nowhere"}`;
  if (entry.isFIFO()) return "pipe";
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return "device";
  if (entry.isDirectory()) {
    const isFile = entry.name.endsWith(".lock") || (kind === "git" && FILE_REGEXP.test(entry.name));
    return isFile ? "folder" : null;
  }
  const inPlace = kind === "logs" || (kind === "git" && IN_PLACE_REGEXP.test(entry.name));
  return inPlace ? sharedBy(path) : null;
}

function kindOf(name: string, path: string, kind: Kind): Kind | null {
  switch (kind) {
    case "git":
      return ENTERED[name] ?? null;
    case "directories":
      return existsSync(join(path, "HEAD")) ? "git" : "directories";
    case "objects":
      return name === "info" || name === "pack" ? "folder" : null; // objects themselves are only ever renamed into place
    case "ralph":
      return OWN_NAMES.includes(name) ? null : "folder";
    case "logs":
    case "folder":
      return kind;
  }
}

/** A file that has another name as well: writing into it writes there. */
function sharedBy(path: string): string | null {
  const found = entryAt(path);
  return found === undefined || found.nlink < 2 ? null : `file that is also elsewhere (${found.dev}:${found.ino})`;
}

function entriesOf(folder: string): readonly Dirent[] {
  return orElse(() => readdirSync(folder, { withFileTypes: true }), []);
}
