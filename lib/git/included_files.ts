import { dirname, join, resolve, sep } from "node:path";
import { readText } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import type { GitFolders } from "./locks.ts";
import { createGit, READING } from "./run_git.ts";

/**
 * Files of the working tree that the repository's settings include (`include.path = ../.gitconfig`), whether they are
 * there or not. Git is asked only where its settings name one.
 *
 * @returns absolute paths
 */
export async function includedFiles(
  host: Host,
  topLevel: string,
  { commonDirectory }: GitFolders,
): Promise<readonly string[]> {
  const settings = await readText(join(commonDirectory, "config"));
  if (settings === null || !/^\s*\[include/im.test(settings)) return [];
  const arguments_ = ["config", "--null", "--show-origin", "--type=path", "--get-regexp", "^include(if\\..*)?\\.path$"];
  const { stdout } = await createGit(host, topLevel)(arguments_, { environment: READING });
  const fields = stdout.split("\0");
  return fields.flatMap((origin, index) => {
    const path = /\n(.+)$/s.exec(fields[index + 1] ?? "")?.[1];
    if (index % 2 === 1 || path === undefined) return [];
    const found = resolve(topLevel, dirname(origin.replace(/^file:/, "")), path);
    return found.startsWith(`${topLevel}${sep}`) && !found.startsWith(`${commonDirectory}${sep}`) ? [found] : [];
  });
}
