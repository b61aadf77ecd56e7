import { shellWord } from "../host/shell.ts";
import type { Invocation } from "./command.ts";
import { AGENT_FLAGS, LOOP_FLAGS, PLACE_FLAGS } from "./flags.ts";

/** These hold for one command alone. */
const ONCE: readonly string[] = ["record", "no-wait", "retry-blocked", "accept-changes", "interactive"];
/** Flags without which a command that continues would do something else. */
const KEPT = Object.keys({ ...PLACE_FLAGS, ...AGENT_FLAGS, ...LOOP_FLAGS }).filter((name) => !ONCE.includes(name))
  .concat("scope", "ask");

/** A command of Ralph's with those flags of this command line that it takes as well: as printed it works. Pure. */
export function withFlags(
  { flags, host, program }: Pick<Invocation, "flags" | "host" | "program">,
  line: string,
): string {
  const [, name = "", ...words] = line.split(" ");
  const command = program.commands.find((one) => one.name === name);
  if (command === undefined) return line;
  const given = KEPT.filter((flag) => flag in command.flags && !words.includes(`--${flag}`)).flatMap((flag) => {
    const { type, variable } = command.flags[flag]!;
    const values = flags.all(flag);
    if (values.length === 0 || (variable !== undefined && host.environment.variables[variable] !== undefined)) {
      return [];
    }
    const isSecret = values.some((value) => URL.canParse(value) && new URL(value).password !== "");
    if (isSecret) return []; // a line that is printed is copied and kept
    return values.map((value) => type === "boolean" ? `--${flag}` : `--${flag} ${shellWord(value)}`);
  });
  return [line, ...given].join(" ");
}
