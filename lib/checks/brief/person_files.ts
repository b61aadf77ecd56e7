import { basename, dirname, join } from "node:path";
import { type FileState, realPath } from "../../host/file_state.ts";
import { removePath, temporaryDirectory, writePlain } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";

/** A person's own settings as they were when the run began, once a turn has changed them. */
export interface PersonFiles {
  /** Every later child reads the old text, wherever these files are: written anew each time, since a turn may change the copies. */
  hold(): Promise<void>;
  /** The files themselves count again. */
  release(): Promise<void>;
}

/** The variables by which git and npm are led to another file. */
const GIT = "GIT_CONFIG_GLOBAL";
const NPM = "NPM_CONFIG_USERCONFIG";
const RELATIVE_INCLUDE_REGEXP = /^([ \t]*path[ \t]*=[ \t]*"?)(?![/~"])/gim;

/** @param start what the files held when the run began, by their path */
export function createPersonFiles({ environment }: Host, start: ReadonlyMap<string, FileState>): PersonFiles {
  let folder: string | null = null;
  const { overlay } = environment;
  const texts = (accepts: (path: string) => boolean): readonly string[] =>
    [...start].filter(([path]) => accepts(path)).map(([path, state]) => textOf(path, state));
  return {
    async hold() {
      if (overlay === undefined) return;
      folder ??= (await temporaryDirectory("settings-")).path;
      // git reads the folder's file first, and the other one after it
      await writePlain(join(folder, "git"), [...texts(isGitFolder), ...texts(isGitFile)].join("\n"));
      await writePlain(join(folder, "npm"), texts((path) => basename(path) === ".npmrc").join("\n"));
      overlay[GIT] = join(folder, "git");
      if (environment.variables[NPM] === undefined && environment.variables[NPM.toLowerCase()] === undefined) {
        overlay[NPM] = join(folder, "npm");
      }
    },
    async release() {
      delete overlay?.[GIT];
      delete overlay?.[NPM];
      if (folder !== null) await removePath(folder);
      folder = null;
    },
  };
}

function isGitFile(path: string): boolean {
  return basename(path) === ".gitconfig";
}

function isGitFolder(path: string): boolean {
  return basename(path) === "config" && basename(dirname(path)) === "git";
}

/** An included file keeps its place. */
function textOf(path: string, state: FileState): string {
  if (state.kind !== "text") return "";
  const text = Buffer.from(state.bytes).toString("utf8");
  return path.endsWith(".npmrc") ? text : text.replaceAll(RELATIVE_INCLUDE_REGEXP, `$1${dirname(realPath(path))}/`);
}
