/** Cuts the power after each change that a run makes to its disk. */
import { join } from "node:path";
import { wrongAfterCrash } from "./after_crash.ts";
import { crashes, type Loss, readTree, writeTree } from "./disk.ts";
import { type CrashProject, crashProject, type Leaving, type Workflow } from "./projects.ts";
import { named, traced } from "./trace.ts";

export interface PowerCuts {
  /** Different trees that a crash can leave. */
  readonly points: number;
  readonly tried: number;
  readonly wrong: readonly string[];
}

/** @param chosen which of the points are tried, by number and by kind of loss */
export async function powerCuts(
  workflow: Workflow,
  leaving: Leaving,
  chosen: (point: number, loss: Loss) => boolean,
  log: (line: string) => void = () => {},
): Promise<PowerCuts> {
  const project = crashProject(workflow, leaving);
  try {
    return await cut(project, chosen, log);
  } finally {
    project.remove();
  }
}

async function cut(
  project: CrashProject,
  chosen: (point: number, loss: Loss) => boolean,
  log: (line: string) => void,
): Promise<PowerCuts> {
  const start = readTree(project.root);
  const { root, environment } = project;
  const { exitCode, operations, output } = await traced(project.command, {
    root,
    environment,
    log: join(project.folder, "strace"),
  });
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}:\n${output}`);
  const wrong: string[] = [];
  let points = 0;
  let tried = 0;
  for (const { after, loss, found } of crashes(start, operations)) {
    points += 1;
    if (!chosen(points, loss)) continue;
    tried += 1;
    writeTree(root, found);
    const here = await wrongAfterCrash(project);
    const what = `${project.workflow}: ${loss} after operation ${after} (${named(operations[after]!, root)})`;
    if (here.length > 0) {
      wrong.push(`${what}: ${here.join("; ")}`);
      log(wrong.at(-1)!);
    }
  }
  return { points, tried, wrong };
}
