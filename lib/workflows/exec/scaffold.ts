import { join } from "node:path";
import { makeInside, readText } from "../../host/files.ts";
import { CODEBASE_MAP, PROGRESS_LOG } from "../../generated/templates.ts";
import { CODEBASE_MAP_FILE, PROGRESS_FILE } from "./types.ts";

/** The understanding loop looks at these topics in this order if nothing else is configured. The prompt lists the same. */
export const DEFAULT_TOPICS: readonly string[] = [...CODEBASE_MAP.matchAll(/^- \[ \] (.+)$/gm)].map(([, topic = ""]) =>
  topic
);

/**
 * Makes the notes of the exec workflow that are missing. Files that are there stay as they are; prompts are the built-in
 * ones until `ralph eject`.
 *
 * @param root absolute path
 * @returns the paths that were made, relative to the root
 * @throws {RalphError} file-unwritable, path-outside-root
 */
export async function scaffoldExec(root: string): Promise<readonly string[]> {
  const made: string[] = [];
  for (const [path, text] of [[PROGRESS_FILE, PROGRESS_LOG], [CODEBASE_MAP_FILE, CODEBASE_MAP]] as const) {
    if (await makeInside(root, path, text)) made.push(path);
  }
  return made;
}

/** The codebase map, if it is as Ralph made it, or was taken away. */
export async function unusedMap(root: string): Promise<readonly string[]> {
  const text = await readText(join(root, CODEBASE_MAP_FILE));
  return text === null || text === CODEBASE_MAP ? [CODEBASE_MAP_FILE] : [];
}
