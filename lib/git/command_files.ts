import { join, relative, resolve, sep } from "node:path";
import { entryAt } from "../host/looks.ts";
import { READING } from "./run_git.ts";
import type { Repository } from "./repository.ts";

/** Settings whose value is a command that git runs, with the shell, in the working tree. */
const COMMANDS =
  "^(filter\\..*\\.(clean|smudge|process)|merge\\..*\\.driver|diff\\.(.*\\.)?(command|textconv|external)|" +
  "core\\.(askpass|sshcommand|gitproxy|alternaterefscommand)|gpg\\.(.*\\.)?(program|defaultkeycommand)|" +
  "trailer\\..*\\.(cmd|command)|credential\\.(.*\\.)?helper)$";
/** The parts of a command between which the shell sees no word: blanks, quotes, operators, `$PWD/`. */
const WORD_END_REGEXP = /[\s'"`;|&()<>{}$=]+/;

/**
 * The files of the working tree that a command of git's settings names (`filter.fmt.clean = sh tools/fmt.sh`). Git runs
 * them outside of a sandbox: a turn in one must not write them. A name with a `/` or a `.` counts also if no file has it.
 *
 * @returns absolute paths
 */
export async function commandFiles(git: Repository["git"], topLevel: string): Promise<readonly string[]> {
  const { stdout } = await git(["config", "--null", "--get-regexp", COMMANDS], { environment: READING });
  const values = stdout.split("\0").map((field) => field.slice(field.indexOf("\n") + 1));
  const words = values.flatMap((value) => value.split(WORD_END_REGEXP));
  // `$PWD/tools/fmt.sh`, and what a path begins with that the shell puts together
  const paths = words.flatMap((word) => [word, word.slice(word.indexOf("/") + 1)]).filter((word) => word !== "");
  const found = paths.filter((path) => isFile(topLevel, path)).map((path) => resolve(topLevel, path));
  return [...new Set(found)];
}

function isFile(topLevel: string, path: string): boolean {
  const inside = relative(topLevel, resolve(topLevel, path));
  if (inside === "" || inside.startsWith("..") || inside.split(sep)[0] === ".git") return false;
  const entry = entryAt(join(topLevel, inside));
  return entry === undefined ? /^[\w@+./-]*\w[./][\w@+./-]*\w$/.test(path) : !entry.isDirectory();
}
