import type { PassedItem, PassedRecord } from "../../backlog/types.ts";
import type { Repository } from "../../git/types.ts";
import { withRejection } from "./mutations.ts";
import { parsePlan, tasksOf, withLine } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

/** The lines of tasks that were accepted and have left the file, as git last saw them, by id. */
export async function acceptedLines(
  repository: Repository | null,
  file: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const lines = new Map<string, string>();
  if (repository === null) return lines;
  for (const id of ids) {
    const raw = await lastLine(repository, file, id);
    if (raw !== null) lines.set(id, raw);
  }
  return lines;
}

/** The tasks that VERIFY accepted last, where a run has passed with them, by their own checks. Pure. */
export function acceptedLast(passed: readonly PassedRecord[]): readonly PassedItem[] {
  const checks = passed.find(({ kind, closed }) => kind === "VERIFY" && closed === true)?.checks ?? [];
  const ids = new Set(checks.map(({ scope = "" }) => scope).filter((id) => id !== ""));
  return [...ids].map((id) => ({ id, title: id, checks: checks.filter(({ scope }) => scope === id) }));
}

/** The newest commit that changed the task's line took it away, or has it. */
async function lastLine(repository: Repository, file: string, id: string): Promise<string | null> {
  const pattern = `"id":[[:space:]]*"${id}"`;
  const log = await repository.git(["log", "-1", "--format=%H", "-G", pattern, "--", file]);
  const commit = log.stdout.trim();
  if (log.exitCode !== 0 || commit === "") return null;
  for (const revision of [commit, `${commit}^`]) {
    const shown = await repository.git(["show", `${revision}:${file}`]);
    if (shown.exitCode !== 0) continue;
    const plan = parsePlan(shown.stdout, PLAN_FILE);
    const task = tasksOf(plan).find((one) => one.id === id);
    const line = task === undefined ? undefined : plan.lines[task.line - 1];
    if (line !== undefined) return line.raw;
  }
  return null;
}

/** Tasks that fail the final check are pending again, with the reason: accepted ones are added again. Pure. */
export function sentBack(
  plan: Plan,
  ids: readonly string[],
  lines: ReadonlyMap<string, string>,
  reason: string,
): Plan {
  let changed = plan;
  for (const id of ids) {
    const line = lines.get(id);
    const found = tasksOf(changed).find((one) => one.id === id);
    if (found?.s === "p") continue; // sent back already
    if (found === undefined && line !== undefined) changed = withLine(changed, line);
    const task = found ?? tasksOf(changed).find((one) => one.id === id);
    if (task !== undefined) changed = withRejection(changed, task, reason);
  }
  return changed;
}
