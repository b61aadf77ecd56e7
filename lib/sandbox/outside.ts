import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { realPath } from "../host/file_state.ts";
import { pathExists } from "../host/files.ts";
import { orElse } from "../host/looks.ts";
import { foldersAbove } from "../host/programs.ts";
import type { Host } from "../host/types.ts";

/**
 * The machine for what runs outside of a sandbox, such as Ralph's git: programs come from folders of PATH that no turn
 * can write. `npx` and `npm run` put the project's own `node_modules/.bin` first.
 *
 * @param written further folders that a turn can write, absolute
 */
export async function outsideHost(host: Host, root: string, written: readonly string[]): Promise<Host> {
  const folders = [await outermost(root), ...written];
  const { variables } = host.environment;
  const known = (variables["PATH"] ?? "").split(delimiter);
  // nothing is started from a folder that this user cannot look into
  const isSeen = (folder: string): boolean => orElse(() => realPath(folder) !== "", false);
  const kept = known.filter((folder) => isAbsolute(folder) && isSeen(folder) && !isBelow(folder, folders));
  if (kept.length === known.length) return host;
  const PATH = kept.join(delimiter);
  const left = new Set(known.filter((folder) => !kept.includes(folder)).map((folder) => resolve(root, folder)));
  const run: Host["processes"]["run"] = (request) => {
    if (request.sandbox !== undefined) return host.processes.run(request);
    const file = left.has(dirname(request.file)) ? basename(request.file) : request.file;
    return host.processes.run({ ...request, file, environment: { PATH, ...request.environment } });
  };
  const environment = { ...host.environment, variables: { ...variables, PATH } };
  return { ...host, environment, processes: { ...host.processes, run } };
}

/** Tells whether a path is, or leads, into one of the folders. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  const forms = [resolve(path), realPath(resolve(path))];
  return folders.some((folder) => forms.some((form) => `${form}${sep}`.startsWith(`${realPath(folder)}${sep}`)));
}

/** The outermost repository around a folder: of a submodule, the one that it is in. */
async function outermost(root: string): Promise<string> {
  const found: string[] = [];
  for (const folder of foldersAbove(root)) if (await pathExists(join(folder, ".git"))) found.push(folder);
  return found.at(-1) ?? root;
}
