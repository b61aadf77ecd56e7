import { posix } from "node:path";
import type { JournalKey, JudgingHistory } from "../../backlog/journal_types.ts";
import type { Attempt, Item, PassedRecord } from "../../backlog/types.ts";
import { commitOfTree, openCheckout } from "../../checks/checkout/open_checkout.ts";
import type { BringUp } from "../../checks/checkout/place.ts";
import { seenIn } from "../../checks/experiment/canaries.ts";
import {
  type Evidence,
  type Experiment,
  type ExperimentOptions,
  experiments,
} from "../../checks/experiment/experiments.ts";
import { type Findings, findingsOf, leftOutText, triedTexts } from "../../checks/experiment/findings.ts";
import { namedCheck } from "../../checks/function.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/repository.ts";
import { type AttemptParts, withoutReviews } from "./attempt_parts.ts";
import { checkedAsOf } from "../finish/clean.ts";
import { judgedItem } from "../journal/judging_history.ts";
import { mayBeTest, testsBy } from "../../checks/experiment/product.ts";

/** Work that has passed its checks. */
export interface ToTry extends Pick<ExperimentOptions, "checkMs" | "checks" | "signal" | "spentMs"> {
  readonly history: JudgingHistory;
  /** The commit with the work. */
  readonly head: string;
  /** Brings the run's checkout up to a commit; `null`: a checkout of its own. */
  readonly bringUp: BringUp | null;
  readonly stateFiles: readonly string[];
  readonly item?: Item;
  /** Tells whether a path belongs to the work. @default everything */
  readonly isChanged?: (path: string) => boolean;
}

interface PassedInRun {
  readonly key: JournalKey;
  readonly passed: readonly string[];
}

/** The facts to know at the end of a run, and the reasons that fail it. */
export async function evidenceAtEnd(
  ralph: RalphContext,
  run: Omit<ToTry, "history" | "head"> & PassedInRun,
): Promise<Findings> {
  const { head } = await requireRepository(ralph).head();
  if (ralph.config.tests.integrity === "off" || head === null) return { notices: [], reasons: [] };
  const history = ralph.journal.judging(run.key);
  const items = provableItems(ralph, { ...run, history });
  const work = { ...run, history, head };
  const { evidence, found } = await tried(ralph, work, items.length === 0 ? undefined : ["old judges", "canaries"]);
  let spentMs = evidence.cost.ms;
  for (const { id, kind, isChanged, ...own } of found.reasons.length > 0 ? [] : items) {
    const ofItem = { ...work, ...own, isChanged, spentMs };
    const proof = await experimentsOn(ralph, ofItem, ["without the work", "own tests"]);
    spentMs += proof.cost.ms;
    const text = proofText(proof, evidence.oldJudges);
    if (text === null) continue;
    const item = { id, kind, title: id };
    ralph.events.emit({ type: "experiments", item, findings: [], tried: [text], blocked: false });
  }
  return found;
}

/** For one attempt, with `tests.integrity: "block"`: why it fails, or `null`. */
export async function notBelieved(
  { ralph, backlog, item, checks, options, signal }: AttemptParts,
  { turn, verification, greenBefore }: Pick<Attempt, "turn" | "verification" | "greenBefore">,
): Promise<string | null> {
  const history = options.judging ?? { base: turn?.base ?? null, steps: [], items: [] };
  const known = history.items.find(({ id }) => id === item.id);
  const judged = judgedItem(item, { turn }, known);
  const clean = checkedAsOf(ralph, backlog) === "commit" ? options.clean : undefined;
  const named = withoutReviews(checks).map(namedCheck).filter((check) => check !== null);
  const work: ToTry = {
    history: { ...history, items: [...history.items.filter(({ id }) => id !== item.id), judged] },
    head: await commitOfTree(ralph),
    checks: named,
    checkMs: (verification?.results ?? []).reduce((sum, { durationMs }) => sum + durationMs, 0),
    bringUp: clean?.bringUp === undefined ? null : (commit) => clean.bringUp!(commit),
    stateFiles: backlog.stateFiles,
    item,
    signal,
  };
  const { found: { reasons } } = await tried(ralph, work);
  const unproved = greenBefore === true
    ? await whyUnproved(ralph, { ...work, checks: named.filter(({ own }) => own) })
    : [];
  const all = [...reasons, ...unproved];
  return all.length === 0 ? null : all.join("\n");
}

