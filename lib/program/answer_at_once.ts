import { VERSION } from "../host/version.ts";

/** The longest line of help; a narrower terminal needs the host that knows it. */
const WIDE = 100;

/**
 * The answers that need no host, whose streams alone cost more than the rest of the start; `null` for everything else.
 *
 * @param columns the terminal's; only asked for where it counts, since the question makes the streams
 */
export async function answerAtOnce(
  argv: readonly string[],
  columns: () => Promise<number | undefined>,
): Promise<string | null> {
  if (argv[0] === "--complete") { // a shell's completion script asks, at each press of a key
    const { COMMANDS } = await import("./commands.ts");
    return (await import("./offers.ts")).offerLines(argv.slice(1), COMMANDS);
  }
  if (argv.length !== 1) return null;
  if (argv[0] === "--version" || argv[0] === "-V") return VERSION;
  if (argv[0] !== "--help" && argv[0] !== "-h" || (await columns() ?? WIDE) < WIDE) return null;
  const { COMMANDS } = await import("./commands.ts");
  const { generalHelp } = await import("../cli/help.ts");
  return generalHelp(COMMANDS);
}
