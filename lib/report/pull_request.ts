import { code, escape, withCode } from "./markdown.ts";
import {
  doubtedChecks,
  firstLine,
  itemText,
  noticeTexts,
  oneLine,
  proofOfItem,
  totalText,
  triedChecks,
} from "./texts.ts";
import type { CheckReport, ItemReport, RunReport } from "./types.ts";

const TITLE_LENGTH = 72;
/** Characters of a commit. */
const SHORT = 10;

/** Items that only look once more at what others did. */
const SECOND_LOOKS: ReadonlySet<string> = new Set(["checks", "review"]);

/** The commit that the ticks of a request speak of. */
export interface Proof {
  readonly commit: string;
  /** Which checks passed there, by name. */
  readonly results: ReadonlyMap<string, boolean>;
}

/** A request's title: the goal in a line. @param fallback where no run says what it was for */
export function requestTitle(reports: readonly RunReport[], fallback: string): string {
  const goal = oneLine(reports.findLast((report) => report.goal !== null)?.goal ?? fallback);
  if (goal.length <= TITLE_LENGTH) return goal;
  return `${goal.slice(0, TITLE_LENGTH - 1).replace(/\s+\S*$/, "")}…`;
}

/**
 * A request's body: what each item had to fulfil and what proved it, tests that changed, what no check has seen. Of
 * several runs on one branch the newest word on each item counts. Pure.
 *
 * @param reports oldest first
 * @param more what else the person who merges it should know
 * @param proof `null`: the commit as it is now is not checked yet, and nothing is ticked
 */
export function requestBody(
  reports: readonly RunReport[],
  more: readonly string[],
  proof: Proof | null,
): string {
  const goal = reports.findLast((report) => report.goal !== null)?.goal ?? null;
  const items = newestOf(reports);
  const last = reports.at(-1);
  const tests = [...new Set([...reports.flatMap(doubtedChecks), ...last === undefined ? [] : triedChecks(last)])];
  const doubts = [
    ...items.filter(({ state }) => state !== "verified").map((item) => `${item.id}: ${itemText(item).words}`),
    ...new Set(reports.flatMap(noticeTexts)),
    ...more,
  ];
  const proofs = new Map(
    items.map((item) => [item.id, reports.map((one) => proofOfItem(one, item)).findLast(Boolean)]),
  );
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
  const lines = [
    ...(goal === null || firstLine(goal) === requestTitle(reports, "") ? [] : [escape(firstLine(goal))]),
    ...section("Stories", items.flatMap((item) => storyLines(item, proof, proofs.get(item.id)))),
    ...section(`Whether the checks can be believed${atCommit(last)}`, tests.map((text) => `- ${withCode(text)}`)),
    ...section("Not verified, or to be known", doubts.map((text) => `- ${withCode(text)}`)),
    ...section(
      "Runs",
      reports.map(({ run, status, usage, hooks }) =>
        `- ${code(run)} ${escape(status ?? "no end recorded")}: ${escape(totalText(usage, hooks.length))}`
      ),
    ),
  ];
  return `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

/** Experiments speak of the commit on which their run ended, not of the one that leaves. */
function atCommit(last: RunReport | undefined): string {
  const commit = last?.work?.head;
  return commit === undefined ? "" : ` at ${commit.slice(0, SHORT)}`;
}

function newestOf(reports: readonly RunReport[]): readonly ItemReport[] {
  const byId = new Map<string, ItemReport>();
  for (const { items, parts } of reports) {
    for (const item of items) {
      if (SECOND_LOOKS.has(item.kind) || parts[item.part]?.kind !== "loop") continue;
      byId.set(`${item.id} ${item.title}`, item); // each plan counts from US-001 on
    }
  }
  return [...byId.values()];
}

function storyLines(item: ItemReport, proof: Proof | null, experiment = ""): readonly string[] {
  const last = item.attempts.at(-1);
  const attempts = item.attempts.length === 1 ? "" : `, ${item.attempts.length} attempts`;
  const commit = last?.commits.at(-1)?.commit;
  const at = commit === undefined ? "" : ` (${commit.slice(0, SHORT)})`;
  return [
    `### ${escape(item.id)}: ${escape(item.title)}`,
    "",
    `${escape(itemText(item).words)}${at}${attempts}${experiment === "" ? "" : `; ${escape(experiment)}`}`,
    "",
    ...item.criteria.map((criterion) => `- ${withCode(criterion)}`),
    ...(last?.checks ?? []).filter(({ beforeTurn }) => !beforeTurn).map((check) => checkLine(check, proof)),
    "",
  ];
}

/** A tick or a cross names the commit that it speaks of; a check that did not run there has neither. */
function checkLine({ name, ok, exitCode }: CheckReport, proof: Proof | null): string {
  if (!ok) return `- ✗ ${code(name)} (exit ${exitCode ?? "unknown"})`;
  if (proof === null) return `- ${code(name)}`;
  const at = proof.commit.slice(0, SHORT);
  const passed = proof.results.get(name);
  return passed === undefined ? `- ${code(name)} (not run at ${at})` : `- ${passed ? "✓" : "✗"} ${code(name)} at ${at}`;
}
