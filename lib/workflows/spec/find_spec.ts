import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { stateMissing } from "../../errors/ralph_error.ts";
import { pathExists, writeInside } from "../../host/files.ts";

/** Ralph looks for specs in these folders, relative to the root, in this order. */
const SPEC_FOLDERS: readonly string[] = ["", "ralph/specs", "specs"];

/** The places of a spec by the plan's name for it, relative to the root. */
export function filesOf(spec: string | null): readonly string[] {
  return spec === null ? [] : SPEC_FOLDERS.map((folder) => folder === "" ? spec : `${folder}/${spec}`);
}

/** Makes the folder of specs where it is missing. @returns the paths that were made, relative to the root */
export async function scaffoldSpec(root: string): Promise<readonly string[]> {
  const folder = "ralph/specs";
  if (await pathExists(join(root, folder))) return [];
  const path = `${folder}/.gitkeep`; // git keeps no empty folder
  await writeInside(root, path, "");
  return [path];
}

/**
 * Finds a spec: as given from the current folder, then below the root, `ralph/specs/` and `specs/`. Its name is the
 * plan's: the shortest one that leads to it; its path is absolute.
 */
export async function findSpec(
  root: string,
  given: string,
  cwd: string = root,
): Promise<{ readonly name: string; readonly path: string } | null> {
  const places = [resolve(cwd, given), ...SPEC_FOLDERS.map((folder) => resolve(root, folder, given))];
  for (const path of places) if (await pathExists(path)) return { name: await nameOf(root, path), path };
  return null;
}

/** The plan's name for a spec. @throws {RalphError} state-missing */
export async function requireSpec(root: string, given: string, cwd: string): Promise<string> {
  const found = await findSpec(root, given, cwd);
  if (found !== null) return found.name;
  throw stateMissing(given, `specs are looked for here, then in ${SPEC_FOLDERS.slice(1).join(" and ")}`);
}

async function nameOf(root: string, path: string): Promise<string> {
  const full = relative(root, path).replaceAll(sep, "/");
  if (full.startsWith("../") || isAbsolute(full)) return path;
  const folder = SPEC_FOLDERS.find((one) => one !== "" && full.startsWith(`${one}/`));
  if (folder === undefined) return full;
  const short = full.slice(folder.length + 1);
  for (const before of SPEC_FOLDERS.slice(0, SPEC_FOLDERS.indexOf(folder))) {
    if (await pathExists(join(root, before, short))) return full;
  }
  return short;
}
