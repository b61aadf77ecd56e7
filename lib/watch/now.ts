import { tokensOf } from "../backlog/usage.ts";
import { addTurn } from "../backlog/usage.ts";
import { pathExists } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { join } from "node:path";
import { controlFolder, liveRuns } from "../steer/control.ts";
import type { LiveRun } from "../steer/types.ts";
import { printableView } from "../ui/live_view.ts";
import { printable } from "../ui/printable.ts";
import type { Style } from "../ui/style.ts";
import { viewLines } from "../ui/view_lines.ts";
import { EMPTY_VIEW, nextView, type ViewState } from "../ui/view_state.ts";
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

/** What a run is doing at this moment. */
export interface RunNow {
  readonly live: LiveRun;
  readonly view: ViewState;
  /** How far it is: items passed, and all that are known. */
  readonly passed: number;
  readonly total: number | null;
}

/** Reads what a run has recorded so far. */
export function readNow(live: LiveRun): RunNow {
  let view = EMPTY_VIEW;
  let passed = 0;
  let total: number | null = null;
  using _events = followEvents(eventsFile(live), ({ event, atMs }) => {
    view = nextView(view, event, atMs);
    if (event.type === "iteration-start") ({ passed, total } = event);
    if (event.type === "iteration-end" && event.settlement === "passed") passed += 1;
  });
  return { live, view, passed, total };
}

/** What can be done with a run, as commands. Pure. */
export function possible({ pause, stopping }: LiveRun): readonly string[] {
  if (stopping) return ["ralph watch", "ralph stop --now"];
  return ["ralph watch", pause === null ? "ralph pause" : "ralph resume", 'ralph tell "…"', "ralph stop"];
}

/** The same as data, for `--json`. */
export function nowData({ live, view, passed, total }: RunNow, now: number): object {
  const { iteration, activity, runUsage, turnUsage, startedMs } = view;
  const usage = turnUsage === null ? runUsage : addTurn(runUsage, turnUsage);
  return {
    run: live.run,
    item: iteration === null ? null : iteration.item,
    attempt: iteration?.attempt ?? null,
    iteration: iteration?.iteration ?? null,
    limit: iteration?.limit ?? null,
    step: view.step,
    activity: activity?.kind ?? null,
    check: activity?.kind === "check" ? activity.check.name : null,
    tool: view.tool === "" ? null : view.tool,
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

/** The same as lines, safe for a terminal. */
export function nowLines(
  { live, view, passed, total }: RunNow,
  { host, style }: { readonly host: Host; readonly style: Style },
): readonly string[] {
  const { warn, symbols } = style;
  const columns = host.terminal.isTerminal("stdout") ? host.terminal.size().columns : 160;
  const shown = viewLines(printableView(view), { columns, rows: 24, now: host.clock.now(), style });
  const between = view.step === null ? "between two turns" : printable(view.step);
  return [
    ...(shown.length === 0 ? [`${symbols.start} ${between}`] : shown),
    `  ${total === null ? `${passed} done` : `${passed} of ${total} done`}`,
    ...(live.pause?.state === "asked" ? [warn("  pauses after the present turn")] : []),
    ...(live.stopping ? [warn("  stops after the present turn")] : []),
    ...(live.asks === null ? [] : [warn(`  waits for an answer: ${printable(live.asks.message)}`)]),
  ];
}
