/**
 * The page of one run: is it moving, what is it doing, what has it cost, what needs a person, can what is done be trusted.
 *
 * @module
 */
import { ASKED } from "../backlog/signals.ts";
import { tokensOf, type UsageTotal } from "../backlog/usage.ts";
import type { Tally } from "../events/tally.ts";
import { localTime } from "../host/local_date.ts";
import { doubtLines } from "../report/document.ts";
import { HIDDEN, list, mark } from "../report/html.ts";
import { fragment, type Markup, NOTHING } from "../report/markup.ts";
import * as texts from "../report/texts.ts";
import type { ItemReport, ItemState, RunReport } from "../report/types.ts";
import type { LiveRun, SteerRequest } from "../steer/control.ts";
import { dollars, formatDuration } from "../ui/text.ts";
import { type Activity, printableView, type ViewState } from "../ui/view_lines.ts";
import { areaChart, columnChart, shareBar, timeline } from "./charts.ts";
import { action, type Regions } from "./layout.ts";
import type { RunModel } from "./model.ts";
import { spansOf } from "./spans.ts";

const MOST_DOUBTS = 30;

/** The page of a run is drawn from this. */
export interface RunShown {
  /** Address of the run's page, without a slash at the end. */
  readonly href: string;
  readonly model: RunModel;
  readonly live: LiveRun | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Words that wait for the next run. */
  readonly told?: readonly SteerRequest[];
}

/** How a run is now, in a word. Pure. */
export function stateWord(
  report: Pick<RunReport, "parts">,
  live: LiveRun | null,
): { readonly word: string; readonly tone: texts.Tone } {
  if (live !== null) {
    if (live.asks !== null) return { word: "Needs you", tone: "warn" };
    if (live.stopping) return { word: "Stopping", tone: "warn" };
    if (live.pause !== null) return { word: live.pause.state === "paused" ? "Paused" : "Pausing", tone: "warn" };
    return { word: "Running", tone: "plain" };
  }
  const part = report.parts.at(-1);
  if (part === undefined || part.status === null) return { word: "No end recorded", tone: "bad" };
  const { status } = part;
  return { word: `${status.charAt(0).toUpperCase()}${status.slice(1)}`, tone: texts.statusTone(status) };
}

/** Everything on the page that changes. Pure. */
export function runRegions(shown: RunShown): Regions {
  const report = shown.model.report();
  return {
    "hero": hero(shown, report),
    "needs": question(shown),
    "trust": trust(report),
    "tiles": tiles(shown, report),
    "now": nowCards(shown),
    "line": lineOfTime(shown, report),
    ...boardRegions(shown, report),
    "feed": feed(shown.model),
  };
}

function hero({ model, live, href }: RunShown, report: RunReport): Markup {
  const { word, tone } = stateWord(report, live);
  const part = report.parts.at(-1);
  const facts = [
    part === undefined ? "" : `${part.name} ${texts.oneLine(part.scope ?? "")}`.trim(),
    texts.branchText(report),
    report.agents.map(({ name }) => name).join(", "),
    model.tally.startedMs === null ? "" : `since ${localTime(model.tally.startedMs)}`,
    live === null ? "" : `pid ${live.pid}`,
  ];
  const reasons = live === null && part !== undefined ? part.reasons.map(texts.oneLine).filter(Boolean) : [];
  return fragment`<div class="title"><h1><span class="pill ${tone}${
    live !== null && tone === "plain" ? " moving" : ""
  }">${word}</span> ${texts.headingOf(report)}</h1>
<p class="dim">${facts.filter(Boolean).join(" · ")}</p>
${reasons.slice(0, 3).map((reason) => fragment`<p class="${tone}">${reason.slice(0, 300)}</p>`)}</div>
<div class="controls">${live === null ? links(href, report) : controls(live, href)}</div>`;
}

function links(href: string, { work }: RunReport): Markup {
  const request = work === null ? NOTHING : fragment`<a class="button" href="${href}/review">Request</a>`;
  return fragment`${request}<a class="button" href="${href}/report">Report</a>`;
}

