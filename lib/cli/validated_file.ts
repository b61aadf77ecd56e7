import { join } from "node:path";
import { checksNothing } from "../backlog/verify_commands.ts";
import { type Config, CONFIG_FILE } from "../config/load.ts";
import { ERROR_DEFINITIONS } from "../errors/definitions.ts";
import { optionInvalid, RalphError } from "../errors/ralph_error.ts";
import { isBranchName, isPlainBranchName } from "../git/switch_branch.ts";
import { readText } from "../host/files.ts";
import type { Host } from "../host/types.ts";

/** The faults of a file. */
export interface FileFindings {
  readonly problems: readonly string[];
  /** Problems that a run refuses as well: commands that check nothing, an id that is used more than once. */
  readonly refused?: readonly string[];
  /** Allowed, but hardly meant. */
  readonly warnings: readonly string[];
}

/** One file and what is wrong with it. */
export interface ValidatedFile extends FileFindings {
  /** Relative to the root, but for a configuration that was named. */
  readonly path: string;
  readonly present: boolean;
}

/** The faults of a `branchName`: `ralph run` would end at it. */
export async function branchProblems(
  { root, host }: { readonly root: string; readonly host: Host },
  branchName: string,
): Promise<readonly string[]> {
  if (branchName === "" || isPlainBranchName(branchName)) return [];
  const { openRepository } = await import("../git/open_repository.ts");
  const repository = await openRepository(host, root);
  if (repository === null || await isBranchName(repository.git, branchName)) return [];
  return [`branchName: git refuses the branch name ${JSON.stringify(branchName)}`];
}

/** Reads a state file and gathers what is wrong with it; what its reader throws is a problem of the file. */
export async function validateFile(
  root: string,
  path: string,
  { missing, check }: {
    /** Printed where the file is missing. */
    readonly missing: readonly string[];
    readonly check: (text: string) => FileFindings | Promise<FileFindings>;
  },
): Promise<ValidatedFile> {
  const text = await readText(join(root, path));
  if (text === null) return { path, present: false, problems: [], warnings: missing };
  try {
    const { problems, warnings, refused = [] } = await check(text);
    return { path, present: true, problems: [...await placed(problems, text), ...refused], warnings, refused };
  } catch (error) {
    const hint = ownHint(error);
    return { path, present: true, problems: [problemOf(error, path), ...hint === null ? [] : [hint]], warnings: [] };
  }
}

/** In a longer file a place is named by its key alone: looking for lines takes seconds there. */
const LONGEST_TEXT = 256 * 1024;

/** A problem begins with this when it names a place in the file: `userStories[0].id`. */
const PLACE_REGEXP = /^(?!line \d)[A-Za-z]\w*(?:\[\d+\]|\.[A-Za-z]\w*)*/;

/** Problems that begin with a key of the file, with its line and column before it. */
async function placed(problems: readonly string[], text: string): Promise<readonly string[]> {
  if (text.length > LONGEST_TEXT || !problems.some((problem) => PLACE_REGEXP.test(problem))) return problems;
  const { jsonPlace } = await import("../config/json_place.ts");
  return problems.map((problem) => {
    const [place = ""] = PLACE_REGEXP.exec(problem) ?? [];
    const path = [...place.matchAll(/\w+/g)].map(([part]) => /^\d+$/.test(part) ? Number(part) : part);
    const found = jsonPlace(text, path);
    return !jsonPlace(text, path.slice(0, 1)).known
      ? problem
      : `line ${found.line}, column ${found.column}: ${problem}`;
  });
}

/** The hint of an error that has one of its own, and not only that of its code. */
export function ownHint(error: unknown): string | null {
  if (!RalphError.isInstance(error)) return null;
  return error.hint === ERROR_DEFINITIONS[error.code].hint ? null : error.hint;
}

/** The message without the path that it begins with; what is no RalphError is thrown again. */
export function problemOf(error: unknown, path: string): string {
  if (!RalphError.isInstance(error)) throw error;
  const problem = error.details["problem"];
  const at = error.details["path"];
  const line = typeof at === "string" && at.startsWith(`${path}:`) ? `line ${at.slice(path.length + 1)}: ` : "";
  return typeof problem === "string" ? `${line}${problem}` : error.message.replace(`${path}: `, "");
}

/** @throws {RalphError} option-invalid for a `--verify` that passes whatever the code is like */
export function refuseEmptyFlags(commands: readonly string[]): void {
  const value = commands.find(checksNothing);
  if (value === undefined) return;
  throw optionInvalid("--verify", "a command that can fail", value, "name the command that runs the project's tests");
}

/** @throws {RalphError} config-invalid for a check of the configuration that passes whatever the code is like */
export function refuseEmptyConfig({ verify }: Config, path: string | null): void {
  const [problem] = placeholderProblems("verify", [...verify.default, ...verify.ui]);
  if (problem !== undefined) {
    throw new RalphError("config-invalid", { details: { path: path ?? CONFIG_FILE, problem } });
  }
}

/** @throws {RalphError} state-invalid for an item that a run refuses */
export function refuseItems(files: readonly ValidatedFile[]): void {
  for (const { path, refused: [problem] = [] } of files) {
    if (problem !== undefined) throw new RalphError("state-invalid", { details: { path, problem } });
  }
}

/** Commands that pass whatever the code is like. */
export function placeholderProblems(of: string, commands: readonly string[]): readonly string[] {
  return commands.filter(checksNothing).map((command) =>
    `${of}: \`${command}\` checks nothing: name a command that can fail`
  );
}
