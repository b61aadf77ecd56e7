/**
 * The texts that a report is made of, the same in every form. Pure.
 *
 * @module
 */
import { localTime } from "../host/local_date.ts";
import { headlineOf } from "../backlog/attempts.ts";
import type { UsageTotal } from "../backlog/usage.ts";
import type { Usage } from "../backlog/types.ts";
import { noticeLabel, workText } from "../cli/end_with.ts";
import { dollars, formatDuration, plainText, type Symbols, usageText } from "../ui/text.ts";
import type * as reports from "./types.ts";

/** How something came out. */
export type Tone = "good" | "warn" | "bad" | "plain";

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  passed: "good",
  approved: "good",
  skipped: "good",
  failed: "bad",
  blocked: "bad",
  error: "bad",
};

const ITEM_LOOKS: Readonly<Record<reports.ItemState, readonly [words: string, tone: Tone]>> = {
  "verified": ["verified", "good"],
  "unverified": ["unverified: no check ran, or the unseen one failed", "warn"],
  "parked": ["parked", "bad"],
  "blocked": ["blocked", "bad"],
  "failed": ["failed", "bad"],
  "trespassed": ["wrote outside the allowed paths", "bad"],
  "agent-unusable": ["the agent cannot be used", "bad"],
  "not-done": ["not done", "warn"],
  "interrupted": ["interrupted", "warn"],
  "reopened": ["passed, and was sent back", "warn"],
  "in-progress": ["in progress", "plain"],
};

/** The mark before a line. */
export function markOf(tone: Tone, symbols: Symbols): string {
  return { good: symbols.passed, warn: symbols.warning, bad: symbols.failed, plain: symbols.open }[tone];
}

/** How the run came out, in a word or a sentence. */
export function outcomeOf(
  { state, status, running, counts }: reports.RunReport,
): { readonly word: string; readonly tone: Tone; readonly detail: string } {
  if (state === "running") {
    const detail = `pid ${running?.pid} has been at work since ${localTime(running?.since ?? "")}`;
    return { word: "still running", tone: "plain", detail };
  }
  if (state === "cut-off") {
    return { word: "no end recorded", tone: "bad", detail: "it was killed, or an error ended it" };
  }
  if (state === "empty") return { word: "nothing recorded", tone: "warn", detail: "the file of events holds no event" };
  return status === null
    ? { word: "no outcome recorded", tone: "plain", detail: "turns were taken outside a loop" }
    : { word: status, tone: statusTone(status), detail: countsText(counts) };
}

/** The run's goal if it has one; else the run's id. */
export function headingOf({ goal, run }: reports.RunReport): string {
  return goal === null ? `Run ${run}` : firstLine(goal);
}

/** The branch, and what it holds if that is known. */
export function branchText({ work, branch }: reports.RunReport): string {
  return work === null ? branch ?? "" : workText(work);
}

/**
 * Notices in lines, without notices that lines of their own tell already. If there are several runs, the newest word on
 * each subject counts.
 *
 * @param reports oldest first
 */
export function noticeTexts(...reports: readonly reports.RunReport[]): readonly string[] {
  const told = reports.flatMap((report) =>
    report.notices.filter((notice) =>
      !isTold(notice, report) && (notice.kind !== "not-run" || report === reports.at(-1)) // lines have moved since
    )
  );
  const texts = told.map(({ kind, subject, message }) => {
    const about = `${noticeLabel(kind)}: ${oneLine(subject)}`;
    return [about, `${about}${message === "" ? "" : `: ${firstLine(message)}`}`] as const;
  });
  return [...new Map(texts).values()];
}

function isTold({ kind, subject }: reports.RunReport["notices"][number], { restored }: reports.RunReport): boolean {
  // other lines name restored state with the items in whose turns it was edited
  const isState = kind === "restored" && restored.some(({ paths }) => paths.includes(subject));
  return isState || kind === "old-tests" || kind === "cannot-fail";
}

/** How a step's or loop's status reads. */
export function statusTone(status: string | null): Tone {
  return status === null ? "plain" : STATUS_TONES[status] ?? "warn";
}

