import { code, escape, withCode } from "./markdown.ts";
import { changedTests, firstLine, itemText, noticeTexts, oneLine, totalText } from "./texts.ts";
import type { ItemReport, RunReport } from "./types.ts";

const TITLE_LENGTH = 72;

/** Items that only look once more at what others did. */
const SECOND_LOOKS: ReadonlySet<string> = new Set(["checks", "review"]);

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
 */
export function requestBody(reports: readonly RunReport[], more: readonly string[] = []): string {
  const goal = reports.findLast((report) => report.goal !== null)?.goal ?? null;
  const items = newestOf(reports);
  const tests = [...new Set(reports.flatMap(changedTests))];
  const doubts = [
    ...items.filter(({ state }) => state !== "verified").map((item) => `${item.id}: ${itemText(item).words}`),
    ...new Set(reports.flatMap(noticeTexts)),
    ...more,
  ];
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
  const lines = [
    ...(goal === null || firstLine(goal) === requestTitle(reports, "") ? [] : [escape(firstLine(goal))]),
    ...section("Stories", items.flatMap(storyLines)),
    ...section("Tests that changed", tests.map((text) => `- ${escape(text.replace(/^tests changed:? /, ""))}`)),
    ...section("Not verified, or to be known", doubts.map((text) => `- ${escape(text)}`)),
    ...section(
      "Runs",
      reports.map(({ run, status, usage, hooks }) =>
        `- ${code(run)} ${escape(status ?? "no end recorded")}: ${escape(totalText(usage, hooks.length))}`
      ),
    ),
  ];
  return `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

function newestOf(reports: readonly RunReport[]): readonly ItemReport[] {
  const byId = new Map<string, ItemReport>();
  for (const { items, parts } of reports) {
    for (const item of items) {
      if (!SECOND_LOOKS.has(item.kind) && parts[item.part]?.kind === "loop") byId.set(item.id, item);
    }
  }
  return [...byId.values()];
}

function storyLines(item: ItemReport): readonly string[] {
  const last = item.attempts.at(-1);
  const attempts = item.attempts.length === 1 ? "" : `, ${item.attempts.length} attempts`;
  return [
    `### ${escape(item.id)}: ${escape(item.title)}`,
    "",
    `${escape(itemText(item).words)}${attempts}`,
    "",
    ...item.criteria.map((criterion) => `- ${withCode(criterion)}`),
    ...(last?.checks ?? []).filter(({ beforeTurn }) => !beforeTurn).map(({ name, ok, exitCode }) =>
      `- ${ok ? "✓" : "✗"} ${code(name)}${ok ? "" : ` (exit ${exitCode ?? "unknown"})`}`
    ),
    "",
  ];
}
