import type { EventSink, Preview } from "../events/types.ts";
import type { Clock, Terminal } from "../host/types.ts";
import type { Style } from "./text.ts";
import { EMPTY_VIEW, laneLines, nextView, takeInLane, viewLines, type ViewState } from "./view_lines.ts";

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
  const lanes = new Map<number, ViewState>();

  function draw(): void {
    drawnAt = clock.now();
    const active = state.activity !== null || lanes.size > 0;
    if (active !== (ticker !== null)) attend(active);
    if (!active) return terminal.footer([]);
    const options = { ...terminal.size(), now: drawnAt, style };
    if (lanes.size > 0) return terminal.footer(laneLines(lanes, options));
    const words = state.words === "" ? preview?.() ?? "" : state.words;
    terminal.footer(viewLines({ ...state, words }, options));
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
      else if (takeInLane(lanes, lane, event, clock.now())) drawSoon(LEAST_MS);
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