/** `3 verified, 1 parked`; nothing where there were no items. */
function countsText({ verified, unverified, parked, open }: reports.ItemCounts): string {
  return [[verified, "verified"], [unverified, "unverified"], [parked, "parked"], [open, "open"]]
    .filter(([count]) => count !== 0).map(([count, word]) => `${count} ${word}`).join(", ");
}

/** How an item ended. */
export function itemText({ state, reason }: reports.ItemReport): { readonly words: string; readonly tone: Tone } {
  const [words, tone] = ITEM_LOOKS[state];
  return { words: state === "unverified" && reason !== null ? "unverified, not claimed" : words, tone };
}

/** The experiments' proof for an item, in a line; empty if nothing was tried. */
export function proofOfItem({ experiments }: reports.RunReport, { id }: Pick<reports.ItemReport, "id">): string {
  return experiments.findLast(({ item, tried }) => item === id && tried.length === 1)?.tried[0] ?? "";
}

/** Who wrote where it may not. */
export function trespassText({ by, item, paths }: reports.RunReport["trespasses"][number]): string {
  const where = paths.map(oneLine).join(", ");
  return by === "planner"
    ? `changed while the planner was at work, by it or by a person: ${where}`
    : `written outside the allowed paths${item === null ? "" : ` by ${oneLine(item)}`}: ${where}`;
}

/** Items that are not verified, those in the same state for the same reason together. */
export function openItems(
  { items }: reports.RunReport,
): readonly { readonly ids: readonly string[]; readonly words: string; readonly tone: Tone }[] {
  const groups = new Map<string, { readonly ids: string[]; readonly words: string; readonly tone: Tone }>();
  for (const item of items) {
    if (item.state === "verified") continue;
    const { words, tone } = itemText(item);
    const text = item.reason === null ? words : `${words}: ${oneLine(headlineOf(item.reason))}`;
    const group = groups.get(text) ?? { ids: [], words: text, tone };
    group.ids.push(oneLine(item.id));
    groups.set(text, group);
  }
  return [...groups.values()];
}

/** Paths that were restored, with the items in whose turns they were edited. */
export function restoredGroups(
  { restored }: reports.RunReport,
): readonly { readonly path: string; readonly items: readonly string[] }[] {
  const groups = new Map<string, Set<string>>();
  for (const { paths, item } of restored) {
    for (const path of paths) {
      const items = groups.get(path) ?? new Set();
      if (item !== null) items.add(oneLine(item));
      groups.set(path, items);
    }
  }
  return [...groups].map(([path, items]) => ({ path, items: [...items] }));
}

/** Why the checks cannot be believed, a line each; nothing for good work. */
export function doubtedChecks({ experiments }: reports.RunReport): readonly string[] {
  return experiments.flatMap(({ item, findings, blocked }) =>
    findings.map((text) =>
      `the checks cannot be believed${item === null ? "" : ` for ${oneLine(item)}`}${
        blocked ? ", so that the work failed" : ""
      }: ${firstLine(text)}`
    )
  );
}

/** Lists what Ralph tried to find out whether the checks can be believed: for the newest work alone. */
export function triedChecks({ experiments }: reports.RunReport): readonly string[] {
  return experiments.findLast(({ item }) => item === null)?.tried ?? [];
}

/** The experiments at the end that there was no time for, as `ralph gate` says it; empty if there are none. */
export function leftOut(report: reports.RunReport): string {
  return triedChecks(report).find((text) => text.startsWith("no time left for")) ?? "";
}

/** Hooks that did not complete: `broken: failed 5 times: exit 3`. */
export function brokenHooks({ hooks }: reports.RunReport): readonly string[] {
  const groups = new Map<string, number>();
  for (const { hook, status, message } of hooks) {
    if (status === "completed") continue;
    const text = `hook ${oneLine(hook)} ${status ?? "did not end"}${
      listed(message === null ? [] : [firstLine(message)])
    }`;
    groups.set(text, (groups.get(text) ?? 0) + 1);
  }
  return [...groups].map(([text, times]) => times === 1 ? text : `${text}, ${times} times`);
}

/** Why an attempt ended so, where its checks below do not say it already. */
export function attemptReason({ message, checks }: reports.AttemptReport): string | null {
  if (message === null || message.trim() === "") return null;
  const first = firstLine(message);
  return checks.some(({ name, ok }) => !ok && first.startsWith(oneLine(name))) ? null : first;
}

