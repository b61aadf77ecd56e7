import { basename, join, posix, relative, resolve, sep } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { listDirectory, pathExists, presentPaths, resolveInside, writeInside } from "../../host/files.ts";
import { FIRST_SPRINT } from "../../generated/templates.ts";

/** Sprints live here, relative to the root. */
export const SPRINTS_DIRECTORY = ".claude/sprints";

/** A sprint's files, relative to the root. */
export interface SprintPaths {
  /** The sprint's folder; "." when it is the root itself. */
  readonly directory: string;
  /** The folder's name. */
  readonly name: string;
  readonly definition: string;
  readonly progress: string;
  readonly transcripts: string;
  readonly logs: string;
}

/** The files of a sprint whose folder is given relative to the root. Pure. */
export function sprintPaths(root: string, directory: string): SprintPaths {
  const inside = (name: string): string => join(directory, name).replaceAll(sep, "/");
  return {
    directory,
    name: basename(join(root, directory)),
    definition: inside("SPRINT.yaml"),
    progress: inside("PROGRESS.yaml"),
    transcripts: inside("transcripts"),
    logs: inside("logs"),
  };
}

/** An iteration's transcript, relative to the root. Pure. */
export function transcriptOf(transcripts: string, iteration: number): string {
  return `${transcripts}/iteration-${iteration}.jsonl`;
}

/** A folder as it was named, as seen from `from`, relative to the root. @throws {RalphError} sprint-missing, path-outside-root */
export async function sprintDirectory(root: string, from: string, named: string): Promise<string> {
  const path = await resolveInside(root, resolve(from, named));
  if (!await pathExists(path)) {
    const hint = "make it with a SPRINT.yaml in it: `workflow: ralph` and a `goal`";
    throw new RalphError("sprint-missing", { details: { problem: `there is no folder ${named}` }, hint });
  }
  return (relative(root, path) || ".").replaceAll(sep, "/");
}

/** Folders of sprints below `.claude/sprints` that hold this file, relative to the root. */
export async function listSprints(
  root: string,
  file: "PROGRESS.yaml" | "SPRINT.yaml" = "PROGRESS.yaml",
): Promise<readonly string[]> {
  const names = await listDirectory(join(root, SPRINTS_DIRECTORY));
  const found = await presentPaths(root, names.map((name) => `${SPRINTS_DIRECTORY}/${name}/${file}`));
  return found.map((path) => posix.dirname(path));
}

/** Every sprint, compiled or not. */
export async function everySprint(root: string): Promise<readonly string[]> {
  return [...new Set([...await listSprints(root, "SPRINT.yaml"), ...await listSprints(root)])].sort();
}

/** The only sprint there is, compiled or not. @throws {RalphError} sprint-missing when there is none, or more than one */
export async function onlySprint(root: string): Promise<string> {
  const found = await everySprint(root);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const problem = only === undefined
    ? `there is no sprint below ${SPRINTS_DIRECTORY}`
    : `there is more than one sprint: ${found.join(", ")}`;
  throw new RalphError("sprint-missing", { details: { problem } });
}

const FIRST = `${SPRINTS_DIRECTORY}/first/SPRINT.yaml`;

/** Makes a first sprint where there is none. @returns the paths that were made, relative to the root */
export async function scaffoldSprint(root: string): Promise<readonly string[]> {
  if ((await listSprints(root, "SPRINT.yaml")).length > 0) return [];
  await writeInside(root, FIRST, FIRST_SPRINT);
  return [FIRST];
}
