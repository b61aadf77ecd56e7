import { type Dirent, existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { WatchedRepository } from "./types.ts";
import { entriesIn, entryAt, linkAt, namesIn, orElse } from "./looks.ts";

/** The mode of a gitlink, as each version of an index holds it. */
const GITLINK = Buffer.from([0, 0, 0xe0, 0]);
const HEADER_BYTES = 12;
const MODE_AT = 24;
const HASH_AT = 40;
const EXTENDED = 0x4000;
const SETTINGS = ["config", "config.worktree"];
/** Nested repositories that hold each other end here. */
const MOST = 1000;

/** A file of settings that git reads if it enters a nested repository. */
interface NestedSettings {
  readonly path: string;
  /** The `.git` by which git gets there. */
  readonly entry: string;
  /** True if it is in the repository, where it can be put back. */
  readonly isInside: boolean;
}

/** The settings of the repositories inside of this one that git enters: those that the index has as a commit. */
export function nestedSettings(repository: WatchedRepository): readonly NestedSettings[] {
  const roots = [repository.topLevel, repository.commonDirectory].map((folder) => `${realOf(folder)}${sep}`);
  const found = new Map<string, NestedSettings>();
  const entries = new Set<string>();
  const open = [repository];
  for (let next = open.pop(); next !== undefined && entries.size < MOST; next = open.pop()) {
    for (const topLevel of gitlinksOf(next)) {
      const entry = join(topLevel, ".git");
      const gitDirectory = gitDirectoryAt(entry);
      if (entries.has(entry) || gitDirectory === null) continue;
      entries.add(entry);
      const commonDirectory = resolve(gitDirectory, textAt(join(gitDirectory, "commondir"))?.trim() ?? "");
      for (const folder of [gitDirectory, commonDirectory]) {
        const isInside = roots.some((root) => `${realOf(folder)}${sep}`.startsWith(root));
        for (const path of SETTINGS.map((name) => join(folder, name))) found.set(path, { path, entry, isInside });
      }
      open.push({ topLevel, gitDirectory, commonDirectory });
    }
  }
  for (const name of SETTINGS) found.delete(join(repository.commonDirectory, name)); // looked after as its own
  return [...found.values()];
}

/** Sections and keys that name no program and no other file; `*`: whatever their keys. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ["advice", "*"],
  ["branch", "*"],
  ["color", "*"],
  ["commit", "gpgsign verbose cleanup"],
  [
    "core",
    "repositoryformatversion filemode bare logallrefupdates worktree symlinks ignorecase precomposeunicode autocrlf eol safecrlf longpaths",
  ],
  ["extensions", "objectformat"],
  ["fetch", "prune prunetags"],
  ["merge", "ff conflictstyle"],
  ["pull", "ff rebase"],
  ["push", "default autosetupremote followtags"],
  ["rebase", "autosquash autostash updaterefs"],
  ["remote", "url pushurl fetch tagopt prune gh-resolved"],
  ["rerere", "enabled autoupdate"],
  ["submodule", "url active branch"],
  ["tag", "gpgsign"],
  ["user", "*"],
]);
const SECTION_REGEXP = /^\s*\[([a-z]+)(?: "[^"\\\]]*")?\]\s*$/i;
const KEY_REGEXP = /^\s*([a-z][a-z0-9-]*)\s*=[^\\]*$/i;

/** The settings that may name a program or another file, each line with its section. Unknown ones may. */
export function programSettings(text: string): readonly string[] {
  return linesOf(text).flatMap(({ line, section, isPlain }) => isPlain ? [] : [`${section}\n${line}`]);
}

/** A configuration in which only these settings may name a program. */
export function withPrograms(text: string, programs: readonly string[]): string {
  const plain = linesOf(text).filter(({ isPlain }) => isPlain).map(({ line }) => line);
  return [plain.join("\n").trimEnd(), ...programs, ""].join("\n");
}

function linesOf(text: string) {
  let [section, keys] = ["", [] as readonly string[]];
  return text.split("\n").map((line) => {
    const name = SECTION_REGEXP.exec(line)?.[1];
    const key = KEY_REGEXP.exec(line)?.[1]?.toLowerCase();
    const isNamed = key !== undefined && (keys.includes(key) || keys.includes("*"));
    if (line.trimStart().startsWith("[")) {
      [section, keys] = [line, PLAIN.get(name?.toLowerCase() ?? "")?.split(" ") ?? []];
    }
    return { line, section, isPlain: /^\s*(?:[#;][^]*)?$/.test(line) || name !== undefined || isNamed };
  });
}

function gitDirectoryAt(entry: string): string | null {
  const found = entryAt(entry);
  if (found === undefined) return null;
  if (!found.isFile()) return realOf(entry);
  const target = /^gitdir: (.+?)\s*$/.exec(textAt(entry) ?? "")?.[1];
  return target === undefined ? null : realOf(resolve(dirname(entry), target));
}

/** The folders that the index has as a commit of another repository. */
function gitlinksOf({ topLevel, gitDirectory, commonDirectory }: WatchedRepository): readonly string[] {
  const names = namesIn(gitDirectory).filter((name) => name === "index" || name.startsWith("sharedindex."));
  return names.flatMap((name) => {
    const bytes = bytesAt(join(gitDirectory, name));
    if (bytes?.includes(GITLINK) !== true) return [];
    const isLong = /^\s*objectformat\s*=\s*sha256/im.test(textAt(join(commonDirectory, "config")) ?? "");
    return gitlinksIn(bytes, isLong ? 32 : 20).map((link) => join(topLevel, link));
  });
}

/** The paths of an index's gitlinks (gitformat-index, versions 2 to 4). */
function gitlinksIn(bytes: Buffer, hashBytes: number): readonly string[] {
  const links: string[] = [];
  const version = bytes.readUInt32BE(4);
  let name = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32BE(8); left > 0 && at + HASH_AT + hashBytes + 2 < bytes.length; left--) {
    const flagsAt = at + HASH_AT + hashBytes;
    const isExtended = version >= 3 && (bytes.readUInt16BE(flagsAt) & EXTENDED) !== 0;
    let start = flagsAt + (isExtended ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const dropped = offsetAt(bytes, start);
      start = dropped.end;
      kept = Math.max(0, name.length - dropped.value);
    }
    const end = bytes.indexOf(0, start);
    if (end === -1) break;
    name = Buffer.concat([name.subarray(0, kept), bytes.subarray(start, end)]);
    if (bytes.subarray(at + MODE_AT, at + MODE_AT + GITLINK.length).equals(GITLINK)) links.push(name.toString("utf8"));
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return links;
}

/** A number of variable length as in an offset delta. */
function offsetAt(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let end = start;
  let byte = bytes[end++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[end++] ?? 0;
    value = ((value + 1) * 0x80) + (byte & 0x7f);
  }
  return { value, end };
}

function bytesAt(path: string): Buffer | null {
  return orElse(() => lstatSync(path).isFile() ? readFileSync(path) : null, null);
}

function textAt(path: string): string | null {
  return bytesAt(path)?.toString("utf8") ?? null;
}

function realOf(path: string): string {
  return orElse(() => realpathSync(path), path);
}

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
    for (const entry of entriesIn(folder)) {
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
