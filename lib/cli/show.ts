import { createStyle, type Style, wantsColour } from "../ui/printable.ts";
import type { Invocation } from "./command.ts";

/** How this command line's text is drawn on one of the two streams. */
export function styleFor({ flags, host }: Pick<Invocation, "flags" | "host">, stream: "stdout" | "stderr"): Style {
  return createStyle({
    colour: wantsColour(host.terminal.isTerminal(stream), host.environment, flags.has("no-color")),
    ascii: flags.has("ascii"),
  });
}

/** Data as JSON, two spaces, for `--json`. */
export function toJson(data: unknown): string {
  return JSON.stringify(data, null, 2);
}
