/**
 * A disk that keeps what was synced and loses the rest. Names are kept in order, as journaling file systems do: a sync
 * keeps every change of a name before it, and the content of its own file only.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Operation } from "./trace.ts";

interface File {
  bytes: Buffer;
  /** The content that is on the disk for certain. */
  durable: Buffer;
  /** The end of the last write. */
  end: number;
  readonly mode: number;
}

type Entry = { readonly kind: "folder" } | { readonly kind: "link"; readonly target: string } | {
  readonly kind: "file";
  readonly file: File;
};

/** A tree in memory, by absolute paths. */
export type Names = ReadonlyMap<string, Entry>;

/** The losses of a power cut. `killed`: only the processes end. */
export const LOSSES = ["killed", "names-and-contents-lost", "contents-lost", "contents-torn"] as const;
export type Loss = typeof LOSSES[number];

/** A tree as it is found after a crash. */
export interface Found {
  readonly folders: readonly string[];
  readonly links: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>;
  /** Equal for equal trees. */
  readonly digest: string;
}

/** Reads a tree from the real disk: everything in it counts as synced. */
export function readTree(root: string): Names {
  const names = new Map<string, Entry>([[root, { kind: "folder" }]]);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) names.set(path, { kind: "folder" });
    else if (entry.isSymbolicLink()) names.set(path, { kind: "link", target: readlinkSync(path) });
    else if (entry.isFile()) {
      const bytes = readFileSync(path);
      names.set(path, { kind: "file", file: { bytes, durable: bytes, end: 0, mode: lstatSync(path).mode & 0o777 } });
    }
  }
  return names;
}

/** The tree that a crash leaves after an operation, with one kind of loss. */
export interface Crash {
  /** The index of the operation. */
  readonly after: number;
  readonly loss: Loss;
}

/** The crashes after each operation that changed the tree, for each kind of loss; those that leave equal trees once. */
export function crashes(start: Names, operations: readonly Operation[]): readonly Crash[] {
  const disk = new Disk(start);
  const seen = new Set<string>();
  const found: Crash[] = [];
  for (const [after, operation] of operations.entries()) {
    disk.apply(operation);
    if (operation.type === "sync") continue; // no tree that was not there before
    for (const loss of LOSSES) {
      const { digest } = disk.found(loss);
      if (seen.has(digest)) continue;
      seen.add(digest);
      found.push({ after, loss });
    }
  }
  return found;
}

/** The tree that a crash leaves. */
export function treeAfter(start: Names, operations: readonly Operation[], { after, loss }: Crash): Found {
  const disk = new Disk(start);
  for (const operation of operations.slice(0, after + 1)) disk.apply(operation);
  return disk.found(loss);
}

/** A tree that was read, as it is. */
export function asFound(names: Names): Found {
  return foundAfter(names, "killed");
}

class Disk {
  readonly #names: Map<string, Entry>;
  #syncedNames: Names;

  constructor(start: Names) {
    this.#names = new Map([...start].map(([path, entry]) => [path, copyOf(entry)]));
    this.#syncedNames = new Map(this.#names);
  }

