import { realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";
import { namesIn, orElse } from "./looks.ts";
import { pathExists } from "./path_facts.ts";
import type { Environment } from "./types.ts";

/** The file that each name on PATH leads to: its path, and what changes whenever it is written or replaced. */
export type Programs = ReadonlyMap<string, { readonly path: string; readonly stamp: string }>;

/**
 * The programs that names on PATH lead to now, as programs started in `root` find them: folders that npm and its like
 * put before PATH (`node_modules/.bin` of every folder above the root) come first.
 *
 * @param without a folder whose programs do not count; `null`: all do
 */
export function programsOf({ variables }: Environment, root: string, without: string | null): Programs {
  const found = new Map<string, { readonly path: string; readonly stamp: string }>();
  const onPath = (variables["PATH"] ?? variables["Path"] ?? "").split(delimiter).filter(isAbsolute);
  const folders = [...foldersAbove(root).map((folder) => join(folder, "node_modules", ".bin")), ...onPath];
  const seen = new Set<string>();
  for (const folder of folders) {
    if (without !== null && `${folder}${sep}`.startsWith(`${without}${sep}`)) continue;
    const target = orElse(() => realpathSync.native(folder), folder);
    if (seen.has(target)) continue; // `/bin` often leads to `/usr/bin`
    seen.add(target);
    const before = join(folder, sep);
    for (const name of namesIn(folder)) {
      if (found.has(name)) continue;
      const path = before + name; // of thousands
      const stamp = stampOf(path);
      if (stamp !== null) found.set(name, { path, stamp });
    }
  }
  return found;
}

/** Paths of programs that a name leads to now, and that led elsewhere, or to another content, before. Pure. */
export function changedPrograms(before: Programs, now: Programs): readonly string[] {
  return [...now].flatMap(([name, { path, stamp }]) => {
    const old = before.get(name);
    return old === undefined || (old.path === path && old.stamp === stamp) ? [] : [path];
  });
}

/** The folder itself and all above it, the innermost first. Pure. */
export function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...foldersAbove(above)];
}

/** The top of the working tree: the nearest folder above with a git directory, else the folder itself. */
export async function treeOf(cwd: string): Promise<string> {
  for (const folder of foldersAbove(cwd)) if (await pathExists(join(folder, ".git"))) return folder;
  return cwd;
}

/** `null` for what cannot be started: a folder, a dead link, a file without the right to run it. */
function stampOf(path: string): string | null {
  const found = orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);
  if (found?.isFile() !== true || (found.mode & 0o111) === 0) return null;
  return `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
