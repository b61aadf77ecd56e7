import type { RalphEvent } from "../events/types.ts";
import { addTurn, tokensOf, type UsageTotal } from "../backlog/usage.ts";
import type { Draft } from "../report/draft.ts";
import { createFold, type Fold } from "../report/fold.ts";
import type { RunReport } from "../report/types.ts";
import { printableEvent } from "../ui/printable.ts";
import { plainLines } from "../ui/plain_lines.ts";
import { EMPTY_VIEW, nextView, type ViewState } from "../ui/view_state.ts";
import type { ReadEvent } from "../watch/follow.ts";

/** A moment of a run: what was used and done until then. */
export interface Point {
  readonly atMs: number;
  /** `null`: no turn has reported any. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly passed: number;
}

/** An iteration on the line of time. */
export interface Span {
  readonly iteration: number;
  readonly item: string;
  readonly fromMs: number;
  toMs: number | null;
  /** How its item was settled. */
  result: "passed" | "open" | "parked" | "stop" | null;
}

/** A line of what happened last. */
export interface FeedLine {
  readonly atMs: number;
  readonly text: string;
}

/** A file, an item or a command that the verdict does not speak for. */
export type Notice = NonNullable<Extract<RalphEvent, { type: "run-end" }>["notices"]>[number];

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
  readonly spans: Span[] = [];
  readonly criteria: Map<string, readonly string[]> = new Map();
  /** The end of what each check printed, by iteration and name. */
  readonly outputs: Map<string, string> = new Map();
  readonly notices: Notice[] = [];
  points: Point[] = [];
  passed = 0;
  total: number | null = null;
  startedMs: number | null = null;
  lastMs: number | null = null;
  /** It is paused since; `null`: it is not. */
  pausedMs: number | null = null;
  /** A short sentence about what has changed, for who cannot look. */
  announcement = "";
  /** Goes up with each event. */
  version = 0;
  #iteration: Map<number, number> = new Map();
  #usage = EMPTY_VIEW.runUsage;

  constructor(file: string) {
    this.#fold = createFold(file);
  }

  /** The report so far, without what only git knows. */
  report(): Draft<RunReport> {
    return this.#fold.end();
  }

  take({ event, atMs, lane = -1, line }: ReadEvent): void {
    this.#fold.take(line);
    this.version += 1;
    this.startedMs ??= atMs;
    this.lastMs = atMs;
    this.views.set(lane, nextView(this.views.get(lane) ?? EMPTY_VIEW, event, atMs));
    this.#note(event, atMs, lane);
    this.#say(event, atMs);
  }

  /** What the run has used, the turns that are under way included. */
  get usage(): UsageTotal {
    let usage = this.#usage;
    for (const { turnUsage } of this.views.values()) if (turnUsage !== null) usage = addTurn(usage, turnUsage);
    return usage;
  }

  #note(event: RalphEvent, atMs: number, lane: number): void {
    switch (event.type) {
      case "iteration-start":
        this.passed = event.passed;
        this.total = event.total;
        this.#iteration.set(lane, event.iteration);
        if (event.criteria !== undefined) this.criteria.set(event.item.id, event.criteria);
        this.spans.push({
          iteration: event.iteration,
          item: event.item.id,
          fromMs: atMs,
          toMs: null,
          result: null,
        });
        return this.#point(atMs);
      case "iteration-end": {
        const span = this.spans.findLast(({ iteration }) => iteration === event.iteration);
        if (span !== undefined) Object.assign(span, { toMs: atMs, result: event.settlement });
        if (event.settlement === "passed") this.passed += 1;
        this.announcement = `${event.item.id} ${event.settlement === "passed" ? "verified" : event.result}`;
        return this.#point(atMs);
      }
      case "turn-end":
        this.#usage = addTurn(this.#usage, event.usage);
        return this.#point(atMs);
      case "check-end":
        return this.#output(`${this.#iteration.get(lane) ?? 0}:${event.name}`, event.tail);
      case "pause-start":
        this.pausedMs = atMs;
        this.announcement = "The run is paused";
        return;
      case "pause-end":
        this.pausedMs = null;
        this.announcement = "The run continues";
        return;
      case "run-end":
        this.notices.push(...event.notices ?? []);
        this.announcement = `The run has ended: ${event.status}`;
        return;
      case "question":
        this.announcement = "The run asks a question";
        return;
      default:
        return;
    }
  }

  #output(key: string, tail: string): void {
    if (this.outputs.size >= MOST_OUTPUTS) this.outputs.delete(this.outputs.keys().next().value as string);
    this.outputs.set(key, tail.slice(-OUTPUT_CHARACTERS));
  }

  #point(atMs: number): void {
    const { costUsd } = this.#usage;
    this.points.push({ atMs, tokens: tokensOf(this.#usage), costUsd, passed: this.passed });
    // each second one goes: the line of time keeps its shape
    if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, index) => index % 2 === 0);
  }

  #say(event: RalphEvent, atMs: number): void {
    if (QUIET.has(event.type) || event.type === "check-end" && event.ok) return;
    this.#latest.push({ event, atMs });
    if (this.#latest.length > 2 * FEED_LINES) this.#latest.splice(0, this.#latest.length - FEED_LINES);
  }

  /** What happened last, oldest first: made into text when it is looked at. */
  feed(): readonly FeedLine[] {
    return this.#latest.flatMap(({ event, atMs }) => {
      const text = plainLines(printableEvent(event))[0]?.trim() ?? "";
      return text === "" ? [] : [{ atMs, text: text.slice(0, FEED_CHARACTERS) }];
    });
  }
}

/** Not in the list of what happened: it is on the page elsewhere, or too often. */
const QUIET: ReadonlySet<RalphEvent["type"]> = new Set([
  "turn-start",
  "agent-text",
  "agent-usage",
  "agent-start",
  "agent-end",
  "agent-tool-result",
  "agent-tool-call",
  "agent-file-change",
  "agent-line-invalid",
  "wait-delta",
  "text",
]);