function controls(live: LiveRun, href: string): Markup {
  const button = (fields: Readonly<Record<string, string>>, name: string, look = ""): Markup =>
    action(`${href}/steer`, fields, fragment`<button class="${look}">${name}</button>`);
  const pause = live.pause === null
    ? button({ action: "pause" }, "Pause")
    : button({ action: "resume", key: live.pause.key }, "Resume", "main");
  return fragment`${live.stopping ? NOTHING : pause}
<details class="menu"><summary class="button">Stop</summary><div class="card">
${live.stopping ? NOTHING : button({ action: "stop" }, "After this turn")}
${button({ action: "stop-now" }, "Now", "bad")}
<p class="dim">Nothing is lost. The same command continues.</p></div></details>
<a class="button" href="${href}/report">Report</a>`;
}

function question({ live, href }: RunShown): Markup {
  if (live === null || live.asks === null) return NOTHING;
  const { asks } = live;
  const fields = { action: "answer", key: asks.key };
  const choices = asks.kind === "confirm"
    ? [{ value: "yes", label: "Yes" }, { value: "no", label: "No" }]
    : asks.choices;
  const answer = asks.kind === "text"
    ? action(
      `${href}/steer`,
      fields,
      fragment`<label class="unseen" for="answer">Your answer</label><input id="answer" name="text" autocomplete="off" value="${
        asks.initial ?? ""
      }" required><button class="main">Answer</button>`,
      "wide",
    )
    : fragment`<div class="choices">${
      choices.map(({ value, label, hint }: { value: string; label: string; hint?: string }) =>
        action(
          `${href}/steer`,
          { ...fields, text: value },
          fragment`<button class="${value === "yes" ? "main" : ""}">${label}${
            hint === undefined ? "" : ` (${hint})`
          }</button>`,
        )
      )
    }</div>`;
  return fragment`<section class="card ask" aria-labelledby="ask-title"><h2 id="ask-title">The run waits for your answer</h2>
${asks.details.length === 0 ? NOTHING : fragment`<pre tabindex="0">${asks.details.join("\n")}</pre>`}
<p class="asked">${asks.message}</p>${answer}</section>`;
}

/** The doubts that the verdict does not speak for, where they cannot be missed. */
function trust(report: RunReport): Markup {
  const lines = doubtLines(report);
  if (lines.length === 0) return NOTHING;
  return fragment`<section class="card trust" aria-labelledby="trust-title"><h2 id="trust-title">Look at this before you trust it</h2>${
    list(lines.slice(0, MOST_DOUBTS))
  }</section>`;
}

function tiles({ model, live, now }: RunShown, report: RunReport): Markup {
  const { usage, points } = model;
  const end = live === null ? model.lastMs ?? now : now;
  const took = model.tally.startedMs === null ? 0 : end - model.tally.startedMs;
  const tokens = tokensOf(usage);
  const chart = (of: (point: (typeof points)[number]) => number | null, label: string, tone: string): Markup =>
    areaChart(points.map((point) => ({ x: point.atMs, y: of(point) })), label, tone);
  const begun = points.findLastIndex(({ passed: done }, index) => done < (points[index - 1]?.passed ?? 0));
  const counts = countsOf(report.items);
  const spans = spansOf(report);
  const lengths = spans.flatMap(({ fromMs, toMs }) => toMs === null ? [] : [toMs - fromMs]);
  const { passed, total } = model.tally;
  const tile = (name: string, value: Markup, note: string, drawn: Markup): Markup =>
    fragment`<div class="tile"><h2>${name}</h2><p class="value">${value}</p><p class="dim">${note}</p>${drawn}</div>`;
  const unknown = usage.turns === 0 ? "no turn has ended" : "not reported by the agent";
  const missing = usage.turns === 0 ? "–" : "?";
  const since = live !== null && model.tally.startedMs !== null
    ? fragment` data-since="${model.tally.startedMs}"`
    : NOTHING;
  return fragment`${
    tile(
      "Done",
      fragment`${passed}<small>${total === null ? "" : ` of ${total}`}</small>`,
      [counts.parked > 0 ? `${counts.parked} parked` : "", counts.again > 0 ? `${counts.again} to be tried again` : ""]
        .filter(Boolean).join(", ") || texts.plural(spans.length, "iteration"),
      chart((point) => points.indexOf(point) < begun ? null : point.passed, `${passed} done`, "good"),
    )
  }${
    tile(
      "Time",
      fragment`<span${since}>${formatDuration(took)}</span>`,
      paceText(lengths, total === null ? 0 : total - passed - counts.parked),
      columnChart(lengths, "how long each iteration took", "plain"),
    )
  }${
    tile(
      "Tokens",
      fragment`${tokens === null ? missing : `${usage.turnsWithoutTokens > 0 ? "≥ " : ""}${amount(tokens)}`}`,
      tokens === null ? unknown : texts.plural(usage.turns, "turn"),
      chart((point) => point.tokens, `${tokens ?? 0} tokens`, "plain"),
    )
  }${
    tile(
      "Cost",
      fragment`${costText(usage) ?? missing}`,
      usage.costUsd === null ? unknown : usage.estimated ? "the agent's own estimate" : "as billed",
      chart((point) => point.costUsd, `${usage.costUsd ?? 0} dollars`, "plain"),
    )
  }`;
}

