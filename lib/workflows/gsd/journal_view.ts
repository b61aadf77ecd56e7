import { journalIn, type Look } from "../../cli/look.ts";
import { GSD_JOURNAL } from "./paths.ts";
import type { Diagnostic, Plan, Planning } from "./types.ts";

/** The journal knows this of plans beyond the folder. */
export interface JournalView {
  /** Plans whose attempt has not ended: a run was killed, or is at work. */
  readonly begun: ReadonlySet<string>;
  /** Plans that no check has seen: `--allow-unverified`. */
  readonly unverified: ReadonlySet<string>;
}

/** Reads the journal. */
export async function journalView(look: Pick<Look, "own" | "repository">): Promise<JournalView> {
  const journal = await journalIn(look);
  const unverified = journal?.passed(GSD_JOURNAL).filter(({ status }) => status === "unverified") ?? [];
  return {
    begun: new Set(journal?.open(GSD_JOURNAL).map(({ item }) => item.id)),
    unverified: new Set(unverified.map(({ id }) => id)),
  };
}

/** The SUMMARY of an attempt that has not ended completes nothing: nothing has been checked yet. Pure. */
export function withoutBegun(planning: Planning, { begun }: JournalView): Planning {
  const diagnostics: Diagnostic[] = [...planning.diagnostics];
  const opened = (plan: Plan): Plan => {
    if (!begun.has(plan.id) || !plan.completion.done || plan.completion.by !== "summary") return plan;
    const message = "of an attempt that has not ended: it completes nothing before Ralph has run the checks";
    diagnostics.push({ file: plan.summaryFile, line: 0, message });
    return { ...plan, summarized: false, completion: { done: false } };
  };
  const phases = planning.phases.map((phase) => {
    const plans = phase.plans.map(opened);
    const count = plans.filter((plan, index) => plan !== phase.plans[index]).length;
    return { ...phase, plans, complete: phase.complete - count, finished: phase.finished && count === 0 };
  });
  return { ...planning, phases, diagnostics };
}
