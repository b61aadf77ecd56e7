import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { bashScript } from "../completions/bash.ts";
import { fishScript } from "../completions/fish.ts";
import { type CompletionModel, completionModel, SHELLS } from "../completions/model.ts";
import { powershellScript } from "../completions/powershell.ts";
import { zshScript } from "../completions/zsh.ts";

const SCRIPTS: Readonly<Record<string, (model: CompletionModel) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** `ralph completions SHELL`: a script for that shell, made from the table of commands. */
export async function run({ arguments: [shell = ""], out, program }: Invocation): Promise<number> {
  const make = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (make === undefined) {
    throw usage(
      `there is no completion for ${shell}`,
      `${didYouMean(shell, SHELLS, "")} shells: ${SHELLS.join(", ")}`.trim(),
    );
  }
  out(make(completionModel(program.commands)).trimEnd());
  return EXIT.done;
}
