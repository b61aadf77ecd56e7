import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { BASH, FISH, POWERSHELL, ZSH } from "../../generated/completions.ts";

/**
 * A script for each shell. It asks the program at the beginning of the line which words fit (`offers.ts`), so that it is
 * right for every version.
 */
export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

/** Shells that have a script. */
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** `ralph completions SHELL`: the script for that shell. */
export async function run({ arguments: [shell = ""], out }: Invocation): Promise<number> {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    throw usage(
      `there is no completion for ${shell}`,
      `${didYouMean(shell, SHELLS, "")} shells: ${SHELLS.join(", ")}`.trim(),
    );
  }
  out(script.trimEnd());
  return EXIT.done;
}
