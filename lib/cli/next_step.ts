import { shellWord } from "../host/shell.ts";
import { ASKED } from "../backlog/signals.ts";
import type { Next } from "../backlog/types.ts";
import type { Lack } from "../backlog/journal_types.ts";
import type { BranchWork } from "../git/branch_work.ts";

/** The commands that continue the work of a workflow. */
export interface StepCommands {
  readonly run: string;
  /** Takes up parked items again; `null`: a parked item has no such command. */
  readonly retry: string | null;
}

/**
 * Says which step is next, from the backlog's own answer; `null`: everything is done. `ralph status`, `ralph next` and
 * the last lines of a run say the same because none of them computes it again. Pure.
 */
export function hintOf(next: Next<unknown>, { run, retry }: StepCommands): string | null {
  switch (next.status) {
    case "item":
      return `\`${run}\``;
    case "waiting":
      return "`ralph watch`";
    case "blocked":
      return retry === null ? next.reasons[0]?.split("\n")[0] ?? `\`${run}\`` : `\`${retry}\``;
    case "done":
      return null;
  }
}

/** Says which steps follow work that is done; empty if the branch holds none. Pure. */
export function afterWork(work: Pick<BranchWork, "base" | "commits"> | null): readonly string[] {
  if (work === null || work.commits === 0) return [];
  const report = "`ralph report` shows what was done";
  return work.base === null ? [report] : [`\`ralph finish\` merges it or opens a pull request; ${report}`];
}

/** Says which step follows work that is done and has not passed. Pure. @param resume the command that continues */
export function afterUnverified(lack: Lack, resume: string): string {
  if (lack === "end") return `\`${resume}\` continues: the last run has not passed`;
  return lack === "checks"
    ? "`ralph verify` runs what checks there are, `verify.default` names more"
    : `look at the work; \`${resume} --allow-unverified\` accepts it`;
}

/** Says how items that were given up on come again: a question is answered, a cause is fixed. Pure. */
export function afterParked(
  parked: readonly { readonly id: string; readonly reason?: string | null }[],
  { again, retry }: { readonly again: string; readonly retry: string },
): readonly string[] {
  const asked = parked.find(({ reason }) => reason?.startsWith(ASKED) === true);
  const others = parked.some(({ reason }) => reason?.startsWith(ASKED) !== true);
  return [
    ...asked === undefined ? [] : [`answer with \`ralph tell --item ${shellWord(asked.id)} "…"\`, then ${again}`],
    ...others || asked === undefined ? [`fix the cause, then ${retry}`] : [],
  ];
}
