/**
 * The page of one item: what it has to meet, and every attempt with its checks, their output, its changes.
 *
 * @module
 */
import { tokensOf } from "../backlog/usage.ts";
import { localTime } from "../host/local_date.ts";
import { HIDDEN, mark } from "../report/html.ts";
import { fragment, type Markup, NOTHING, withCode } from "../report/markup.ts";
import * as texts from "../report/texts.ts";
import type { AttemptReport, CheckReport, ItemReport, RunReport } from "../report/types.ts";
import type { LiveRun } from "../steer/control.ts";
import { formatDuration, linesText } from "../ui/text.ts";
import type { Regions } from "./layout.ts";
import type { RunModel } from "./model.ts";
import { costText, itemsBar, type RunShown, stateWord } from "./run_page.ts";
import type { Project } from "./runs.ts";

const ATTEMPTS = 20;

/** The page of an item is drawn from this. */
export interface ItemShown {
  /** Address of the run's page. */
  readonly href: string;
  readonly model: RunModel;
  readonly item: ItemReport;
  readonly isLive: boolean;
  /** The changes of a commit, where git has them. */
  readonly diffs: ReadonlyMap<string, string>;
}

/** The item of an address; `null` where there is none. Pure. */
export function findItem(report: RunReport, part: number, id: string): ItemReport | null {
  return report.items.find((item) => item.part === part && item.id === id) ?? null;
}

/** Everything on the page that changes. Pure. */
export function itemRegions({ href, model, item, isLive, diffs }: ItemShown): Regions {
  const { tone } = texts.itemText(item);
  const state = item.state === "in-progress" && !isLive ? "interrupted" : item.state;
  const words = texts.itemText({ ...item, state }).words;
  const report = model.report();
  const changed = report.experiments.filter((one) => one.item === item.id).flatMap(({ findings }) => findings);
  const shown = item.attempts.slice(-ATTEMPTS).toReversed();
  const reason = fragment`<pre class="reason ${tone}" tabindex="0">${item.reason?.slice(0, 4000) ?? ""}</pre>`;
  const earlier = fragment`<p class="dim">${item.attempts.length - ATTEMPTS} earlier attempts are in the report</p>`;
  const cards = shown.map((attempt, index) =>
    attemptCard(attempt, { href, model, item, diffs, number: item.attempts.indexOf(attempt), isNewest: index === 0 })
  );
  const doubts = changed.slice(0, 40).map((text) => fragment`<code>${texts.oneLine(text)}</code>`);
  const met = item.state === "verified" ? " met" : "";
  return {
    "item": fragment`<h1><span class="pill ${tone}">${
      words.split(":")[0] ?? ""
    }</span> <span class="id">${item.id}</span> ${item.title}</h1>
<p class="dim">${item.kind}, ${texts.plural(item.attempts.length, "attempt")}</p>
${item.reason === null ? NOTHING : reason}
${listCard("The checks cannot be believed", { card: "trust", list: "" }, doubts)}
${listCard("What it has to meet", { card: "", list: `criteria${met}` }, item.criteria.map(withCode))}`,
    "attempts": fragment`${cards}${item.attempts.length > ATTEMPTS ? earlier : NOTHING}`,
  };
}

function listCard(title: string, looks: Readonly<Record<"card" | "list", string>>, lines: readonly Markup[]): Markup {
  if (lines.length === 0) return NOTHING;
  return fragment`<section class="card ${looks.card}"><h2>${title}</h2><ul class="${looks.list}">${
    lines.map((line) => fragment`<li>${line}</li>`)
  }</ul></section>`;
}

interface AttemptShown extends Omit<ItemShown, "isLive"> {
  /** Index among the item's attempts. */
  readonly number: number;
  readonly isNewest: boolean;
}

function attemptCard(attempt: AttemptReport, shown: AttemptShown): Markup {
  const { href, item, number, isNewest, diffs } = shown;
  const { words, tone } = attempt.result === null && isNewest
    ? { words: "at work", tone: "plain" as const }
    : texts.attemptText(attempt);
  const reason = texts.attemptReason(attempt);
  const place = `${href}/transcript/${item.part}/${encodeURIComponent(item.id)}`;
  const before = attempt.checks.filter(({ beforeTurn }) => beforeTurn);
  const after = attempt.checks.filter(({ beforeTurn }) => !beforeTurn);
  return fragment`<section class="card attempt ${tone}"><h2>${
    mark(tone, HIDDEN)
  }Attempt ${attempt.number}: ${words}</h2>
<p class="dim">iteration ${attempt.iteration}, ${localTime(attempt.startedAt)}${
    attempt.durationMs === null ? "" : `, ${formatDuration(attempt.durationMs)}`
  }</p>
${reason === null ? NOTHING : fragment`<p>${reason}</p>`}
${
    attempt.turns.map((turn, index) => {
      const link = fragment`<a href="${place}/${number}/${index}">transcript</a>`;
      return fragment`<p>${texts.turnText(turn)} ${turn.transcript === "" ? NOTHING : link}</p>`;
    })
  }
${checkList("Checks", after, attempt, shown)}${checkList("Before the turn", before, attempt, shown)}
${
    attempt.commits.map((commit) => {
      const diff = diffs.get(commit.commit);
      const title = fragment`<code>${commit.commit.slice(0, 7)}</code> ${texts.commitText(commit)}`;
      return diff === undefined
        ? fragment`<p>${title}</p>`
        : fragment`<details id="c-${commit.commit}"><summary>${title}</summary>${diffBlock(diff)}</details>`;
    })
  }</section>`;
}