/** The usage of an item's turns, short; nothing if nothing is known. */
export function itemUsage({ usage }: reports.ItemReport): string {
  if (!isReported(usage)) return "";
  const unreported = Math.max(usage.turnsWithoutTokens, usage.turnsWithoutCost);
  return `${usageText(usage)}${unreported === 0 ? "" : " or more"}`;
}

/** True if anything at all is known of the usage. */
function isReported({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return (inputTokens ?? outputTokens ?? costUsd) !== null;
}

/** How an attempt ended. */
export function attemptText(
  { result, settlement }: reports.AttemptReport,
): { readonly words: string; readonly tone: Tone } {
  if (result === null) return { words: "not ended", tone: "warn" };
  const state = settlement === "parked" || result in ITEM_LOOKS ? result as reports.ItemState : "not-done";
  const isUnsettled = result === "verified" && settlement !== "passed";
  const [words, tone] = isUnsettled ? ["checks passed, not settled", "warn"] as const : ITEM_LOOKS[state];
  return { words: settlement === "parked" ? `${words}, parked` : words, tone };
}

/** `plan`, `feature 2026-01-02-auth`. */
export function partName({ name, scope, kind }: reports.RunPart): string {
  if (kind === "turns") return "turns outside a loop";
  return scope === null ? name : `${name} ${oneLine(scope)}`;
}

/** The loops of a run, which are its workflows; where it had none, the steps that it had. */
export function workflowsText({ parts }: reports.RunReport): string {
  const loops = parts.filter(({ kind }) => kind === "loop");
  return (loops.length === 0 ? parts : loops).map(partName).join(", then ");
}

/** Agents, their models, their turns, what they used, how often they passed. */
export function agentsText({ agents }: reports.RunReport): string {
  return agents.map(({ name, models, turns, usage, attempts, passed }) =>
    [
      `${name}${models.length === 0 ? "" : ` (${models.join(", ")})`}, ${plural(turns, "turn")}`,
      ...(agents.length > 1 && isReported(usage) ? [usageText(usage)] : []),
      ...(attempts === 0 ? [] : [`passed ${passed} of ${plural(attempts, "attempt")}`]),
    ].join(", ")
  ).join("; ");
}

/** `1,204 tokens (1,000 in, 204 out), about $0.03`. Unknown figures are called so. */
function fullUsageText(usage: Usage): string {
  const { inputTokens, outputTokens, cachedTokens, costUsd, estimated } = usage;
  const parts = [
    ...(inputTokens === null ? [] : [`${inputTokens.toLocaleString("en-US")} in`]),
    ...(cachedTokens === null || cachedTokens === 0 ? [] : [`${cachedTokens.toLocaleString("en-US")} of it cached`]),
    ...(outputTokens === null ? [] : [`${outputTokens.toLocaleString("en-US")} out`]),
  ];
  const sum = (inputTokens ?? 0) + (outputTokens ?? 0);
  const tokens = inputTokens === null && outputTokens === null
    ? "tokens unknown"
    : `${sum.toLocaleString("en-US")} tokens (${parts.join(", ")})`;
  const cost = costUsd === null ? "cost unknown" : `${estimated ? "about " : ""}${dollars(costUsd)}`;
  return `${tokens}, ${cost}${costUsd !== null && estimated ? " by the agent's own estimate" : ""}`;
}

/** The same over turns, with how many of them reported nothing. */
export function totalText(usage: UsageTotal, hooks: number): string {
  const { turns, turnsWithoutTokens, turnsWithoutCost } = usage;
  if (turns === 0) return "no agent turn ended";
  const unreported = (count: number, what: string): readonly string[] =>
    count === 0 || count === turns ? [] : [`${count} of ${turns} turns reported no ${what}: it is at least this`];
  return [
    fullUsageText(usage),
    ...unreported(turnsWithoutTokens, "tokens"),
    ...unreported(turnsWithoutCost, "cost"),
    ...(hooks === 0 ? [] : ["hooks not counted"]),
  ].join("; ");
}

/** How a turn ended. */
export function turnText({ agent, reason, message, durationMs, usage }: reports.TurnReport): string {
  if (reason === null) return `${agent}: did not end`;
  const facts = [
    ...(durationMs === null ? [] : [formatDuration(durationMs)]),
    ...(usage === null || !isReported(usage) ? [] : [usageText(usage)]),
  ];
  return `${agent}: ${reason}${listed(facts)}${message === null ? "" : `: ${oneLine(message)}`}`;
}

const TESTS_NAMED = 10;

/** `12 tests, 2 failed: a, b, 1 skipped`; nothing where the check said nothing of its tests. */
export function testsText(tests: reports.CheckReport["tests"]): string {
  if (tests === undefined) return "";
  const { passed, failed, skipped, failures } = tests;
  const more = failed > TESTS_NAMED ? [`… ${failed - TESTS_NAMED} more`] : [];
  return [
    plural(passed + failed + skipped, "test"),
    ...skipped === 0 ? [] : [`${skipped} skipped`],
    ...failed === 0
      ? []
      : [`${failed} failed: ${[...failures.slice(0, TESTS_NAMED).map(oneLine), ...more].join("; ")}`],
  ].join(", ");
}

/** A check's result, after its name. */
export function checkText({ ok, exitCode, durationMs, beforeTurn, failedBefore, tests }: reports.CheckReport): string {
  const words = [
    ...(ok ? [] : [exitCode === null ? "no exit code" : `exit ${exitCode}`]),
    formatDuration(durationMs),
    ...(beforeTurn ? ["before the turn"] : []),
    ...(failedBefore ? ["failed before the run as well"] : []),
    ...(tests === undefined ? [] : [testsText(tests)]),
  ];
  return words.join(", ");
}

/** A commit's subject and size. */
export function commitText({ subject, filesChanged, by }: reports.CommitReport): string {
  const facts = [
    ...(filesChanged === null ? [] : [plural(filesChanged, "file")]),
    ...(by === "other" ? ["made by the agent or another person"] : []),
  ];
  return `${oneLine(subject)}${listed(facts)}`;
}

/** How a hook ended. */
export function hookText({ hook, iteration, status, exitCode, durationMs, message }: reports.HookReport): string {
  const facts = [
    `iteration ${iteration}`,
    ...(exitCode === null || exitCode === 0 ? [] : [`exit ${exitCode}`]),
    ...(durationMs === null ? [] : [formatDuration(durationMs)]),
  ];
  const end = `${oneLine(hook)}: ${status ?? "did not end"}${listed(facts)}`;
  return `${end}${message === null ? "" : `: ${oneLine(message)}`}`;
}

/** When it began, when it ended, how long that was. */
export function whenText({ startedAt, endedAt, durationMs, state }: reports.RunReport): string {
  if (startedAt === null || endedAt === null || durationMs === null) return "unknown";
  const [from, to] = [localTime(startedAt), localTime(endedAt)];
  const end = from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to;
  const text = state === "ended" ? `to ${end}` : `last event ${end}`;
  return `${from} ${text} (${formatDuration(durationMs)})`;
}

/** The first line of a text, without what moves a cursor. */
export function firstLine(text: string): string {
  return oneLine(text.split("\n").find((line) => line.trim() !== "") ?? "");
}

/** A text on one line, without what moves a cursor. */
export function oneLine(text: string): string {
  return plainText(text).replaceAll(/\s+/g, " ").trim();
}

/** `1 turn`, `2 turns`. */
export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

function listed(facts: readonly string[]): string {
  return facts.length === 0 ? "" : ` (${facts.join(", ")})`;
}

/** `3 workers: 12 landings, 8 checked again; 2 conflicts, which cost 2 turns`, or nothing where there was one worker. */
export function landingsText({ landings }: Pick<reports.RunReport, "landings">): string {
  if (landings === null) return "";
  const { lanes, landed, checkedAgain, failedTogether, conflicts } = landings;
  const lost = conflicts === 0 ? "" : `; ${plural(conflicts, "conflict")}, which cost ${plural(conflicts, "turn")}`;
  const failed = failedTogether === 0 ? "" : `; ${failedTogether} passed alone and failed together`;
  return `${plural(lanes, "worker")}: ${plural(landed, "landing")}, ${checkedAgain} checked again${failed}${lost}`;
}
