/**
 * The list of what a person has agreed to run on this machine: recipes and parts of configurations, by path and content,
 * in the user's state folder. The question itself is the command's.
 *
 * @module
 */
import { isAbsolute, join, relative, sep } from "node:path";
import { jsonIn, objectOr } from "../host/data.ts";
import type { RalphContext } from "../context/context.ts";
import { recipeInvalid } from "../errors/ralph_error.ts";
import { realPath } from "../host/file_state.ts";
import { hashFile, hashText, pathExists, readText, writeAtomic } from "../host/files.ts";
import type { Environment, Host } from "../host/types.ts";
import { localFiles } from "./local_files.ts";

/** One thing that is asked about. */
export interface Content {
  /** Absolute path of a recipe; behind that of a configuration follows `#` and the key. */
  readonly path: string;
  readonly sha256: string;
}

/** A project whose recipe or configuration is asked about: a list inside of its tree is none of the person's. */
export interface TrustPlace {
  readonly host: Pick<Host, "environment">;
  /** Absolute path of the project. */
  readonly root: string;
}

/** True when this very content at this path, with all that it imports of its own, was agreed to before. */
export async function isTrusted(place: TrustPlace, path: string): Promise<boolean> {
  return (await untrusted(place, [{ path, sha256: await hashOfAll(path) }])).length === 0;
}

/** The contents that were not agreed to before, as they are now. */
export async function untrusted<One extends Content>(
  { host, root }: TrustPlace,
  asked: readonly One[],
): Promise<readonly One[]> {
  const file = trustFile(host.environment);
  const known = isInside(root, file) ? [] : await readTrusted(file);
  return asked.filter((one) => !known.some((other) => isSame(one, other)));
}

/**
 * Remembers the recipe and its imports as they are now. An older content of the same path is forgotten. A list that is
 * inside of the project is not written.
 *
 * @throws {RalphError} recipe-invalid when there is no such file
 */
export async function trust(place: TrustPlace, path: string): Promise<void> {
  if (!await pathExists(path)) throw recipeInvalid(path, "the file does not exist", "name an existing file");
  await remember(place, [{ path, sha256: await hashOfAll(path) }]);
}

/** Remembers contents as agreed to, as `trust()` does. @param most the contents of a path that are kept, the newest */
export async function remember({ host, root }: TrustPlace, agreed: readonly Content[], most = 1): Promise<void> {
  const file = trustFile(host.environment);
  if (isInside(root, file) || agreed.length === 0) return;
  const known = (await readTrusted(file)).filter((one) => !agreed.some((other) => isSame(one, other)));
  const all = [...known, ...agreed.map(({ path, sha256 }) => ({ path, sha256 }))];
  const newer = ({ path }: Content, index: number): number =>
    all.slice(index + 1).filter((one) => one.path === path).length;
  const isAgreed = ({ path }: Content): boolean => agreed.some((one) => one.path === path);
  const recipes = all.filter((one, index) => !isAgreed(one) || newer(one, index) < most);
  await writeAtomic(file, `${JSON.stringify({ version: 2, recipes }, null, 2)}\n`);
}

function isSame(one: Content, other: Content): boolean {
  return one.path === other.path && one.sha256 === other.sha256;
}

/**
 * Why a recipe that was found, and not named, is not run where no one can be asked: `null` when git tracks it as it is,
 * with all that it imports of its own, and the last run's brief knows it so.
 */
export async function untrustedBecause(
  { root, repository, journal }: Pick<RalphContext, "journal" | "repository" | "root">,
  path: string,
): Promise<string | null> {
  if (repository === null) return "it is in no git repository";
  const known = journal.lastBrief()?.record.files ?? {};
  for (const file of await localFiles(path)) {
    const shown = relative(root, file).replaceAll(sep, "/");
    const inTree = relative(repository.topLevel, file).replaceAll(sep, "/");
    const tracked = await repository.git(["rev-parse", "--verify", "--quiet", `HEAD:${inTree}`]);
    const now = await repository.git(["hash-object", "--", file]);
    const raw = await repository.git(["hash-object", "--no-filters", "--", file]);
    if (now.exitCode !== 0 || tracked.stdout !== now.stdout) return `git does not track ${shown} as it is`;
    if (known[shown] !== raw.stdout.trim()) return `the last run did not know ${shown} as it is`;
  }
  return null;
}

async function hashOfAll(path: string): Promise<string> {
  const hashes: string[] = [];
  for (const file of await localFiles(path)) hashes.push(`${relative(path, file)} ${await hashFile(file) ?? "absent"}`);
  return hashText(hashes.join("\n"));
}

function isInside(root: string, file: string): boolean {
  const path = relative(realPath(root), realPath(file));
  return !path.startsWith("..") && !isAbsolute(path);
}

/** Absolute path of the list. */
export function trustFile(environment: Environment): string {
  return join(stateFolder(environment), "ralph", "trusted_recipes.json");
}

function stateFolder({ platform, variables, home }: Environment): string {
  if (platform === "win32") return variables["LOCALAPPDATA"] || join(home, "AppData", "Local");
  return variables["XDG_STATE_HOME"] || join(home, ".local", "state");
}

/** A damaged list trusts nothing: the person is asked again, and the list is written anew. */
async function readTrusted(file: string): Promise<readonly Content[]> {
  const { recipes } = objectOr(jsonIn(await readText(file)));
  return Array.isArray(recipes) ? recipes.filter(isEntry) : [];
}

function isEntry(value: unknown): value is Content {
  const entry = value as Partial<Content> | null;
  return typeof entry?.path === "string" && typeof entry.sha256 === "string";
}
