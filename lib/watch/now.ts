import { addTurn, tokensOf } from "../backlog/usage.ts";
import { EMPTY_TALLY, nextTally, type Tally } from "../events/tally.ts";
import { pathExists } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { join } from "node:path";
import { controlFolder, type LiveRun, liveRuns } from "../steer/control.ts";
import { printable, type Style } from "../ui/text.ts";
import { EMPTY_VIEW, laneLines, nextView, takeInLane, viewLines, type ViewState } from "../ui/view_lines.ts";
import { followEvents } from "./follow.ts";

/** The file of a run's events, in its folder. */
export function eventsFile(run: Pick<LiveRun, "folder">): string {
  return join(run.folder, "events.ndjson");
}

/** The runs at work below Ralph's own folder, of one root. */
export async function runsAt(ownDirectory: string, root: string): Promise<readonly LiveRun[]> {
  const runs = await liveRuns(controlFolder(ownDirectory));
  const there = await Promise.all(runs.map((run) => pathExists(run.folder)));
  return runs.filter((run, index) => run.root === root && there[index] === true);
}

/** A run's work at this moment. */
export interface RunNow {
  readonly live: LiveRun;
  /** The view of a run that works on items one after another. */
  readonly view: ViewState;
  /** The view of each worker, by its number. */
  readonly lanes: ReadonlyMap<number, ViewState>;
  readonly tally: Tally;
}

/** Reads what a run has recorded so far. */
export function readNow(live: LiveRun): RunNow {
  let view = EMPTY_VIEW;
  const lanes = new Map<number, ViewState>();
  let tally = EMPTY_TALLY;
  using _events = followEvents(eventsFile(live), ({ event, atMs, lane }) => {
    if (lane === undefined) view = nextView(view, event, atMs);
    else takeInLane(lanes, lane, event, atMs);
    tally = nextTally(tally, event, atMs);
  });
  return { live, view, lanes, tally };
}

/** The commands that a person can use on a run. Pure. */
export function possible({ pause, stopping }: LiveRun): readonly string[] {
  if (stopping) return ["ralph watch", "ralph stop --now"];
  return ["ralph watch", pause === null ? "ralph pause" : "ralph resume", 'ralph tell "…"', "ralph stop"];
}

/** The same as data, for `--json`. */
export function nowData({ live, view, lanes, tally }: RunNow, now: number): object {
  const { passed, total, startedMs } = tally;
  const usage = [view, ...lanes.values()].reduce(
    (sum, { turnUsage }) => turnUsage === null ? sum : addTurn(sum, turnUsage),
    tally.usage,
  );
  return {
    run: live.run,
    ...viewData(view),
    step: view.step,
    workers: [...lanes].map(([lane, one]) => ({ lane, ...viewData(one) })),
    passed,
    total,
    durationMs: startedMs === null ? null : Math.max(0, now - startedMs),
    tokens: tokensOf(usage),
    costUsd: usage.costUsd,
    estimated: usage.estimated,
    turnsWithoutTokens: usage.turnsWithoutTokens,
    turnsWithoutCost: usage.turnsWithoutCost,
    pause: live.pause === null ? null : live.pause.state,
    stopping: live.stopping,
    asks: live.asks === null ? null : live.asks.message,
    can: possible(live),
  };
}

function viewData({ iteration, activity, tool }: ViewState): object {
  return {
    item: iteration === null ? null : iteration.item,
    attempt: iteration?.attempt ?? null,
    iteration: iteration?.iteration ?? null,
    limit: iteration?.limit ?? null,
    activity: activity?.kind ?? null,
    check: activity?.kind === "check" ? activity.check.name : null,
    tool: tool === "" ? null : tool,
  };
}

/** The same as lines, safe for a terminal. */
export function nowLines(
  { live, view, lanes, tally: { passed, total } }: RunNow,
  { host, style }: { readonly host: Host; readonly style: Style },
): readonly string[] {
  const { warn, symbols } = style;
  const columns = host.terminal.isTerminal("stdout") ? host.terminal.size().columns : 160;
  const options = { columns, rows: 24, now: host.clock.now(), style };
  const shown = lanes.size === 0 ? viewLines(view, options) : laneLines(lanes, options);
  const between = view.step === null ? "between two turns" : printable(view.step);
  return [
    ...(shown.length === 0 ? [`${symbols.start} ${between}`] : shown),
    `  ${total === null ? `${passed} done` : `${passed} of ${total} done`}`,
    ...(live.pause?.state === "asked" ? [warn("  pauses after the present turn")] : []),
    ...(live.stopping ? [warn("  stops after the present turn")] : []),
    ...(live.asks === null ? [] : [warn(`  waits for an answer: ${printable(live.asks.message)}`)]),
  ];
}