/** Checks that were green before the work have to be red without it, with the tests that came with it. */
async function whyUnproved(ralph: RalphContext, work: ToTry): Promise<readonly string[]> {
  const { withoutWork } = await experimentsOn(ralph, work, ["without the work"]);
  switch (withoutWork?.status) {
    case "green":
    case "nothing to try":
      return ["its own checks pass without its work"];
    case "unknown":
      return [`its own checks passed before its work, and were not tried without it: ${withoutWork.reason}`];
    default:
      return [];
  }
}

async function tried(ralph: RalphContext, work: ToTry, only?: readonly Experiment[]) {
  const evidence = await experimentsOn(ralph, work, only);
  const found = findingsOf(evidence, ralph.config.tests.integrity === "block" ? "anything" : "cannot fail");
  announce(ralph, { item: work.item ?? null, evidence, found });
  return { evidence, found };
}

async function experimentsOn(ralph: RalphContext, work: ToTry, only?: readonly Experiment[]): Promise<Evidence> {
  const { checks, stateFiles, isChanged = () => true } = work;
  const { trust, experiments: { budget } } = ralph.config;
  const own = new Set([CONFIG_FILE, ...stateFiles].map((path) => posix.normalize(path)));
  const open = work.bringUp === null ? await openCheckout(ralph, { signal: work.signal }) : null;
  try {
    return await experiments(ralph, {
      ...work,
      commands: checks.flatMap(({ command }) => command === undefined ? [] : [command]),
      checks: checks.filter(({ command }) => command !== undefined),
      isOwn: (path) => own.has(path) || !isChanged(path),
      bringUp: (commit) => open?.bringUp(commit) ?? (work.bringUp as BringUp)(commit),
      budget: trust === "strict" ? 5 * budget : budget,
      ...(only === undefined ? {} : { only }),
    });
  } finally {
    await open?.[Symbol.asyncDispose]();
  }
}

function announce(
  { events }: Pick<RalphContext, "events">,
  { item, evidence, found }: { readonly item: Item | null; readonly evidence: Evidence; readonly found: Findings },
): void {
  if (evidence.cost.runs === 0 && evidence.left.length === 0) return;
  events.emit({
    type: "experiments",
    item: item === null ? null : { id: item.id, kind: item.kind, title: item.title },
    findings: found.notices.filter(({ kind }) => kind !== "not-tried").map(({ subject, message }) =>
      `${subject}: ${message}`
    ),
    tried: triedTexts(evidence),
    blocked: found.reasons.length > 0,
  });
}

/**
 * Items of this run that came with a test and have a commit of their own, with those of their checks that a checkout can
 * make, between the commit before their first attempt and their own. The files of other items are none of their work.
 */
function provableItems(
  { config, journal }: Pick<RalphContext, "config" | "journal">,
  { key, history, passed, checks }: PassedInRun & Pick<ToTry, "checks" | "history">,
) {
  const known = new Set(checks.map(({ command }) => command));
  const isTest = testsBy(config.tests.globs);
  return journal.passed(key).filter(({ id }) => passed.includes(id)).flatMap((record: PassedRecord) => {
    const { id, kind, commit, since } = record;
    const own = record.checks.filter(({ command }) => known.has(command));
    const item = history.items.find((one) => one.id === id);
    if (commit === null || since === undefined || own.length === 0 || item === undefined) return [];
    if (!item.changed.some((path) => mayBeTest(path, isTest))) return [];
    const changed = new Set(item.changed);
    const range = { base: since, steps: [], items: [item] };
    return [{ id, kind, head: commit, history: range, checks: own, isChanged: (path: string) => changed.has(path) }];
  });
}

/** The proof of an item, in a line; `null` if there was nothing to try. Pure. */
function proofText(evidence: Evidence, oldJudges: Evidence["oldJudges"]): string | null {
  const { withoutWork, ownTests } = evidence;
  const leftOut = leftOutText(evidence);
  switch (withoutWork?.status) {
    case "red": {
      const { seen, of } = seenIn(ownTests ?? { files: [] });
      return [
        "red without the work",
        ...oldJudges?.status === "agree" ? ["the old checks agree"] : [],
        ...of === 0 ? [] : [`${seen} of ${of} canaries seen`],
        ...leftOut === null ? [] : [leftOut],
      ].join("; ");
    }
    case "green":
      return "passes without the work";
    case "unknown":
      return leftOut ?? `not tried without the work: ${withoutWork.reason}`;
    default:
      return null;
  }
}
