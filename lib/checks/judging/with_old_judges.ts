import { mayChangeTests } from "../../backlog/changes_tests.ts";
import type { JudgedItem, JudgingHistory } from "../../backlog/journal_types.ts";
import type { Check, CheckResult, Item, Verification } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { openCheckout } from "../checkout/open_checkout.ts";
import { whyNotReady } from "../check_tree.ts";
import type { BroughtUp } from "../checkout/types.ts";
import { verify } from "../verify.ts";
import { type ChangedTest, oldJudges } from "./old_judges.ts";

/** What is judged by old tests. */
export interface WithOldJudgesOptions {
  readonly history: JudgingHistory;
  /** Commit whose files are new. */
  readonly head: string;
  readonly checks: readonly Check[];
  /** Files of the commit that the checks have written where they passed. @default none */
  readonly touched?: () => Promise<readonly string[]>;
  /** The item under way. @default none: the run is at its end */
  readonly item?: Item;
  /** It with what its turns changed. */
  readonly judged?: JudgedItem;
  /** Absolute path of the folder for the checks' logs. */
  readonly logs: string;
  readonly signal: AbortSignal;
}

/** Brings a checkout up to a commit. */
export type BringUp = (commit: string) => Promise<BroughtUp>;

/** What old tests say of new code. */
export interface OldJudgement {
  /** `unknown`: they could not be run; `reason` says why. */
  readonly status: "unchanged" | "passed" | "failed" | "unknown" | "aborted";
  readonly changes: readonly ChangedTest[];
  /** Dependencies that were there and now come from a folder, a link or git. */
  readonly moved: readonly string[];
  /** Checks that pass with the files as they are, and fail with the old ones. */
  readonly failures: readonly CheckResult[];
  readonly reason?: string;
}

/**
 * Runs all checks once more in a clean checkout with the judging files as they were before the work. What fails there and
 * passes with the new files is evidence. Where no judging file changed, nothing runs.
 *
 * @param bringUp brings the run's checkout up to a commit; `null`: a checkout for this call
 * @throws {RalphError} git-failed
 */
export async function withOldJudges(
  ralph: RalphContext,
  bringUp: BringUp | null,
  options: WithOldJudgesOptions,
): Promise<OldJudgement> {
  const { history, head, checks, touched, item, judged } = options;
  const { commit, changes, moved } = await oldJudges(ralph, {
    history,
    head,
    ...(touched === undefined ? {} : { touched }),
    commands: checks.flatMap(({ command }) => command === undefined ? [] : [command]),
    ...(item === undefined ? {} : { granted: mayChangeTests(item) }),
    ...(judged === undefined ? {} : { item: judged }),
  });
  const known = { changes, moved, failures: [] } as const;
  const passed = { ...known, status: "passed", changes: changes.filter(({ isUncertain }) => !isUncertain) } as const;
  if (commit === null || checks.length === 0) {
    return { ...known, status: changes.length === 0 ? "unchanged" : "passed" };
  }
  const own = bringUp === null ? await openCheckout(ralph, { signal: options.signal }) : null;
  const up: BringUp = (wanted) => own?.bringUp(wanted) ?? (bringUp as BringUp)(wanted);
  try {
    ralph.events.emit({ type: "note", level: "info", message: "the same checks, with the tests as they were before" });
    const old = await verifyAt(ralph, up, commit, checks, { ...options, logs: `${options.logs}-old-tests` });
    if (old.status === "unknown") return { ...known, ...old };
    if (old.status === "aborted") return { ...known, status: "aborted" };
    if (old.status !== "failed") return passed;
    // What fails with the files as they are says nothing of the old ones.
    const again = checks.filter(({ name }) => old.failures.some((failure) => failure.name === name));
    ralph.events.emit({ type: "note", level: "info", message: "what failed so, with the tests as they are" });
    const now = await verifyAt(ralph, up, head, again, { ...options, logs: `${options.logs}-new-tests` });
    if (now.status === "unknown") return { ...known, ...now };
    if (now.status === "aborted") return { ...known, status: "aborted" };
    const green = new Set(now.results.filter(({ ok }) => ok).map(({ name }) => name));
    const failures = old.failures.filter(({ name }) => green.has(name));
    return failures.length === 0 ? passed : { ...known, status: "failed", failures };
  } finally {
    await own?.[Symbol.asyncDispose]();
  }
}

async function verifyAt(
  ralph: RalphContext,
  bringUp: BringUp,
  commit: string,
  checks: readonly Check[],
  { logs, signal, item }: WithOldJudgesOptions,
): Promise<Verification | { readonly status: "unknown"; readonly reason: string }> {
  const up = await bringUp(commit);
  if (up.status !== "ready") return { status: "unknown", reason: whyNotReady(up) };
  return await verify(ralph, checks, { place: up.place, logs, signal, ...(item === undefined ? {} : { item }) });
}

/** `test/a.test.mjs +1 −3`, for people. Pure. */
export function describeChange({ path, added, removed }: ChangedTest): string {
  return `${path}${added === null || removed === null ? "" : ` +${added} −${removed}`}`;
}
