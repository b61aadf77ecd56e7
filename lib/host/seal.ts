import { readdirSync } from "node:fs";
import { join } from "node:path";
import { exactEntryAt } from "./looks.ts";

/** Everything below a path, each with what only root can give to another file: inode and time of change. */
export type Seal = ReadonlyMap<string, string>;

/** Seals a file or a whole folder; symbolic links are not followed. Keys are relative to `top`, "" is itself. */
export function sealOf(top: string): Seal {
  const found = new Map<string, string>();
  const visit = (path: string, name: string): void => {
    const entry = exactEntryAt(path);
    if (entry === undefined) return;
    found.set(name, `${entry.ino} ${entry.ctimeNs} ${entry.mtimeNs} ${entry.size} ${entry.mode}`);
    if (!entry.isDirectory()) return;
    for (const child of readdirSync(path)) visit(join(path, child), name === "" ? child : `${name}/${child}`);
  };
  visit(top, "");
  return found;
}

/** The paths that differ between two seals, sorted. */
export function sealDifferences(before: Seal, now: Seal): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => before.get(path) !== now.get(path)).sort();
}
