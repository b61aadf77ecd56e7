import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { entryAt, openFile } from "./looks.ts";

/** Files of a Python environment that hold paths of the project. */
const HOLDS_PATHS_REGEXP = /\.pth$|^__editable__|^pyvenv\.cfg$/;

/**
 * Lets what is below `top` lead below `to` where it led below `from`: absolute links, `*.pth` and editable installs,
 * first lines of scripts, and what is in folders named `bin`.
 */
export function mapPaths(top: string, from: string, to: string): void {
  const entry = entryAt(top);
  if (entry === undefined) return;
  if (entry.isSymbolicLink()) return mapLink(top, from, to);
  if (entry.isDirectory()) {
    for (const name of fs.readdirSync(top)) mapPaths(join(top, name), from, to);
  } else if (entry.isFile() && (HOLDS_PATHS_REGEXP.test(basename(top)) || isScript(top, entry.mode))) {
    mapText(top, from, to, entry.mode);
  }
}

/** A path below `from` (or `from` itself) as the same path below `to`; any other as it is. */
export function mapPath(path: string, from: string, to: string): string {
  return path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

function mapLink(path: string, from: string, to: string): void {
  const target = fs.readlinkSync(path);
  const mapped = mapPath(target, from, to);
  if (mapped === target) return;
  fs.rmSync(path);
  fs.symlinkSync(mapped, path);
}

function isScript(path: string, mode: number): boolean {
  if (basename(dirname(path)) !== "bin" && (mode & 0o111) === 0) return false;
  using file = openFile(path);
  const start = Buffer.alloc(2);
  fs.readSync(file.descriptor, start, 0, 2, 0);
  return start.toString("latin1") === "#!" || (basename(dirname(path)) === "bin" && start[0] !== 0x7f);
}

/** Bytes that are no text are left as they are: latin1 reads and writes each byte as one character. */
function mapText(path: string, from: string, to: string, mode: number): void {
  const [before, [source, target]] = [
    fs.readFileSync(path, "latin1"),
    [from, to].map((text) => Buffer.from(text).toString("latin1")),
  ];
  const pieces = before.split(source!);
  if (pieces.length === 1) return;
  const text = pieces.reduce((joined, piece) => joined + (/^[\w.-]/.test(piece) ? source! : target!) + piece);
  fs.writeFileSync(path, text, "latin1");
  fs.chmodSync(path, mode & 0o7777);
}
