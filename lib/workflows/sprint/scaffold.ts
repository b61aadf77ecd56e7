import { join } from "node:path";
import { FIRST_SPRINT } from "../../generated/templates.ts";
import { writeAtomic } from "../../host/files.ts";
import { listSprints, SPRINTS_DIRECTORY } from "./paths.ts";

const FIRST = `${SPRINTS_DIRECTORY}/first/SPRINT.yaml`;

/** Makes a first sprint where there is none. @returns the paths that were made, relative to the root */
export async function scaffoldSprint(root: string): Promise<readonly string[]> {
  if ((await listSprints(root, "SPRINT.yaml")).length > 0) return [];
  await writeAtomic(join(root, FIRST), FIRST_SPRINT);
  return [FIRST];
}
