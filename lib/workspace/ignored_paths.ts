import { join } from "node:path";
import picomatch from "picomatch";
import { pathExists } from "../host/files.ts";
import { type Git, outputOfGit, partsOf, READING } from "../git/run_git.ts";

/** Which ignored paths some globs name. Paths are relative to the top level, with `/`. */
export interface IgnoredPaths {
  readonly paths: readonly string[];
  /** Named by a glob, but git tracks files in it: a clean checkout has its own. */
  readonly tracked: readonly string[];
}

/** Ignored files and folders that a glob names; one without `/` names them at any depth. A folder is one path. */
export async function ignoredPaths(git: Git, topLevel: string, globs: readonly string[]): Promise<IgnoredPaths> {
  const anywhere = globs.map((glob) => glob.includes("/") ? glob.replace(/^\/|\/$/g, "") : `**/${glob}`);
  const isNamed = picomatch(anywhere, { dot: true });
  const named = new Set<string>();
  for (const path of await listed(git, ["--others", "--ignored", "--exclude-standard", "--directory"])) {
    const parts = path.split("/");
    const at = parts.findIndex((_, index) => isNamed(parts.slice(0, index + 1).join("/")));
    if (at !== -1) named.add(parts.slice(0, at + 1).join("/"));
  }
  const inside = globs.filter((glob) => glob.includes("/") && !picomatch.scan(glob).isGlob);
  for (const path of inside.length === 0 ? [] : await ignoredAmong(git, inside)) {
    if (await pathExists(join(topLevel, path))) named.add(path);
  }
  const files = named.size === 0 ? [] : await listed(git, ["--cached", "--", ...named]);
  const isTracked = (path: string): boolean => files.some((file) => file === path || file.startsWith(`${path}/`));
  const paths = [...named].sort();
  return { paths: paths.filter((path) => !isTracked(path)), tracked: paths.filter(isTracked) };
}

/** Paths inside of a folder that is ignored as a whole are not listed: they are asked for by name. */
async function ignoredAmong(git: Git, paths: readonly string[]): Promise<readonly string[]> {
  const input = paths.join("\0");
  const environment = { ...READING, GIT_LITERAL_PATHSPECS: undefined }; // which this command refuses
  const end = await git(["check-ignore", "--stdin", "-z"], { environment, input });
  return partsOf(end.stdout).map((path) => path.replace(/\/$/, ""));
}

async function listed(git: Git, arguments_: readonly string[]): Promise<readonly string[]> {
  const text = await outputOfGit(git, ["ls-files", "-z", ...arguments_], { environment: READING });
  return partsOf(text).map((path) => path.replace(/\/$/, ""));
}
