import { JsonLines } from "../agents/json_lines.ts";
import { EVENT_SCHEMAS } from "../events/schema.ts";
import { EVENTS_VERSION, type RalphEvent } from "../events/types.ts";
import { processStart } from "../host/process_table.ts";
import type { Clock } from "../host/types.ts";
import { followFile, watchPath } from "../host/watch_path.ts";
import type { LiveRun } from "../steer/control.ts";

/** An event as it was read, with its time in milliseconds since 1970 and the line that it came from. */
export interface ReadEvent {
  readonly event: RalphEvent;
  readonly atMs: number;
  /** Its item's place among those at work or landing, where items are worked on at once. */
  readonly lane: number | undefined;
  readonly line: object;
}

/**
 * Hands over the events of a file, then those that are added, as they are added. It leaves out lines that are no
 * event of this version: the file is in the working tree, where others can write.
 */
export function followEvents(file: string, take: (read: ReadEvent) => void): Disposable {
  const lines = new JsonLines({
    take(line) {
      const read = readEvent(line);
      if (read !== null) take(read);
    },
    invalid: () => {}, // `ralph report` counts them
  });
  return followFile(file, (chunk) => lines.push(chunk));
}

/** A line of `events.ndjson` as an event; `null` for what is none. Pure. */
export function readEvent(line: object): ReadEvent | null {
  const { v, at, type, lane } = line as Readonly<Record<string, unknown>>;
  const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (v !== EVENTS_VERSION || Number.isNaN(atMs) || typeof type !== "string") return null;
  if (!Object.hasOwn(EVENT_SCHEMAS, type)) return null;
  const parsed = EVENT_SCHEMAS[type as RalphEvent["type"]].safeParse(line);
  if (!parsed.success) return null;
  const event = parsed.data as unknown as RalphEvent;
  return { event, atMs, lane: typeof lane === "number" ? lane : undefined, line };
}

/** How often the process is checked for: a killed one sends no event. */
const LOOK_MS = 5000;

/**
 * Resolves when a run's process has ended, in order or not.
 *
 * @param liveFile the file that a run takes away at its end
 */
export async function runEnded(
  { pid, started }: Pick<LiveRun, "pid" | "started">,
  { liveFile, clock, signal }: { readonly liveFile: string; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const wake = { now: new AbortController() };
  using _watcher = watchPath(liveFile, () => wake.now.abort());
  while (!signal.aborted && await processStart(pid) === started) {
    wake.now = new AbortController();
    await clock.sleep(LOOK_MS, AbortSignal.any([signal, wake.now.signal]));
    if (wake.now.signal.aborted) await clock.sleep(100, signal); // it is written again at each change
  }
}
