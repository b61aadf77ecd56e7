/**
 * The board: items by state, in the order of an item's life.
 *
 * @module
 */
import { HIDDEN, mark } from "../report/html.ts";
import { fragment, type Markup, NOTHING } from "../report/markup.ts";
import { itemText, plural, SECOND_LOOKS } from "../report/texts.ts";
import type { ItemReport, ItemState, RunReport } from "../report/types.ts";
import type { LiveRun } from "../steer/types.ts";
import { formatDuration } from "../ui/printable.ts";
import { shareBar } from "./charts.ts";
import type { Regions } from "./layout.ts";
import type { RunModel } from "./model.ts";
import type { Tally } from "../events/tally.ts";

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
export function boardRegions(
  { model, live, href }: {
    readonly model: RunModel;
    readonly live: LiveRun | null;
    /** Address of the run's page. */
    readonly href: string;
  },
  report: RunReport,
): Regions {
  const { passed, total } = model.tally;
  const doubted = new Set(
    report.experiments.flatMap(({ item, findings }) => item === null || findings.length === 0 ? [] : [item]),
  );
  // what a killed run had in hand is no longer in anyone's hands
  const stateOf = (item: ItemReport): ItemState =>
    item.state === "in-progress" && live === null ? "interrupted" : item.state;
  const regions: Record<string, Markup> = {};
  const counted = report.items.filter(({ kind }) => !SECOND_LOOKS.has(kind));
  const done = counted.filter(({ state }) => state === "verified" || state === "unverified").length;
  const earlier = Math.max(0, passed - done);
  for (const { id, name, states } of COLUMNS) {
    const items = report.items.filter((item) => states.includes(stateOf(item))).toReversed();
    const before = id === "col-done" ? earlier : 0;
    regions[id] = column(name, items.length + before, [
      ...items.slice(0, CARDS).map((item) => card({ ...item, state: stateOf(item) }, href, doubted.has(item.id))),
      ...(items.length > CARDS
        ? [fragment`<li class="more"><a href="${href}/items">and ${items.length - CARDS} more</a></li>`]
        : []),
      ...(before === 0 ? [] : [fragment`<li class="more dim">${before} in earlier runs</li>`]),
    ]);
  }
  const toCome = total === null ? 0 : Math.max(0, total - passed - (counted.length - done));
  regions["col-open"] = column(
    "Not begun",
    toCome,
    toCome === 0 ? [] : [fragment`<li class="more dim">${toCome} to come</li>`],
  );
  return regions;
}

function column(name: string, count: number, cards: readonly Markup[]): Markup {
  const none = count === 0 ? " none" : "";
  return fragment`<h3 class="${none}">${name} <span class="count">${count}</span></h3><ul>${cards}</ul>`;
}

function card(item: ItemReport, href: string, isDoubted: boolean): Markup {
  const { tone, words } = itemText(item);
  const last = item.attempts.at(-1);
  const took = item.attempts.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0);
  const failed = last?.checks.filter(({ ok, beforeTurn }) => !ok && !beforeTurn).length ?? 0;
  const facts = [
    item.attempts.length > 1 ? plural(item.attempts.length, "attempt") : "",
    took > 0 ? formatDuration(took) : "",
    failed > 0 ? `${plural(failed, "check")} failed` : "",
  ].filter(Boolean).join(" · ");
  return fragment`<li class="item ${tone}"><a href="${itemHref(href, item)}"><span class="id">${
    mark(tone, HIDDEN)
  }${item.id}</span> <span class="name">${item.title}</span></a><span class="facts dim"><span class="unseen">${words}. </span>${facts}</span>${
    isDoubted ? fragment`<span class="badge bad">checks not believed</span>` : NOTHING
  }${item.state === "unverified" ? fragment`<span class="badge warn">unverified</span>` : NOTHING}</li>`;
}

/** The address of an item's page. Pure. */
export function itemHref(href: string, { part, id }: Pick<ItemReport, "part" | "id">): string {
  return `${href}/item/${part}/${encodeURIComponent(id)}`;
}

/** Items that wait for another try, and those given up. Pure. */
export function countsOf(items: readonly ItemReport[]): { readonly parked: number; readonly again: number } {
  const of = (id: string): number => {
    const states = COLUMNS.find((column) => column.id === id)?.states ?? [];
    return items.filter(({ state }) => states.includes(state)).length;
  };
  return { parked: of("col-parked"), again: of("col-again") };
}

/** Items by state, as a bar; for lists of runs. Pure. */
export function itemsBar(report: RunReport, { total, passed }: Pick<Tally, "total" | "passed">): Markup {
  const { parked } = countsOf(report.items);
  const of = (wanted: ItemState): number => report.items.filter(({ state }) => state === wanted).length;
  const unverified = of("unverified");
  const verified = Math.max(of("verified"), passed - unverified);
  const other = report.items.length - of("verified") - unverified - parked;
  return shareBar([
    { count: verified, tone: "good", name: "verified" },
    { count: unverified, tone: "warn", name: "unverified" },
    { count: parked, tone: "bad", name: "given up" },
    { count: Math.max(other, (total ?? 0) - verified - unverified - parked), tone: "rest", name: "open" },
  ]);
}