/** `~$1.20`: by the agent's estimate; `null` where nothing is known. Pure. */
export function costText({ costUsd, estimated, turnsWithoutCost }: UsageTotal): string | null {
  return costUsd === null ? null : `${turnsWithoutCost > 0 ? "≥ " : ""}${estimated ? "~" : ""}${dollars(costUsd)}`;
}

/** The time that iterations took: what a person or a limit took between them is not part of it. */
function paceText(lengths: readonly number[], toGo: number): string {
  if (lengths.length === 0) return "first iteration";
  const each = `${formatDuration(lengths.reduce((sum, length) => sum + length, 0) / lengths.length)} each`;
  return toGo > 0 ? `${each}, ${toGo} to go` : each;
}

function amount(count: number): string {
  if (count < 10_000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(2)}M`;
}

/** The work in progress, a card for each worker's tree. */
function nowCards({ model, live, now }: RunShown): Markup {
  if (live === null) return NOTHING;
  const lanes = [...model.views].filter(([, view]) => view.activity !== null || view.iteration !== null);
  const shown = lanes.filter(([, view]) => view.activity !== null);
  return fragment`<section class="card now" aria-labelledby="now-title"><h2 id="now-title">Now</h2>${
    shown.length === 0
      ? fragment`<p class="dim">Between two turns</p>`
      : shown.map(([lane, view]) => nowCard(lane, printableView(view), now))
  }</section>`;
}

function nowCard(lane: number, view: ViewState, now: number): Markup {
  const { activity, iteration, tool, words, pause } = view;
  if (activity === null) return NOTHING;
  const doing = doingText(activity);
  return fragment`<div class="lane">${
    lane < 0 ? NOTHING : fragment`<p class="dim">worker ${lane}</p>`
  }<p class="what">${
    iteration === null
      ? fragment`${view.step ?? ""}`
      : fragment`<strong>${iteration.item.id}</strong> ${iteration.item.title}${
        iteration.attempt > 1 ? fragment` <span class="warn">attempt ${iteration.attempt}</span>` : NOTHING
      }`
  }</p>
<p>${doing} <span class="dim" data-since="${activity.sinceMs}">${formatDuration(now - activity.sinceMs)}</span></p>
${pause === null ? NOTHING : fragment`<p class="warn">${pause.message}</p>`}
${tool === "" ? NOTHING : fragment`<p class="tool"><code>${tool.slice(0, 300)}</code></p>`}
${words === "" ? NOTHING : fragment`<blockquote>${words.slice(-600)}</blockquote>`}</div>`;
}

function doingText(activity: Activity): string {
  switch (activity.kind) {
    case "turn":
      return `${activity.agent} is at work`;
    case "check":
      return `check ${activity.check.number} of ${activity.check.total}: ${activity.check.name}`;
    case "hook":
      return `hook ${activity.hook}`;
    case "wait":
      return `waits until ${localTime(activity.wait.until)}: ${activity.wait.message}`;
    default:
      return activity.kind;
  }
}

function lineOfTime({ model, live, now }: RunShown, report: RunReport): Markup {
  const spans = spansOf(report);
  const { startedMs } = model.tally;
  if (startedMs === null || spans.length === 0) return NOTHING;
  const end = live === null ? model.lastMs ?? now : now;
  return fragment`<section class="card" aria-labelledby="line-title"><h2 id="line-title">Iterations</h2>${
    timeline(spans, startedMs, end)
  }<p class="axis dim"><span>${localTime(startedMs).slice(11)}</span><span>${
    texts.plural(spans.length, "iteration")
  }</span><span>${localTime(end).slice(11)}</span></p></section>`;
}

function feed(model: RunModel): Markup {
  return fragment`<h2>What happened</h2><ol>${
    model.feed().slice(-14).toReversed().map(({ atMs, text }) =>
      fragment`<li><time class="dim">${localTime(atMs).slice(11, 16)}</time> <span>${text}</span></li>`
    )
  }</ol>`;
}

/** Cards in a column; the list of all items is a page of its own. */
const CARDS = 24;

/** The columns of the board, in the order of an item's life. */
const COLUMNS: readonly { readonly id: string; readonly name: string; readonly states: readonly ItemState[] }[] = [
  { id: "col-again", name: "To be tried again", states: ["failed", "not-done", "interrupted", "reopened"] },
  { id: "col-work", name: "In progress", states: ["in-progress"] },
  { id: "col-parked", name: "Given up", states: ["parked", "blocked", "trespassed", "agent-unusable"] },
  { id: "col-done", name: "Done", states: ["verified", "unverified"] },
];

/** Ids of the regions of the board. */
export const BOARD_IDS: readonly string[] = ["col-open", ...COLUMNS.map(({ id }) => id)];

/** The columns, each a region of its own. Pure. */
function boardRegions(shown: RunShown, report: RunReport): Regions {
  const { model, live } = shown;
  const { passed, total } = model.tally;
  const doubted = new Set(
    report.experiments.flatMap(({ item, findings }) => item === null || findings.length === 0 ? [] : [item]),
  );
  // what a killed run had in hand is no longer in anyone's hands
  const stateOf = (item: ItemReport) => item.state === "in-progress" && live === null ? "interrupted" : item.state;
  const regions: Record<string, Markup> = {};
  const atWork = report.parts.findLastIndex(({ kind }) => kind === "loop");
  const isCounted = ({ part, preparatory }: ItemReport): boolean => part === atWork && !preparatory;
  const counted = report.items.filter(isCounted);
  const done = counted.filter(({ state }) => state === "verified" || state === "unverified").length;
  const earlier = Math.max(0, passed - done);
  for (const { id, name, states } of COLUMNS) {
    const all = report.items.filter((item) => states.includes(stateOf(item))).toReversed();
    const isDone = id === "col-done";
    const items = isDone ? all.filter(isCounted) : all;
    const before = isDone ? earlier : 0;
    const more = all.length - Math.min(items.length, CARDS);
    regions[id] = column(name, items.length + before, [
      ...items.slice(0, CARDS).map((item) => card({ ...item, state: stateOf(item) }, shown, doubted.has(item.id))),
      ...(more > 0 ? [fragment`<li class="more"><a href="${shown.href}/items">and ${more} more</a></li>`] : []),
      ...(before === 0 ? [] : [fragment`<li class="more dim">${before} in earlier runs</li>`]),
    ]);
  }
  const toCome = total === null ? 0 : Math.max(0, total - passed - (counted.length - done));
  const named = model.toCome.items.filter(({ id }) => report.items.every((item) => item.id !== id))
    .slice(0, Math.min(5, toCome));
  const rest = named.length === 0 ? `${toCome} to come` : `and ${toCome - named.length} more`;
  regions["col-open"] = column("Not begun", toCome, [
    ...named.map(({ id, title }) => fragment`<li class="more to-come"><span class="id">${id}</span> ${title}</li>`),
    ...(toCome === named.length ? [] : [fragment`<li class="more dim">${rest}</li>`]),
  ]);
  return regions;
}

function column(name: string, count: number, cards: readonly Markup[]): Markup {
  const none = count === 0 ? " none" : "";
  return fragment`<h3 class="${none}">${name} <span class="count">${count}</span></h3><ul>${cards}</ul>`;
}

function card(item: ItemReport, shown: RunShown, isDoubted: boolean): Markup {
  const { tone, words } = texts.itemText(item);
  const last = item.attempts.at(-1);
  const took = item.attempts.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0);
  const failed = last?.checks.filter(({ ok, beforeTurn }) => !ok && !beforeTurn).length ?? 0;
  const facts = [
    item.attempts.length > 1 ? texts.plural(item.attempts.length, "attempt") : "",
    took > 0 ? formatDuration(took) : "",
    failed > 0 ? `${texts.plural(failed, "check")} failed` : "",
  ].filter(Boolean).join(" · ");
  return fragment`<li class="item ${tone}"><a href="${itemHref(shown.href, item)}"><span class="id">${
    mark(tone, HIDDEN)
  }${item.id}</span> <span class="name">${item.title}</span></a><span class="facts dim"><span class="unseen">${words}. </span>${facts}</span>${
    tone === "bad" && item.reason !== null ? reasonOf(item.id, item.reason, shown) : NOTHING
  }${isDoubted ? fragment`<span class="badge bad">checks not believed</span>` : NOTHING}${
    item.state === "unverified" ? fragment`<span class="badge warn">unverified</span>` : NOTHING
  }</li>`;
}

/** Why it was given up on; a question of its agent takes the answer here. */
function reasonOf(id: string, reason: string, { href, told = [] }: RunShown): Markup {
  if (!reason.startsWith(ASKED)) return fragment`<span class="facts">${reason.slice(0, 200)}</span>`;
  const waits = told.findLast(({ item }) => item === id);
  const field =
    fragment`<input name="text" aria-label="Your answer for ${id}" placeholder="Your answer" required><button>Answer</button>`;
  return fragment`<p class="asked">${reason.slice(ASKED.length, 800)}</p>${
    waits === undefined
      ? action(`${href}/steer`, { action: "tell", item: id }, field, "answer")
      : fragment`<span class="facts">The next run gets your answer: ${waits.text ?? ""}</span>`
  }`;
}

/** The address of an item's page. Pure. */
export function itemHref(href: string, { part, id }: Pick<ItemReport, "part" | "id">): string {
  return `${href}/item/${part}/${encodeURIComponent(id)}`;
}

/** Items that wait for another try, and those given up. Pure. */
function countsOf(items: readonly ItemReport[]): { readonly parked: number; readonly again: number } {
  const of = (id: string): number => {
    const states = COLUMNS.find((column) => column.id === id)?.states ?? [];
    return items.filter(({ state }) => states.includes(state)).length;
  };
  return { parked: of("col-parked"), again: of("col-again") };
}

/** Items by state, as a bar; for lists of runs. Pure. */
export function itemsBar(report: RunReport, { total, passed }: Pick<Tally, "total" | "passed">): Markup {
  const items = report.items.filter(({ preparatory }) => !preparatory);
  const { parked } = countsOf(items);
  const of = (wanted: ItemState): number => items.filter(({ state }) => state === wanted).length;
  const unverified = of("unverified");
  const verified = Math.max(of("verified"), passed - unverified);
  const other = items.length - of("verified") - unverified - parked;
  return shareBar([
    { count: verified, tone: "good", name: "verified" },
    { count: unverified, tone: "warn", name: "unverified" },
    { count: parked, tone: "bad", name: "given up" },
    { count: Math.max(other, (total ?? 0) - verified - unverified - parked), tone: "rest", name: "open" },
  ]);
}
