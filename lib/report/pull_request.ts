import { shellWord } from "../host/shell.ts";
import { headlineOf } from "../backlog/attempts.ts";
import { checkId, verifyCommands } from "../backlog/verify_commands.ts";
import { formatDuration, linesText } from "../ui/text.ts";
import type { Change, ChangedFile } from "./changed_files.ts";
import { code, escape, longestRun, withCode } from "./markdown.ts";
import * as reportTexts from "./texts.ts";
import type { ItemReport, RunReport } from "./types.ts";

const TITLE_LENGTH = 72;
/** Characters of a commit. */
const SHORT = 10;
/** Before the fold is one screen: so many lines of a section. */
const SHOWN = { files: 6, stories: 16, left: 6, runs: 2, tests: 3 };

/** The kind of items that a tracker has: merging the request closes them. */
const ISSUE = "issue";
const PASSED: ReadonlySet<string> = new Set(["verified", "unverified"]);

/** The commit that the ticks of a request speak of. */
export interface Proof {
  readonly commit: string;
  /** Which checks passed there, by id. */
  readonly results: ReadonlyMap<string, boolean>;
}

/** The facts that a request is made from, beside the runs. */
export interface RequestFacts {
  readonly change: Change;
  /** Other things that the person who merges it should know. */
  readonly more: readonly string[];
  /** `null`: the commit as it is now is not checked yet, and nothing is ticked. */
  readonly proof: Proof | null;
  /** Commits that others have taken the place of, by these. @default none */
  readonly instead?: ReadonlyMap<string, string>;
}

/** A part of the body: whole, and as it stands before the fold. */
type Section = Readonly<Record<"lines" | "short", readonly string[]>> & { readonly title: string };

/**
 * A request's title: the goal in a line; without one the first item, and how many there are beside it.
 *
 * @param fallback where no run says what it was for
 * @param formed gives it the form of the project's own subjects
 */
export function requestTitle(
  reports: readonly RunReport[],
  fallback: string,
  formed: (title: string) => string = (title) => title,
): string {
  const [first, ...more] = newestOf(reports).map(({ title }) => title);
  const items = first === undefined || more.length === 0 ? first : `${first}, and ${more.length} more`;
  const asked = reports.findLast((report) => report.goal !== null)?.goal ?? items;
  const goal = asked === undefined ? fallback : formed(reportTexts.oneLine(asked));
  if (goal.length <= TITLE_LENGTH) return goal;
  return `${goal.slice(0, TITLE_LENGTH - 1).replace(/\s+\S*$/, "")}…`;
}

/**
 * A request's body: one screen with what changed, what each item had to fulfil and what proved it, what is left, how it
 * was made and how to repeat it; below a fold what did not fit. If there are several runs, the newest word on each item
 * counts. Pure.
 *
 * @param reports oldest first
 */
