import { posix } from "node:path";
import { contentsOf } from "../git/batch_reader.ts";
import type { Git } from "../git/run_git.ts";
import type { ListedEntry } from "../git/tree_listing.ts";
import { jsonIn } from "../host/data.ts";
import { hashText } from "../host/files.ts";

const LOCKS_REGEXP = namedLike(
  "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb deno.lock uv.lock poetry.lock " +
    "pdm.lock Pipfile.lock Cargo.lock go.sum composer.lock Gemfile.lock",
);

const MANIFESTS_REGEXP = namedLike(
  "package.json pyproject.toml setup.py setup.cfg requirements*.txt Pipfile Cargo.toml go.mod composer.json Gemfile",
);

/** A path whose last part is one of these names. */
function namedLike(names: string): RegExp {
  const patterns = names.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*").split(" ");
  return new RegExp(`(^|/)(${patterns.join("|")})$`);
}

/** Entries of a `package.json` that say what is installed; its scripts do not. */
const INSTALLED_REGEXP = /dependencies$|^(workspaces|overrides|resolutions|packageManager|pnpm)$/i;

/**
 * One text for the lock files and manifests of a commit: while it is the same, what is installed by them is the same.
 * A manifest counts where no lock file is in its folder or above it.
 */
export async function dependencyKey(git: Git, files: readonly ListedEntry[]): Promise<string> {
  const locks = files.filter(({ path }) => LOCKS_REGEXP.test(path));
  const locked = new Set(locks.map(({ path }) => posix.dirname(path)));
  const manifests = files.filter(({ path }) => MANIFESTS_REGEXP.test(path) && !isLocked(path, locked));
  const named = [...locks, ...manifests];
  const packages = named.filter(({ path }) => isPackage(path)).map(({ hash }) => hash);
  const texts = await contentsOf(git, packages); // a monorepo has a thousand
  return hashText(
    named.map(({ path, hash }) => `${path} ${isPackage(path) ? partOf(texts.get(hash), hash) : hash}`).join("\n"),
  );
}

function isPackage(path: string): boolean {
  return posix.basename(path) === "package.json";
}

/** `true` if a change of these paths may change the key: none of the others does. Pure. */
export function mayChangeKey(paths: readonly string[]): boolean {
  return paths.some((path) => LOCKS_REGEXP.test(path) || MANIFESTS_REGEXP.test(path));
}

function isLocked(path: string, locked: ReadonlySet<string>): boolean {
  const folder = posix.dirname(path);
  return locked.has(folder) || (folder !== "." && isLocked(folder, locked));
}

/** A `package.json` says this of the installed packages; `blob` if it cannot be read. */
function partOf(text: string | null | undefined, blob: string): string {
  const manifest = jsonIn(text ?? null);
  if (manifest === undefined) return blob;
  return JSON.stringify(Object.entries(manifest ?? {}).filter(([key]) => INSTALLED_REGEXP.test(key)));
}
