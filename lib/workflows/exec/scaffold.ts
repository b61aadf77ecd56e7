import { join } from "node:path";
import { pathExists, readText, resolveInside, writeAtomic } from "../../host/files.ts";
import { CODEBASE_MAP_FILE, PROGRESS_FILE } from "./types.ts";

/**
 * The understanding loop looks at these topics in this order if nothing else is configured. The map's template and the
 * prompt list the same.
 */
export const DEFAULT_TOPICS: readonly string[] = [
  "How to run locally (setup, environment variables, start commands)",
  "Build, test, lint and CI gates (what runs where, and how)",
  "Repository layout and module boundaries",
  "Entrypoints (server, worker, cron, CLI)",
  "Configuration, environment variables, secrets, feature flags",
  "Authentication and authorization (where permissions are enforced)",
  "Data model and persistence (migrations, transactions)",
  "Core domain flow 1 (traced end to end)",
  "Core domain flow 2 (traced end to end)",
  "External integrations (third-party APIs, webhooks, queues)",
  "Observability (logging, metrics, tracing, error reporting)",
  "Deployment and release process",
];

const PROGRESS = `# Ralph progress log

## Codebase Patterns

- (rules that hold for the whole code; read these first)

## Iteration Notes

(Ralph adds a line after each story; agents append what a later story should know.)

---
`;

/** The codebase map before anything is known. */
export const MAP_TEMPLATE: string = `# Codebase Map

Built over time by \`ralph understand\`: one topic a turn, each fact with its evidence. Other files stay as they are.

## Next Topics (checklist)

Edit this list to fit the repository. A topic is ticked when its note is written.

${DEFAULT_TOPICS.map((topic) => `- [ ] ${topic}`).join("\n")}

## Quick Facts (keep up to date)

- **Language and framework**:
- **How to run**:
- **How to test**:
- **How to check types and lint**:
- **Main entrypoints**:
- **Data store**:

## Do Not Touch (optional)

- (folders and files that are fragile or off-limits)

---

## Iteration Notes

(New notes are appended below; older ones stay.)
`;

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
  for (const [path, text] of [[PROGRESS_FILE, PROGRESS], [CODEBASE_MAP_FILE, MAP_TEMPLATE]] as const) {
    const file = await resolveInside(root, path);
    if (await pathExists(file)) continue;
    await writeAtomic(file, text);
    made.push(path);
  }
  return made;
}

/** The codebase map, if it is as Ralph made it. */
export async function unusedMap(root: string): Promise<readonly string[]> {
  return await readText(join(root, CODEBASE_MAP_FILE)) === MAP_TEMPLATE ? [CODEBASE_MAP_FILE] : [];
}
