import { resolve } from "node:path";
import { pathExists, readText } from "../host/files.ts";
import { type Invocation, usage } from "./command.ts";

/**
 * The goal of the command line, of standard input (`-`) or of `--goal-file`; "" with `--resume`.
 *
 * @throws {RalphError} usage for what cannot be meant as one
 */
export async function goalOf(invocation: Invocation): Promise<string> {
  const { command, flags, host } = invocation;
  const example = `say it in words: \`ralph ${command.name} "add a health endpoint"\``;
  const given = await givenGoal(invocation);
  if (given === null) {
    if (flags.has("resume")) return "";
    throw usage(
      `\`ralph ${command.name}\` needs a goal`,
      host.terminal.isTerminal("stdin")
        ? `${example}; \`--resume\` continues with the one that was begun`
        : `${example}; \`ralph ${command.name} -\` reads it from standard input, \`--goal-file FILE\` from a file`,
    );
  }
  const goal = given.trim();
  if (goal === "") throw usage("the goal is empty", example);
  if (/^\S+\.md$/i.test(goal)) {
    const exists = await pathExists(resolve(host.environment.cwd, goal));
    throw exists
      ? usage(`${goal} is a file, not a goal`, `\`ralph ${command.name} --goal-file ${goal}\` takes the goal from it`)
      : usage(`the file ${goal} does not exist`, `a single word that ends in .md is never a goal; ${example}`);
  }
  if (/^\d+[A-Za-z]?(\.\d+)*$/.test(goal)) throw usage(`${goal} is a number, not a goal`, example);
  return goal;
}

/** As it was given; `null`: not at all. */
async function givenGoal({ arguments: [given], flags, host }: Invocation): Promise<string | null> {
  const file = flags.text("goal-file");
  if (file !== undefined) {
    if (given !== undefined) throw usage("a goal and `--goal-file` exclude each other", "leave one of them out");
    const read = await readText(resolve(host.environment.cwd, file));
    if (read === null) throw usage(`--goal-file: the file ${file} does not exist`);
    return read;
  }
  if (given !== "-") return given ?? null;
  if (host.terminal.isTerminal("stdin")) {
    throw usage("`-` reads the goal from standard input, which is a terminal here", "`--goal-file FILE` reads a file");
  }
  const { text } = await import("node:stream/consumers");
  return await text(host.terminal.stdin);
}
