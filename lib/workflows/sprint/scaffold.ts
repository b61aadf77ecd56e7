import { join } from "node:path";
import { writeAtomic } from "../../host/files.ts";
import { listSprints, SPRINTS_DIRECTORY } from "./paths.ts";

const FIRST = `${SPRINTS_DIRECTORY}/first/SPRINT.yaml`;

const TEXT = `# A sprint: a goal, and what runs around each iteration. Then: ralph sprint run ${SPRINTS_DIRECTORY}/first
workflow: ralph # .claude/workflows/NAME.yaml, or the built-in one
goal: |
  Say here what is to be reached, and how one can tell that it is.
# ralph: { idle-threshold: 3, min-iterations: 0 }
per-iteration-hooks:
  documentation: { enabled: false } # prompts, shell commands or plugins: see the guide to sprints
`;

/** Makes a first sprint where there is none. @returns the paths that were made, relative to the root */
export async function scaffoldSprint(root: string): Promise<readonly string[]> {
  if ((await listSprints(root, "SPRINT.yaml")).length > 0) return [];
  await writeAtomic(join(root, FIRST), TEXT);
  return [FIRST];
}
