import { resolve } from "node:path";
import { pathExists } from "../host/files.ts";
import type { Invocation } from "./command.ts";
import { usage } from "./parse.ts";

/** The goal of the command line; "" with `--resume`. @throws {RalphError} usage for what cannot be meant as one */
export async function goalOf({ arguments: [given], command, flags, host }: Invocation): Promise<string> {
  const example = `say it in words: \`ralph ${command.name} "add a health endpoint"\``;
  if (given === undefined) {
    if (flags.has("resume")) return "";
    throw usage(
      `\`ralph ${command.name}\` needs a goal`,
      `${example}; \`--resume\` continues with the one that was begun`,
    );
  }
  const goal = given.trim();
  if (goal === "") throw usage("the goal is empty", example);
  if (/^\S+\.md$/i.test(goal)) {
    const exists = await pathExists(resolve(host.environment.cwd, goal));
    throw exists
      ? usage(
        `${goal} is a file, not a goal`,
        `say what is to be done with it: \`ralph ${command.name} "implement ${goal}"\``,
      )
      : usage(`the file ${goal} does not exist`, `a single word that ends in .md is never a goal; ${example}`);
  }
  if (/^\d+[A-Za-z]?(\.\d+)*$/.test(goal)) throw usage(`${goal} is a number, not a goal`, example);
  return goal;
}
