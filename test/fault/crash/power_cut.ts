/** Cuts the power after each change that a run makes to its disk. */
import { join } from "node:path";
import { wrongAfterCrash } from "./after_crash.ts";
import { asFound, crashes, type Names, treeAfter, writeTree } from "./disk.ts";
import type { CrashPoint } from "./points.ts";
import type { CrashProject } from "./projects.ts";
import { named, traced } from "./trace.ts";

/** A point for each different tree that a power cut can leave, in the order of the run. */
export async function powerCutPoints(project: CrashProject, start: Names): Promise<readonly CrashPoint[]> {
  const { root, environment, command, workflow, leaving } = project;
  writeTree(root, asFound(start));
  const { exitCode, operations, output } = await traced(command, {
    root,
    environment,
    log: join(project.folder, "strace"),
  });
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}:\n${output}`);
  return crashes(start, operations).map((crash) => ({
    what: `${workflow}, work in the ${leaving}: ${crash.loss} after operation ${crash.after} ` +
      `(${named(operations[crash.after]!, root)})`,
    wrong: async () => {
      writeTree(root, treeAfter(start, operations, crash));
      return await wrongAfterCrash(project);
    },
  }));
}
