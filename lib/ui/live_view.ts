import type { EventSink, Preview, RalphEvent } from "../events/types.ts";
import type { Clock, Terminal } from "../host/types.ts";
import type { Style } from "./style.ts";
import { laneLines, viewLines, type ViewOptions } from "./view_lines.ts";
import { type Activity, EMPTY_VIEW, nextView, type ViewState } from "./view_state.ts";
import { plainText } from "./printable.ts";

/** More than any terminal is wide. */
const LONGEST = 2000;

/** The view needs this. */
export interface LiveViewOptions {
  readonly terminal: Pick<Terminal, "footer" | "size" | "stderr">;
  readonly clock: Clock;
  readonly style: Style;
  /** The view draws the time less often if nothing has happened for a while. @default false */
  readonly calm?: boolean;
}

/** Shows what is running at the bottom of the terminal. Dispose it: nothing is left of it then. */
export interface LiveView extends EventSink, Disposable {}

/** Drawn no more often than this, whatever an agent prints. */
const LEAST_MS = 100;
/** Drawn this often while something runs: the time passes. */
const TICK_MS = 1000;
/** With `calm`: how long it is drawn each second after an event, and how often then. */
const CALM_AFTER_MS = 10_000;
const CALM_MS = 5000;

/** The live view: events change what it knows; drawing follows in its own time, and only while something runs. */
export function createLiveView({ terminal, clock, style, calm = false }: LiveViewOptions): LiveView {
  let state: ViewState = EMPTY_VIEW;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;
  let isDue = false;
  let ticker: Disposable | null = null;
  const ended = new AbortController();
  let preview: Preview | null = null;
  const safeView = createSafeView();
  const lanes = createLanes();

  function draw(): void {
    drawnAt = clock.now();
    const active = state.activity !== null || lanes.active();
    if (active !== (ticker !== null)) attend(active);
    if (!active) return terminal.footer([]);
    const options = { ...terminal.size(), now: drawnAt, style };
    if (lanes.active()) return terminal.footer(lanes.lines(options));
    const safe = safeView(state, state.words === "" ? preview?.() ?? "" : state.words);
    terminal.footer(viewLines(safe, options));
  }

  /** Time and the terminal's size count while something runs. */
  function attend(active: boolean): void {
    ticker?.[Symbol.dispose]();
    ticker = active ? clock.every(TICK_MS, tick) : null;
    terminal.stderr[active ? "on" : "off"]("resize", draw);
  }

  function tick(): void {
    const now = clock.now();
    if (!calm || now - changedAt < CALM_AFTER_MS || now - drawnAt >= CALM_MS - TICK_MS / 2) draw();
  }

  function drawSoon(ms: number): void {
    if (isDue) return;
    isDue = true;
    void clock.sleep(ms, ended.signal).then(() => {
      isDue = false;
      if (!ended.signal.aborted) draw();
    });
  }

  function become(next: ViewState): void {
    if (next === state || ended.signal.aborted) return;
    const matters = next.activity !== null || ticker !== null;
    if (next.activity !== state.activity) preview = null;
    state = next;
    changedAt = clock.now();
    // Another activity may follow at once on one that ended: the view stays in between.
    const soon = next.activity === null ? LEAST_MS : drawnAt + LEAST_MS - clock.now();
    if (matters) drawSoon(Math.min(LEAST_MS, Math.max(0, soon)));
  }

  return {
    emit(event, lane) {
      if (lane === undefined) become(nextView(state, event, clock.now()));
      else if (lanes.take(lane, event, clock.now())) drawSoon(LEAST_MS);
    },
    preview: (newest) => void (preview = newest),
    [Symbol.dispose]() {
      ended.abort();
      state = EMPTY_VIEW;
      lanes.clear();
      if (ticker !== null) draw();
    },
  };
}

/** Texts are made safe when they change, not each second. */
function createSafeView(): (state: ViewState, words: string) => ViewState {
  let drawn: { readonly state: ViewState; readonly words: string; readonly safe: ViewState } | null = null;
  return (state, words) => {
    if (drawn === null || state !== drawn.state || words !== drawn.words) {
      drawn = { state, words, safe: printableView({ ...state, words }) };
    }
    return drawn.safe;
  };
}

/** The work of each lane, if items are worked on at once: from the start of its item to its end. */
function createLanes(): {
  /** @returns whether anything has changed */
  take(lane: number, event: RalphEvent, now: number): boolean;
  active(): boolean;
  lines(options: ViewOptions): readonly string[];
  clear(): void;
} {
  const lanes = new Map<number, ViewState>();
  return {
    take(lane, event, now) {
      const before = lanes.get(lane) ?? EMPTY_VIEW;
      const next = nextView(before, event, now);
      if (next.iteration === null) return lanes.delete(lane);
      lanes.set(lane, next);
      return next !== before;
    },
    active: () => lanes.size > 0,
    lines: (options) => laneLines(new Map([...lanes].map(([lane, one]) => [lane, printableView(one)])), options),
    clear: () => lanes.clear(),
  };
}

/** The state with its texts as they can be shown, each on one line; of the words the last line. Pure. */
export function printableView(state: ViewState): ViewState {
  const { step, iteration, activity, tool, words, pause } = state;
  return {
    ...state,
    step: step === null ? null : printableLine(step),
    iteration: iteration === null ? null : {
      ...iteration,
      item: { ...iteration.item, id: printableLine(iteration.item.id), title: printableLine(iteration.item.title) },
    },
    activity: activity === null ? null : printableActivity(activity),
    tool: printableLine(tool),
    words: lastLine(words),
    pause: pause === null ? null : { ...pause, message: printableLine(pause.message) },
  };
}

function printableActivity(activity: Activity): Activity {
  switch (activity.kind) {
    case "paused":
      return activity;
    case "turn":
      return { ...activity, agent: printableLine(activity.agent) };
    case "check":
      return { ...activity, check: { ...activity.check, name: printableLine(activity.check.name) } };
    case "hook":
      return { ...activity, hook: printableLine(activity.hook) };
    case "landing":
      return activity;
    case "wait": {
      const { agent, message } = activity.wait;
      return {
        ...activity,
        wait: { ...activity.wait, agent: printableLine(agent), message: printableLine(message) },
      };
    }
  }
}

/** The last line with something on it; of a bar of progress what it was drawn over with. */
function lastLine(text: string): string {
  return text.split(/[\r\n]+/).map(printableLine).findLast((line) => line !== "") ?? "";
}

function printableLine(text: string): string {
  return plainText(text.slice(0, LONGEST)).replaceAll(/\s+/g, " ").trim();
}
