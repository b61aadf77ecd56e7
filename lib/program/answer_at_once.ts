import { COMMANDS } from "./commands.ts";
import { generalHelp } from "../cli/help.ts";
import { VERSION } from "../host/version.ts";

/** The longest line of help; a narrower terminal needs the host that knows it. */
const WIDE = 100;

/**
 * The answers that need no host, whose streams alone cost more than the rest of the start; `null` for everything else.
 *
 * @param columns the terminal's; only asked for where it counts, since the question makes the streams
 */
export function answerAtOnce(argv: readonly string[], columns: () => number | undefined): string | null {
  if (argv.length !== 1) return null;
  if (argv[0] === "--version" || argv[0] === "-V") return VERSION;
  if (argv[0] !== "--help" && argv[0] !== "-h") return null;
  return (columns() ?? WIDE) < WIDE ? null : generalHelp(COMMANDS);
}
