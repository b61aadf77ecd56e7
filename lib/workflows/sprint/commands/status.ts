import { readSprint } from "../backlog.ts";
import type { SprintProgress } from "../types.ts";
import { oneLine } from "../../../ui/printable.ts";
import type { Style } from "../../../ui/style.ts";
import { listSprints, sprintPaths } from "../paths.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { Invocation } from "../../../cli/command.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import { resolveRoot } from "../../../cli/root.ts";
import { findSprint, type SprintPlace } from "./place.ts";

/** What `ralph sprint status` tells; the JSON form is this very object. */
export interface SprintStatus extends SprintProgress {
  /** The sprint's folder, relative to the root. */
  readonly directory: string;
}

/** Reads PROGRESS.yaml; takes no lock and changes nothing. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
export async function readSprintStatus({ paths, state }: Pick<SprintPlace, "paths" | "state">): Promise<SprintStatus> {
  return { directory: paths.directory, ...await readSprint({ state }, paths.progress) };
}

/** The first line of a text that an agent wrote, with nothing in it that moves a terminal. */
export function firstLine(text: string): string {
  return oneLine(text.trim().split("\n")[0] ?? "");
}

/** The status for a reader. */
export function sprintStatusLines(
  status: SprintStatus,
  { bold, dim, good, bad, warn, symbols }: Style,
): readonly string[] {
  const { sprintId, goal, steps, hookTasks, exit, humanNeeded } = status;
  const paint = { completed: good, "needs-human": bad }[status.status] ?? dim;
  const count = (state: string): number => hookTasks.filter((task) => task.status === state).length;
  const hooks = ["completed", "failed", "interrupted", "in-progress"].filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return [
    `${bold(sprintId)} ${paint(status.status)} ${dim(`${symbols.dot} ${status.directory}`)}`,
    `goal: ${firstLine(goal)}`,
    `iteration ${status.currentIteration}, ${
      steps.filter((step) => step.status === "completed").length
    }/${steps.length} steps completed`,
    ...steps.map(({ id, prompt, status: state }) =>
      `  ${state === "completed" ? good(symbols.passed) : dim(symbols.open)} ${oneLine(id)}  ${firstLine(prompt)}`
    ),
    ...(hooks.length === 0 ? [] : [`hooks: ${hooks.join(", ")}`]),
    ...(humanNeeded === null ? [] : [warn(`a person is needed: ${firstLine(humanNeeded)}`)]),
    ...(exit.lastFailure === null ? [] : [warn(`the last claim did not count: ${firstLine(exit.lastFailure)}`)]),
    ...(exit.summary === null ? [] : [
      `${exit.verified === true ? good("verified") : warn(exit.verified === null ? "claimed" : "unverified")}: ${
        firstLine(exit.summary)
      }`,
    ]),
  ];
}

/** `ralph status` where the workflow is sprint: every sprint below `.claude/sprints`. */
export async function showSprints(invocation: Invocation): Promise<number> {
  const { flags, host, out } = invocation;
  const root = await resolveRoot(host.environment, flags.text("root"));
  const style = styleFor(invocation, "stdout");
  const reports: (SprintStatus | { readonly directory: string; readonly problem: string })[] = [];
  for (const directory of await listSprints(root)) reports.push(await readOr(invocation, root, directory));
  const compiled = new Set(reports.map(({ directory }) => directory));
  const waiting = (await listSprints(root, "SPRINT.yaml")).filter((directory) => !compiled.has(directory));
  if (flags.has("json")) {
    out(toJson({ workflow: "sprint", root, sprints: reports, notCompiled: waiting }));
    return EXIT.done;
  }
  for (const report of reports) {
    const lines = "problem" in report ? [style.bad(report.problem)] : sprintStatusLines(report, style);
    for (const line of lines) out(line);
  }
  for (const directory of waiting) out(`${directory}: not compiled; next: \`ralph sprint run ${directory}\``);
  if (reports.length + waiting.length === 0) out("no sprint below .claude/sprints");
  return EXIT.done;
}

async function readOr(
  invocation: Invocation,
  root: string,
  directory: string,
): Promise<SprintStatus | { readonly directory: string; readonly problem: string }> {
  try {
    const { state } = await findSprint(invocation, `${root}/${directory}`);
    return await readSprintStatus({ state, paths: sprintPaths(root, directory) });
  } catch (error) {
    if (RalphError.isInstance(error)) return { directory, problem: error.message };
    throw error;
  }
}
