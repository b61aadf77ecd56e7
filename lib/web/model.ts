import { EMPTY_TALLY, nextTally, type Tally } from "../events/tally.ts";
import type { RalphEvent } from "../events/types.ts";
import { volumeOf } from "../events/volume.ts";
import { addTurn, tokensOf, type UsageTotal } from "../backlog/usage.ts";
import type { CheckReport, RunReport } from "../report/types.ts";
import { createFold, type Fold } from "../report/fold.ts";
import { printableEvent } from "../ui/text.ts";
import { plainLines } from "../ui/event_lines.ts";
import { EMPTY_VIEW, nextView, type ViewState } from "../ui/view_lines.ts";
import type { ReadEvent } from "../watch/follow.ts";

/** An item that may not have begun. */
export type OpenItem = Readonly<Record<"id" | "title", string>>;

/** A moment of a run: what was used and done until then. */
export interface Point {
  readonly atMs: number;
  /** `null`: no turn has reported any. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly passed: number;
}

const FEED_LINES = 20;
const MOST_POINTS = 400;
const MOST_OUTPUTS = 3000;
const OUTPUT_CHARACTERS = 4000;
const FEED_CHARACTERS = 400;

/** Everything that the page shows of one run, folded from its events; its size does not grow with what agents say. */
export class RunModel {
  readonly #fold: Fold;
  readonly #latest: { readonly event: RalphEvent; readonly atMs: number }[] = [];
  /** By lane; `-1` where items are worked on one after another. */
  readonly views: Map<number, ViewState> = new Map();
  /** The end of what each check printed. */
  readonly outputs: Map<CheckReport, string> = new Map();
  /** Items that its store has as open, as read in this state of the run. */
  toCome: { readonly state: string; readonly items: readonly OpenItem[] } = { state: "", items: [] };
  points: Point[] = [];
  tally: Tally = EMPTY_TALLY;
  lastMs: number | null = null;
  /** A short sentence about what has changed, for who cannot look. */
  announcement = "";

  constructor(file: string) {
    this.#fold = createFold(file, (check, output) => this.#output(check, output));
  }

  /** The report so far, without what only git knows. */
  report(): RunReport {
    return this.#fold.end() as RunReport;
  }

  take({ event, atMs, lane = -1, line }: ReadEvent): void {
    this.#fold.take(line);
    this.lastMs = atMs;
    this.views.set(lane, nextView(this.views.get(lane) ?? EMPTY_VIEW, event, atMs));
    const before = this.tally;
    this.tally = nextTally(before, event, atMs);
    if (this.tally !== before) this.#point(atMs);
    this.#say(event, atMs);
  }

  /** The run's usage so far, the turns that are under way included. */
  get usage(): UsageTotal {
    let { usage } = this.tally;
    for (const { turnUsage } of this.views.values()) if (turnUsage !== null) usage = addTurn(usage, turnUsage);
    return usage;
  }

  #output(check: CheckReport, output: string): void {
    if (this.outputs.size >= MOST_OUTPUTS) this.outputs.delete(this.outputs.keys().next().value as CheckReport);
    this.outputs.set(check, output.slice(-OUTPUT_CHARACTERS));
  }

  #point(atMs: number): void {
    const { passed, usage } = this.tally;
    this.points.push({ atMs, tokens: tokensOf(usage), costUsd: usage.costUsd, passed });
    // each second one goes: the line of time keeps its shape
    if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, index) => index % 2 === 0);
  }

  #say(event: RalphEvent, atMs: number): void {
    const volume = volumeOf(event);
    if (volume === "flood" || volume === "routine") return;
    if (volume === "announced") this.announcement = spoken(event);
    this.#latest.push({ event, atMs });
    if (this.#latest.length > 2 * FEED_LINES) this.#latest.splice(0, this.#latest.length - FEED_LINES);
  }

  /** The latest events, oldest first: made into text when they are looked at. */
  feed(): readonly { readonly atMs: number; readonly text: string }[] {
    return this.#latest.flatMap(({ event, atMs }) => {
      const text = firstLine(event);
      return text === "" ? [] : [{ atMs, text }];
    });
  }
}

function firstLine(event: RalphEvent): string {
  return (plainLines(printableEvent(event))[0]?.trim() ?? "").slice(0, FEED_CHARACTERS);
}

function spoken(event: RalphEvent): string {
  if (event.type === "run-end") return `The run has ended: ${event.status}`;
  return event.type === "question" ? "The run asks a question" : firstLine(event);
}
