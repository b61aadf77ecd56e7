import type { JournalKey } from "../backlog/journal_types.ts";
import type { Attempt, Check, CheckResult, Item, PassedItem } from "../backlog/types.ts";
import { commitOfTree } from "../checks/check_tree.ts";
import { type ChangedTest, ownTests } from "../checks/judging/old_judges.ts";
import { type BringUp, describeChange, type OldJudgement, withOldJudges } from "../checks/judging/with_old_judges.ts";
import { namedCheck } from "../checks/function.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { type AttemptParts, withoutReviews } from "./attempt_parts.ts";
import { checkedAsOf } from "./clean.ts";
import { judgedItem } from "./judging_history.ts";
import type { Notice } from "./progress.ts";

/** What has passed, to be judged by old tests. */
export interface ToJudge {
  readonly key: JournalKey;
  readonly items: readonly PassedItem[];
  readonly checks: readonly Check[];
  /** Brings the run's checkout up to a commit; `null`: a checkout of its own. */
  readonly bringUp: BringUp | null;
  /** Files of the commit that the checks have written. */
  readonly touched: () => Promise<readonly string[]>;
  readonly logs: string;
  readonly signal: AbortSignal;
}

/** At the end of a run: which tests changed, what the old ones say, and who is checked by tests of their own. */
export async function judgedByOldTests(ralph: RalphContext, run: ToJudge): Promise<readonly Notice[]> {
  const [head] = await requireRepository(ralph).log(1);
  if (ralph.config.tests.integrity === "off" || head === undefined) return [];
  const { key, items, checks, bringUp, touched, logs, signal } = run;
  const history = ralph.journal.judging(key);
  const judgement = await withOldJudges(ralph, bringUp, { history, head: head.commit, checks, touched, logs, signal });
  announce(ralph, judgement, null);
  return [...noticesOf(judgement), ...await ownTestNotices(ralph, { history, head: head.commit }, items)];
}

/** For one attempt, with `block`: why it fails, or `null`. */
export async function failsOldTests<Data, Findings>(
  { ralph, backlog, item, checks, options, signal, logs }: AttemptParts<Data, Findings>,
  { turn }: Pick<Attempt<Findings>, "turn">,
): Promise<string | null> {
  const history = options.judging ?? { base: turn?.base ?? null, steps: [], items: [] };
  const known = history.items.find(({ id }) => id === item.id);
  const clean = checkedAsOf(ralph, backlog) === "commit" ? options.clean : undefined;
  const bringUp = clean?.bringUp === undefined ? null : (commit: string) => clean.bringUp!(commit);
  const judgement = await withOldJudges(ralph, bringUp, {
    history,
    head: await commitOfTree(ralph),
    checks: withoutReviews(checks).map(namedCheck).filter((check) => check !== null),
    item,
    judged: judgedItem(item, { turn }, known),
    logs,
    signal,
  });
  if (judgement.status !== "failed" && judgement.status !== "unknown") return null;
  announce(ralph, judgement, item);
  const files = judgement.changes.map(describeChange).join(", ");
  const why = judgement.reason ?? judgement.failures.map(describeFailure).join("\n");
  return `it passes only with changed tests (${files}); with those from before the work:\n${why}`;
}

function announce({ events }: Pick<RalphContext, "events">, judgement: OldJudgement, item: Item | null): void {
  if (judgement.changes.length === 0) return;
  events.emit({
    type: "tests-changed",
    item: item === null ? null : { id: item.id, kind: item.kind, title: item.title },
    findings: findingsOf(judgement),
    blocked: item !== null,
  });
}

function findingsOf({ changes, failures, reason }: OldJudgement): readonly string[] {
  return [
    ...changes.map((change) =>
      `${describeChange(change)}${change.items.length === 0 ? "" : ` (${change.items.join(", ")})`}`
    ),
    ...reason === undefined ? [] : [`the old ones could not be run: ${reason}`],
    ...failures.map((failure) => `fails with the old ones: ${endOf(failure)}`), // its output is with the check
  ];
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

function endOf({ name, exitCode }: CheckResult): string {
  return `${name}: ${exitCode === null ? "failed" : `exit ${exitCode}`}`;
}

function describeFailure(failure: CheckResult): string {
  return `${endOf(failure)}\n${failure.tail}`;
}

async function ownTestNotices(
  ralph: RalphContext,
  place: Parameters<typeof ownTests>[1],
  items: readonly PassedItem[],
): Promise<readonly Notice[]> {
  const { base, items: attempted } = place.history;
  if (base === null && attempted.length === 0) return []; // nothing was attempted: all tests were there
  const isOwn = await ownTests(ralph, place);
  const found: Notice[] = [];
  for (const { id, checks } of items) {
    const own = checks.flatMap(({ command, own: mine }) => command !== undefined && mine === true ? [command] : []);
    if (own.length > 0 && await isOwn(own)) found.push({ kind: "own-tests", subject: id, message: "" });
  }
  return found;
}
