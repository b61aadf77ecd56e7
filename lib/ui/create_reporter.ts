import { envelopeOf } from "../events/event_log.ts";
import type { EventSink, RalphEvent } from "../events/types.ts";
import { volumeOf } from "../events/volume.ts";
import { createTerminal } from "../host/terminal.ts";
import type { Terminal } from "../host/types.ts";
import { plainLines, richLines } from "./event_lines.ts";
import { createStyle, printableEvent, type Style } from "./text.ts";

/** How much of a run is shown to a person. */
export type Detail = "quiet" | "normal" | "verbose";

/** A reporter for people needs this. */
export interface HumanReporterOptions {
  readonly mode: "rich" | "plain";
  readonly style: Style;
  readonly detail: Detail;
  /** Shows what is running below the lines: what it shows is not printed again. @default none */
  readonly live?: EventSink | undefined;
  /** Takes one line, without its end. */
  readonly say: (line: string) => void;
}

/** Shows events to a person. */
export function createHumanReporter({ mode, style, detail, live, say }: HumanReporterOptions): EventSink {
  return {
    emit(event, lane) {
      live?.emit(event, lane);
      if (!shown(event, detail) || (live !== undefined && event.type === "wait-delta")) return;
      const safe = printableEvent(event);
      const lines = mode === "rich" ? richLines(safe, style) : plainLines(safe);
      for (const line of lines) {
        if (lane === undefined) say(line);
        else if (line !== "") say(`${style.dim(`[${lane}]`)} ${line}`);
      }
    },
    preview: (preview) => live?.preview?.(preview),
  };
}

function shown(event: RalphEvent, detail: Detail): boolean {
  if (detail === "verbose") return true;
  if (event.type.startsWith("agent-")) return false;
  return detail === "normal" || volumeOf(event) === "warning";
}

/** A reporter for programs needs this. */
export interface JsonReporterOptions {
  /** The run's id, known once the run has begun. */
  readonly run: () => string | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Takes one line, without its end. */
  readonly out: (line: string) => void;
}

/** Writes each event as one JSON object a line. */
export function createJsonReporter({ run, now, out }: JsonReporterOptions): EventSink {
  return { emit: (event, lane) => out(JSON.stringify({ ...envelopeOf(event, "", { now }, lane), run: run() })) };
}

/** How events are printed. */
export interface ConsoleSinkOptions {
  /** `quiet`: warnings only; `verbose`: what the agent does, too. @default "normal" */
  readonly detail?: Detail;
  /** @default standard error, which keeps standard output for results */
  readonly stream?: "stdout" | "stderr";
  /** @default the process's own streams */
  readonly terminal?: Pick<Terminal, "write">;
}

/**
 * Prints what happens as plain lines, for `createRalph({ sinks })` in a script.
 *
 * @example Show the checks of a build script
 * ```ts
 * import { consoleSink, createRalph, verify } from "ralph";
 *
 * await using ralph = await createRalph({ sinks: [consoleSink()] });
 * await verify(ralph, ["test 1 = 1"]); // prints `  check passed: test 1 = 1 (4ms)`
 * ```
 */
export function consoleSink(options: ConsoleSinkOptions = {}): EventSink {
  const { detail = "normal", stream = "stderr", terminal = createTerminal() } = options;
  return createHumanReporter({
    mode: "plain",
    style: createStyle({ colour: false, ascii: false }),
    detail,
    say: (line) => terminal.write(stream, `${line}\n`),
  });
}
