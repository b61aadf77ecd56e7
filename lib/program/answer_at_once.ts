import { COMMANDS } from "./commands.ts";
import { generalHelp } from "../cli/help.ts";
import { VERSION } from "../host/version.ts";

/** The longest line of help; a narrower terminal needs the host that knows it. */
const WIDE = 100;

/** The answers that need no host, whose streams alone cost more than the rest of the start; `null` for everything else. */
export function answerAtOnce(argv: readonly string[], columns?: number): string | null {
  if (argv.length !== 1) return null;
  if (argv[0] === "--version" || argv[0] === "-V") return VERSION;
  if (columns !== undefined && columns < WIDE) return null;
  return argv[0] === "--help" || argv[0] === "-h" ? generalHelp(COMMANDS) : null;
}