function checkList(name: string, checks: readonly CheckReport[], attempt: AttemptReport, { model }: AttemptShown) {
  if (checks.length === 0) return NOTHING;
  return fragment`<h3>${name}</h3><ul class="checks">${
    checks.map((check, index) => {
      const output = model.outputs.get(check) ?? check.tail ?? "";
      const [tone, word] = check.ok ? ["good", "passed"] as const : ["bad", "failed"] as const;
      const marked = fragment`${mark(tone, HIDDEN)}<span class="unseen">${word}</span>`;
      const line = fragment`${marked}<code>${check.name}</code> <span class="dim">${texts.checkText(check)}</span>`;
      if (output.trim() === "") return fragment`<li>${line}</li>`;
      const id = `o-${attempt.iteration}-${check.beforeTurn ? "b" : "a"}${index}`;
      const open = check.ok ? NOTHING : fragment` open`;
      const shown = fragment`<summary>${line}</summary><pre tabindex="0">${output}</pre>`;
      return fragment`<li><details id="${id}"${open}>${shown}</details></li>`;
    })
  }</ul>`;
}

const DIFF_TAGS = [[/^\+(?!\+\+)/, "ins"], [/^-(?!--)/, "del"], [/^(?:@@|diff )/, "b"]] as const;

/** A diff with its added and removed lines marked. */
function diffBlock(diff: string): Markup {
  const lines = diff.split("\n").map((line) => {
    const tag = DIFF_TAGS.find(([regexp]) => regexp.test(line))?.[1];
    return tag === undefined ? fragment`${line}` : fragment`<${tag}>${line}</${tag}>`;
  });
  return fragment`<pre class="diff" tabindex="0">${lines}</pre>`;
}

/** A run in the list of runs. */
export interface ListedRun extends Pick<RunShown, "href" | "live" | "model"> {
  readonly id: string;
}

/** A project with its newest runs. */
export interface ListedProject {
  readonly project: Project;
  readonly runs: readonly ListedRun[];
  /** Runs that are not listed. */
  readonly more: number;
}

/** All runs, those at work first. Pure. */
export function overview(projects: readonly ListedProject[], now: number): Markup {
  const atWork = projects.flatMap(({ runs }) => runs).filter(({ live }) => live !== null).length;
  return fragment`<h1>${
    atWork === 0 ? "No run is at work" : atWork === 1 ? "One run is at work" : `${atWork} runs are at work`
  }</h1>${
    projects.map(({ project, runs, more }) => {
      const cards = runs.flatMap((run) => run.live === null ? [] : [runCard(run, run.live, now)]);
      const past = runs.flatMap((run) => run.live === null ? [pastRow(run)] : []);
      const table = fragment`<div class="card past"><table><thead><tr>${PAST_HEADS}</tr></thead>${past}</table></div>`;
      return fragment`<section class="project"><h2>${project.name} <small class="dim">${project.root}</small></h2>${
        runs.length === 0 ? fragment`<p class="card dim">No run has left its events here.</p>` : NOTHING
      }<ul class="runs">${cards}</ul>${past.length === 0 ? NOTHING : table}${
        more === 0 ? NOTHING : fragment`<p class="dim">${more} older runs are left out</p>`
      }</section>`;
    })
  }`;
}

const PAST_HEADS = ["Verdict", "Goal", "Branch", "Items", "Time", "Cost", "Began"]
  .map((name) => fragment`<th scope="col">${name}</th>`);

/** How far a run has come, what it took until then, and when it began. */
function figuresOf({ id, model }: ListedRun, untilMs: number): readonly string[] {
  const { usage, tally: { passed, total, startedMs } } = model;
  const tokens = tokensOf(usage);
  return [
    total === null ? `${passed} done` : `${passed} of ${total} done`,
    startedMs === null ? "" : formatDuration(untilMs - startedMs),
    costText(usage) ?? (tokens === null ? "" : `${tokens.toLocaleString("en-US")} tokens`),
    startedMs === null ? id : localTime(startedMs).slice(0, 16),
  ];
}

function pastRow(run: ListedRun): Markup {
  const report = run.model.report();
  const { word, tone } = stateWord(report, null);
  const branch = report.work === null ? report.branch : `${report.work.branch ?? ""} ${linesText(report.work)}`;
  return fragment`<tr><td><span class="pill ${tone}">${word}</span></td><td class="name"><a href="${run.href}">${
    texts.headingOf(report)
  }</a></td><td class="name dim">${branch ?? ""}</td>${
    figuresOf(run, run.model.lastMs ?? 0).map((text) => fragment`<td>${text}</td>`)
  }</tr>`;
}

function runCard(run: ListedRun, live: LiveRun, now: number): Markup {
  const { href, model } = run;
  const report = model.report();
  const { word, tone } = stateWord(report, live);
  const facts = [...figuresOf(run, now), texts.branchText(report)].filter(Boolean).join(" · ");
  const doing = [...model.views.values()].flatMap(({ iteration, activity }) =>
    iteration === null || activity === null ? [] : [iteration.item]
  );
  return fragment`<li class="card run"><a href="${href}"><span class="pill ${tone}${
    tone === "plain" ? " moving" : ""
  }">${word}</span> <strong>${texts.headingOf(report)}</strong></a><p class="dim">${facts}</p>${
    doing.slice(0, 4).map(({ id, title }) => fragment`<p><strong>${id}</strong> ${title}</p>`)
  }${itemsBar(report, model.tally)}${
    live.asks === null ? NOTHING : fragment`<p class="warn">${live.asks.message}</p>`
  }</li>`;
}
