import { plain } from "../../plain.ts";
import { join } from "node:path";
import { listDirectory, readText } from "../../../host/files.ts";
import { PRD_FILE, validatePrd } from "../types.ts";
import { readerFor } from "./recognize.ts";

/** A file of another tool that `ralph import` reads. */
export interface ExternalFile {
  /** Relative to the root. */
  readonly path: string;
  readonly tool: string;
}

/** These tools keep their files here. */
const PLACES = [
  "prd.json",
  "tasks/prd.json",
  ".ralph-tui/prd.json",
  ".taskmaster/tasks/tasks.json",
  "tasks/tasks.json",
];

/** The files of other tools that a project has; the PRD's own place is not looked at. */
export async function findExternal(root: string): Promise<readonly ExternalFile[]> {
  const features = (await listDirectory(join(root, "specs"))).toSorted().map((name) => `specs/${name}/tasks.md`);
  const found: ExternalFile[] = [];
  for (const path of [...PLACES, ...features]) {
    const text = await readText(join(root, path));
    const known = text === null ? null : readerFor(text);
    if (known !== null) found.push({ path, tool: known.reader.tool });
  }
  return found;
}

/** How a file of another tool is brought in: for hints. Pure. */
export function importHint({ path, tool }: ExternalFile): string {
  return `${path} is a plan of ${tool}: \`ralph import ${path}\` makes a PRD of it`;
}

/**
 * The hint for a PRD that is refused; `null` where it is of no format that is known, or one of Ralph's own that is
 * damaged: that has no keys of another tool. Pure.
 */
export function hintForPrd(text: string, path: string = PRD_FILE): string | null {
  const known = readerFor(text);
  if (known === null) return null;
  const { data } = known.source;
  const isOwn = Array.isArray(plain(data)["userStories"]) &&
    !validatePrd(data).some((error) => /unexpected keys/i.test(error));
  return isOwn ? null : importHint({ path, tool: known.reader.tool });
}
