import type { JournalKey, JudgedItem } from "../backlog/journal_types.ts";
import type { Check, CheckResult, Item, PassedItem } from "../backlog/types.ts";
import type { Checkout } from "../checks/checkout/types.ts";
import type { ChangedTest } from "../checks/judging/old_judges.ts";
import { ownTests } from "../checks/judging/old_judges.ts";
import { describeChange, type OldJudgement, withOldJudges } from "../checks/judging/with_old_judges.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../context/require_repository.ts";
import type { Notice } from "./progress.ts";

/** What has passed, to be judged by old tests. */
export interface ToJudge {
  readonly key: JournalKey;
  readonly items: readonly PassedItem[];
  readonly checks: readonly Check[];
  /** The run's checkout; `null`: one of its own. */
  readonly checkout: Checkout | null;
  readonly logs: string;
  readonly signal: AbortSignal;
}

/** At the end of a run: which tests changed, what the old ones say, and who is checked by tests of their own. */
export async function judgedByOldTests(ralph: RalphContext, run: ToJudge): Promise<readonly Notice[]> {
  const [head] = await requireRepository(ralph).log(1);
  if (ralph.config.tests.integrity === "off" || head === undefined) return [];
  const { key, items, checks, checkout, logs, signal } = run;
  const history = ralph.journal.judging(key);
  const judgement = await withOldJudges(ralph, checkout, { history, head: head.commit, checks, logs, signal });
  announce(ralph, judgement, null);
  return [...noticesOf(judgement), ...await ownTestNotices(ralph, { history, head: head.commit }, items)];
}

/** For one attempt, with `block`: why it fails, or `null`. */
export async function failsOldTests(
  ralph: RalphContext,
  item: Item,
  attempt: Omit<ToJudge, "items"> & { readonly head: string; readonly judged: JudgedItem },
): Promise<string | null> {
  const { key, head, checks, checkout, logs, signal, judged } = attempt;
  const history = ralph.journal.judging(key);
  const judgement = await withOldJudges(ralph, checkout, { history, head, checks, item, judged, logs, signal });
  if (judgement.status !== "failed" && judgement.status !== "unknown") return null;
  announce(ralph, judgement, item);
  const files = judgement.changes.map(describeChange).join(", ");
  const why = judgement.reason ?? judgement.failures.map(describeFailure).join("\n");
  return `it passes only with changed tests (${files}); with those from before the work:\n${why}`;
}

function announce({ events }: Pick<RalphContext, "events">, judgement: OldJudgement, item: Item | null): void {
  const { changes, failures } = judgement;
  if (changes.length === 0) return;
  events.emit({
    type: "tests-changed",
    item: item === null ? null : { id: item.id, kind: item.kind, title: item.title },
    files: changes.map(({ path, added, removed, items }) => ({ path, added, removed, items: [...items] })),
    failures: failures.map(({ name, tail }) => ({ name, tail })),
    blocked: item !== null,
  });
}

function noticesOf(judgement: OldJudgement): readonly Notice[] {
  const { changes, moved } = judgement;
  const subjects = [...new Set(changes.flatMap(({ items }) => items.length === 0 ? [""] : items))];
  const messages = subjects.map((id): Notice => {
    const own = changes.filter(({ items }) => id === "" ? items.length === 0 : items.includes(id));
    return { kind: "tests-changed", subject: id === "" ? "no turn" : id, message: messageOf(own, judgement) };
  });
  return [...messages, ...moved.map((subject): Notice => ({ kind: "workspace", subject, message: "" }))];
}

function messageOf(changes: readonly ChangedTest[], { status, failures, reason }: OldJudgement): string {
  const files = changes.map(describeChange).join(", ");
  if (status === "unknown") return `${files}; the old ones could not be run: ${reason ?? ""}`;
  if (failures.length === 0) return files;
  const names = failures.map(({ name }) => name).join(", ");
  return `${files}; with the old ones it FAILS: ${names}\n${failures.map(describeFailure).join("\n")}`;
}

function describeFailure({ name, exitCode, tail }: CheckResult): string {
  return `${name}: ${exitCode === null ? "failed" : `exit ${exitCode}`}\n${tail}`;
}

async function ownTestNotices(
  ralph: RalphContext,
  place: Parameters<typeof ownTests>[1],
  items: readonly PassedItem[],
): Promise<readonly Notice[]> {
  const isOwn = await ownTests(ralph, place);
  const found: Notice[] = [];
  for (const { id, checks } of items) {
    const own = checks.flatMap(({ command, own: mine }) => command !== undefined && mine === true ? [command] : []);
    if (own.length > 0 && await isOwn(own)) found.push({ kind: "own-tests", subject: id, message: "" });
  }
  return found;
}
