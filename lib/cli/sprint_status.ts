import { readSprint } from "../backlogs/sprint/backlog.ts";
import type { SprintProgress } from "../backlogs/sprint/types.ts";
import type { Style } from "../ui/style.ts";
import type { SprintPlace } from "./sprint_place.ts";

/** What `ralph sprint status` tells; the JSON form is this very object. */
export interface SprintStatus extends SprintProgress {
  /** The sprint's folder, relative to the root. */
  readonly directory: string;
}

/** Reads PROGRESS.yaml; takes no lock and changes nothing. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
export async function readSprintStatus({ paths, state }: Pick<SprintPlace, "paths" | "state">): Promise<SprintStatus> {
  return { directory: paths.directory, ...await readSprint({ state }, paths.progress) };
}

/** The status for a reader. */
export function sprintStatusLines(status: SprintStatus, { bold, dim, good, bad, warn, symbols }: Style): readonly string[] {
  const { sprintId, goal, steps, hookTasks, exit, humanNeeded } = status;
  const paint = { completed: good, "needs-human": bad }[status.status] ?? dim;
  const count = (state: string): number => hookTasks.filter((task) => task.status === state).length;
  const hooks = ["completed", "failed", "interrupted", "in-progress"].filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return [
    `${bold(sprintId)} ${paint(status.status)} ${dim(`${symbols.dot} ${status.directory}`)}`,
    `goal: ${goal.trim().split("\n")[0] ?? ""}`,
    `iteration ${status.currentIteration}, ${steps.filter((step) => step.status === "completed").length}/${steps.length} steps completed`,
    ...steps.map(({ id, prompt, status: state }) =>
      `  ${state === "completed" ? good(symbols.passed) : dim(symbols.open)} ${id}  ${prompt.trim().split("\n")[0] ?? ""}`
    ),
    ...(hooks.length === 0 ? [] : [`hooks: ${hooks.join(", ")}`]),
    ...(humanNeeded === null ? [] : [warn(`a person is needed: ${humanNeeded}`)]),
    ...(exit.lastFailure === null ? [] : [warn(`the last claim did not count: ${exit.lastFailure.split("\n")[0] ?? ""}`)]),
    ...(exit.summary === null
      ? []
      : [`${exit.verified === true ? good("verified") : warn(exit.verified === null ? "claimed" : "unverified")}: ${exit.summary}`]),
  ];
}
