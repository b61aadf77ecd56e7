import { gitFailed } from "./run_git.ts";
import type { Repository } from "./types.ts";

/** Paths from standard input, separated by NUL and taken literally. */
export const FROM_INPUT: readonly string[] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/** What a git command printed that must work. @throws {RalphError} git-failed */
export async function outputFrom(
  { git }: Pick<Repository, "git">,
  arguments_: readonly string[],
  options: Parameters<Repository["git"]>[1] = {},
): Promise<string> {
  const literal = { GIT_LITERAL_PATHSPECS: "1" };
  const end = await git(arguments_, { ...options, environment: { ...literal, ...options.environment } });
  if (end.exitCode === 0) return end.stdout;
  throw gitFailed(arguments_, end.stderr.trim().split("\n").at(-1) ?? "");
}
