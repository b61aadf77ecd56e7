import type { RunPartName } from "./workflow.ts";
import { WORKFLOWS } from "./table.ts";

/** Where runs go whose backlog says nothing else, relative to the root. */
const DEFAULT_RUNS = ".ralph/runs";

/** Every folder that holds runs, relative to the root. */
export async function runFolders(root: string): Promise<readonly string[]> {
  const own = await Promise.all(WORKFLOWS.map(({ runs }) => runs(root)));
  return [...new Set([DEFAULT_RUNS, ...own.flat()])];
}

/** The command that continues a part of a run; `null` where only its user knows it. */
export async function resumeCommand(part: RunPartName): Promise<string | null> {
  for (const row of WORKFLOWS) {
    const command = await row.resume(part);
    if (command !== null) return command;
  }
  return null;
}
