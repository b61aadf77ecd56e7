import { join } from "node:path";
import { isDirectory, readText } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import { outputFrom } from "./run_git.ts";
import type { Repository, WithGit } from "./repository.ts";

/** The paths that are repositories of their own, and no submodules. Paths are relative to the top level. */
export async function nestedIn({ topLevel }: Repository, paths: readonly string[]): Promise<readonly string[]> {
  const plain = [...new Set(paths.map((path) => path.replace(/\/$/, "")))];
  const found: string[] = [];
  for (const path of plain) {
    const isFolder = await isDirectory(join(topLevel, path));
    if (isFolder && factsOf(join(topLevel, path, ".git")) !== null) found.push(path);
  }
  if (found.length === 0) return [];
  const modules = (await readText(join(topLevel, ".gitmodules"))) ?? "";
  const known = new Set([...modules.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path]) => path));
  return found.filter((path) => !known.has(path));
}

/** Paths that HEAD has as another repository's commit. @throws {RalphError} git-failed */
export async function linksAtHead(repository: WithGit): Promise<readonly string[]> {
  const listed = (await outputFrom(repository, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"])).split("\0");
  return listed.filter((line) => line.startsWith("160000 ")).map((line) => line.slice(line.indexOf("\t") + 1));
}

/** For the agent and the person. Pure. */
export function nestedMessage(paths: readonly string[]): string {
  return paths.map((path) =>
    `${path}/ is a git repository of its own, so no commit holds its files: remove ${path}/.git to make them a part of this one`
  ).join("; ");
}
