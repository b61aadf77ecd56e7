import type { EventSink } from "../events/types.ts";
import { createTerminal } from "../host/terminal.ts";
import type { Terminal } from "../host/types.ts";
import { createHumanReporter, type Detail } from "./create_reporter.ts";
import { createStyle } from "./printable.ts";

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