  apply(operation: Operation): void {
    if (operation.type !== "sync") return apply(this.#names, operation);
    this.#syncedNames = new Map(this.#names);
    sync(this.#names, operation.path);
  }

  found(loss: Loss): Found {
    return foundAfter(loss === "names-and-contents-lost" ? this.#syncedNames : this.#names, loss);
  }
}

function copyOf(entry: Entry): Entry {
  return entry.kind === "file" ? { kind: "file", file: { ...entry.file } } : entry;
}

/** Puts a tree onto the real disk, all of it at one instant: nothing in it is newer than the end of the run. */
export function writeTree(root: string, { folders, links, files }: Found): void {
  const now = new Date();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  for (const path of folders) mkdirSync(path, { recursive: true });
  for (const [path, { bytes, mode }] of files) {
    writeFileSync(path, bytes);
    chmodSync(path, mode);
    utimesSync(path, now, now);
  }
  for (const [path, target] of links) symlinkSync(target, path);
}

function sync(names: Names, path: string): void {
  const one = names.get(path);
  const all = path === "" ? [...names.values()] : one === undefined ? [] : [one];
  for (const entry of all) if (entry.kind === "file") entry.file.durable = entry.file.bytes;
}

function apply(names: Map<string, Entry>, operation: Operation): void {
  const { path } = operation;
  switch (operation.type) {
    case "create":
      if (!names.has(path)) names.set(path, { kind: "file", file: emptyFile() });
      return;
    case "truncate":
      return resize(names, path, 0);
    case "resize":
      return resize(names, path, operation.size);
    case "write":
      return write(names, path, operation.bytes, operation.at);
    case "mkdir":
      names.set(path, { kind: "folder" });
      return;
    case "symlink":
      names.set(path, { kind: "link", target: operation.target });
      return;
    case "unlink":
    case "rmdir":
      names.delete(path);
      return;
    case "link": {
      const entry = names.get(operation.from);
      if (entry !== undefined) names.set(path, entry);
      return;
    }
    case "rename":
      return rename(names, operation.from, path);
    case "exchange": {
      const [one, other] = [names.get(operation.from), names.get(path)];
      if (one !== undefined) names.set(path, one);
      if (other !== undefined) names.set(operation.from, other);
      return;
    }
    case "sync":
      return;
  }
}

function rename(names: Map<string, Entry>, from: string, to: string): void {
  for (const [path, entry] of Array.from(names)) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    names.delete(path);
    names.set(`${to}${path.slice(from.length)}`, entry);
  }
}

function fileAt(names: Names, path: string): File | null {
  const entry = names.get(path);
  return entry?.kind === "file" ? entry.file : null;
}

function resize(names: Names, path: string, size: number): void {
  const file = fileAt(names, path);
  if (file === null) return;
  file.bytes = size <= file.bytes.length
    ? file.bytes.subarray(0, size)
    : Buffer.concat([file.bytes, Buffer.alloc(size - file.bytes.length)]);
  file.end = size;
}

function write(names: Names, path: string, bytes: Buffer, at: number | null): void {
  const file = fileAt(names, path);
  if (file === null) return; // unlinked while open
  const start = at ?? file.bytes.length;
  const before = file.bytes.subarray(0, start);
  const gap = Buffer.alloc(Math.max(0, start - before.length));
  file.bytes = Buffer.concat([before, gap, bytes, file.bytes.subarray(start + bytes.length)]);
  file.end = start + bytes.length;
}

function foundAfter(names: Names, loss: Loss): Found {
  const folders: string[] = [];
  const links = new Map<string, string>();
  const files = new Map<string, { readonly bytes: Buffer; readonly mode: number }>();
  const digest = createHash("sha256");
  for (const [path, entry] of [...names].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (entry.kind === "folder") folders.push(path);
    else if (entry.kind === "link") links.set(path, entry.target);
    else {
      const bytes = left(entry.file, loss);
      files.set(path, { bytes, mode: entry.file.mode });
      digest.update(digestOf(bytes));
    }
    digest.update(`\0${path}\0${entry.kind}\0`);
  }
  return { folders, links, files, digest: digest.digest("hex") };
}

/** Most files are the same in most trees. */
const digests = new WeakMap<Buffer, Buffer>();

function digestOf(bytes: Buffer): Buffer {
  const digest = digests.get(bytes) ?? createHash("sha256").update(bytes).digest();
  digests.set(bytes, digest);
  return digest;
}

function left({ bytes, durable }: File, loss: Loss): Buffer {
  if (loss === "killed") return bytes;
  if (loss !== "contents-torn") return durable;
  const begins = bytes.length > durable.length && bytes.subarray(0, durable.length).equals(durable);
  return begins ? bytes.subarray(0, durable.length + Math.ceil((bytes.length - durable.length) / 2)) : durable;
}

function emptyFile(): File {
  return { bytes: Buffer.alloc(0), durable: Buffer.alloc(0), end: 0, mode: 0o644 };
}
