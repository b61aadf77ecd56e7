import { RalphError } from "../errors/ralph_error.ts";
import type { Repository } from "./types.ts";

/** Paths from standard input, separated by NUL and taken literally. */
export const FROM_INPUT: readonly string[] = ["--pathspec-from-file=-", "--pathspec-file-nul"];
/** None of the user's hooks. */
export const NO_HOOKS: readonly string[] = ["-c", "core.hooksPath=/dev/null"];

/** What a git command printed that must work. @throws {RalphError} git-failed */
export async function outputFrom(
  { git }: Pick<Repository, "git">,
  arguments_: readonly string[],
  options: Parameters<Repository["git"]>[1] = {},
): Promise<string> {
  const literal = { GIT_LITERAL_PATHSPECS: "1" };
  const end = await git(arguments_, { ...options, environment: { ...literal, ...options.environment } });
  if (end.exitCode === 0) return end.stdout;
  const command = arguments_.find((argument) => /^[a-z][a-z-]+$/.test(argument)) ?? "";
  const reason = end.stderr.trim().split("\n").at(-1) ?? "";
  throw new RalphError("git-failed", { details: { command, reason, hint: "run the same command by hand to see why" } });
}