export function requestBody(reports: readonly RunReport[], facts: RequestFacts): string {
  const goal = reportTexts.firstLine(reports.findLast((report) => report.goal !== null)?.goal ?? "");
  const items = newestOf(reports);
  const last = reports.at(-1);
  const checked = last?.checked ?? null;
  const closing = items.filter(({ kind, state }) => kind === ISSUE && PASSED.has(state)).map(({ id }) =>
    `Closes ${id}`
  );
  const sections = [
    changedSection(facts.change),
    storySection(items, reports, facts),
    leftSection(items, reports, facts),
    cutTo(SHOWN.runs, "How it was made", reports.map(madeLine).toReversed()),
  ];
  const folded = [
    ...sections.filter(({ lines, short }) => lines !== short),
    // what Ralph tried, at the commit that the run checked, not at the one that leaves
    {
      title: `Whether the checks can be believed${checked === null ? "" : ` at ${shortOf(checked, facts.instead)}`}`,
      lines: last === undefined ? [] : reportTexts.triedChecks(last).map((text) => `- ${withCode(text)}`),
    },
  ].filter(({ lines }) => lines.length > 0);
  const lines = [
    ...goal === requestTitle(reports, "") ? [] : [escape(goal), ""],
    ...closing.length === 0 ? [] : [...closing, ""],
    ...sections.filter(({ lines }) => lines.length > 0).flatMap((
      { title, short },
    ) => [`### ${title}`, "", ...short, ""]),
    ...repeatLines(items, facts),
    ...folded.length === 0 ? [] : ["", "<details><summary>More</summary>", ""],
    ...folded.flatMap(({ title, lines: all }) => [`### ${title}`, "", ...all, ""]),
    ...folded.length === 0 ? [] : ["</details>"],
  ];
  return `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

/** The part before the fold, for a commit's message. Pure. */
export function beforeFold(body: string): string {
  return body.split("\n<details>")[0]!.trimEnd();
}

function cutTo(count: number, title: string, lines: readonly string[]): Section {
  if (lines.length <= count) return { title, lines, short: lines };
  return { title, lines, short: [...lines.slice(0, count - 1), `- … ${lines.length - count + 1} more below`] };
}

function changedSection({ files, kept }: Change): Section {
  const sum = (of: "added" | "removed"): number => files.reduce((all, file) => all + file[of], 0);
  const total = linesText({ added: sum("added"), removed: sum("removed") });
  const fileLine = (file: ChangedFile): string =>
    `- ${code(file.path)} ${linesText(file)}${file.kind === "test" ? " (test)" : ""}`;
  const heading = `Changed: ${reportTexts.plural(files.length, "file")}, ${total}`;
  const { lines, short, title } = cutTo(SHOWN.files, heading, files.map(fileLine));
  if (kept.length === 0) return { lines, short, title };
  const count = `- Plans and notes, not counted: ${reportTexts.plural(kept.length, "file")}`;
  const named = `${count}: ${kept.map(code).join(", ")}`;
  return { title, lines: [...lines, named], short: [...short, kept.length > SHOWN.tests ? count : named] };
}

function storySection(
  items: readonly ItemReport[],
  reports: readonly RunReport[],
  { proof, instead, change }: RequestFacts,
): Section {
  const heads = items.map((item) => storyLine(item, reports, instead));
  const own = new Set(items.flatMap(({ criteria }) => criteria.flatMap(verifyCommands)));
  const others = items.flatMap(({ attempts }) => attempts.at(-1)?.checks ?? [])
    .filter(({ command, beforeTurn }) => !beforeTurn && !own.has(command));
  const marked = new Set(others.map(({ id, name, ok }) => `${ok ? markOf(id, proof) : "✗ "}${code(name)}`));
  const shared = marked.size === 0 ? [] : ["", `Beside them: ${[...marked].join(", ")}`];
  const title = proof === null ? "Stories" : `Stories (✓ passed at ${proof.commit.slice(0, SHORT)})`;
  const lines = items.flatMap((item, index) => [
    ...index === 0 ? [] : [""],
    heads[index]!,
    ...item.criteria.map((criterion) => criterionLine(item, criterion, proof)),
    ...testsLine(item, change),
  ]).concat(shared);
  if (lines.length <= SHOWN.stories) return { title, lines, short: lines };
  return { title, lines, short: [...cutTo(SHOWN.stories, "", heads.map((head) => `- ${head}`)).short, ...shared] };
}

function storyLine(item: ItemReport, reports: readonly RunReport[], instead: RequestFacts["instead"]): string {
  const commit = item.attempts.at(-1)?.commits.at(-1)?.commit;
  const experiment = reports.map((one) => reportTexts.proofOfItem(one, item)).findLast(Boolean) ?? "";
  return [
    `**${escape(item.id)}: ${escape(item.title)}** ${escape(reportTexts.itemText(item).words)}`,
    ...commit === undefined ? [] : [` (${shortOf(commit, instead)})`],
    ...item.attempts.length === 1 ? [] : [`, ${item.attempts.length} attempts`],
    ...experiment === "" ? [] : [`; ${escape(experiment)}`],
  ].join("");
}

/** The tests that an item's own commits added or changed, where a reviewer finds them. */
function testsLine({ attempts }: ItemReport, { tests }: Change): readonly string[] {
  const commits = attempts.flatMap((attempt) => attempt.commits.map(({ commit }) => commit));
  const places = [...new Set(commits.flatMap((commit) => tests.get(commit) ?? []))];
  if (places.length === 0) return [];
  const more = places.length > SHOWN.tests ? `, … ${places.length - SHOWN.tests} more` : "";
  return [`- its tests: ${places.slice(0, SHOWN.tests).map(code).join(", ")}${more}`];
}

/** A criterion with what came of its checks, or that it has none of its own. */
function criterionLine({ attempts }: ItemReport, criterion: string, proof: Proof | null): string {
  const commands = verifyCommands(criterion);
  if (commands.length === 0) return `- ${withCode(criterion)} (no check of its own)`;
  const ran = attempts.at(-1)?.checks.filter(({ command }) => commands.includes(command)) ?? [];
  const failed = ran.filter(({ ok, beforeTurn }) => !ok && !beforeTurn);
  if (failed.length > 0) return `- ✗ ${withCode(criterion)} (exit ${failed[0]!.exitCode ?? "unknown"})`;
  const marks = commands.map((name) =>
    markOf(ran.find(({ command }) => command === name)?.id ?? checkId({ name }), proof)
  );
  const mark = ["✗ ", "", "✓ "].find((one) => marks.some((own) => own === one)) ?? "";
  return `- ${mark}${withCode(criterion)}${
    mark === "" && proof !== null ? ` (not run at ${proof.commit.slice(0, SHORT)})` : ""
  }`;
}

/** A tick or a cross speaks of one commit; a check that did not run there has neither. */
function markOf(id: string, proof: Proof | null): "✓ " | "✗ " | "" {
  const passed = proof?.results.get(id);
  return passed === undefined ? "" : passed ? "✓ " : "✗ ";
}

/** Items that are not verified and why, what the checks' trial found, and what no check has seen. */
function leftSection(items: readonly ItemReport[], reports: readonly RunReport[], { more }: RequestFacts): Section {
  const open = items.filter(({ state }) => state !== "verified").map((item) =>
    `${item.id}: ${reportTexts.itemText(item).words}${item.reason === null ? "" : `: ${headlineOf(item.reason)}`}`
  );
  const texts = [
    ...open,
    ...more,
    ...new Set([...reports.flatMap(reportTexts.doubtedChecks), ...reportTexts.noticeTexts(...reports)]),
  ];
  return cutTo(SHOWN.left, "Left, or to be known", texts.map((text) => `- ${withCode(text)}`));
}

function madeLine(report: RunReport): string {
  const { run, status, usage, hooks, durationMs, sandbox, strict } = report;
  const confined = sandbox?.on === true ? `sandbox by ${sandbox.by}` : "no sandbox";
  const facts = [
    reportTexts.agentsText(report),
    ...durationMs === null ? [] : [formatDuration(durationMs)],
    reportTexts.totalText(usage, hooks.length),
    confined,
    strict ? "strict" : "not strict",
  ];
  return `- ${code(run)} ${escape(status ?? "no end recorded")}: ${escape(facts.join("; "))}`;
}

/** Which commit all of it speaks of, and how anyone finds out the same. */
function repeatLines(items: readonly ItemReport[], { change, proof }: RequestFacts): readonly string[] {
  const commit = proof?.commit ?? change.head;
  const verified = items.filter(({ state }) => state === "verified");
  const ran = verified.flatMap(({ attempts }) => attempts.at(-1)?.checks ?? []);
  const commands = [
    ...verified.flatMap(({ criteria }) => criteria.flatMap(verifyCommands)),
    ...ran.filter(({ exitCode }) => exitCode === 0).map(({ command }) => command),
  ];
  const checks = [...new Set(commands)].map((command) => ` --verify ${shellWord(command)}`).join("");
  const checked = proof === null ? ", which is not checked yet" : "";
  const fence = "`".repeat(Math.max(3, longestRun(checks) + 1));
  return [
    `All of this speaks of ${commit.slice(0, SHORT)}${checked}, and its base ${
      change.from.slice(0, SHORT)
    }. To repeat it:`,
    "",
    `${fence}sh`,
    `git checkout ${commit.slice(0, SHORT)}`,
    `ralph gate --base ${change.from.slice(0, SHORT)}${checks}`,
    fence,
  ];
}

/** A commit in short, or the one that has taken its place. */
function shortOf(commit: string, instead: RequestFacts["instead"]): string {
  return (instead?.get(commit) ?? commit).slice(0, SHORT);
}

function newestOf(reports: readonly RunReport[]): readonly ItemReport[] {
  const byId = new Map<string, ItemReport>();
  for (const { items, parts } of reports) {
    for (const item of items) {
      if (item.preparatory || parts[item.part]?.kind !== "loop") continue;
      byId.set(`${item.id} ${item.title}`, item); // each plan counts from US-001 on
    }
  }
  return [...byId.values()];
}
