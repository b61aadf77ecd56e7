import { join } from "node:path";
import { ERROR_DEFINITIONS } from "../errors/definitions.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { readText } from "../host/files.ts";

/** What is wrong with a file. */
export interface FileFindings {
  readonly problems: readonly string[];
  /** Allowed, but hardly meant. */
  readonly warnings: readonly string[];
}

/** One file and what is wrong with it. */
export interface ValidatedFile extends FileFindings {
  /** Relative to the root, but for a configuration that was named. */
  readonly path: string;
  readonly present: boolean;
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
    return { path, present: true, ...await check(text) };
  } catch (error) {
    const hint = ownHint(error);
    return { path, present: true, problems: [problemOf(error, path), ...hint === null ? [] : [hint]], warnings: [] };
  }
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

/** Commands that pass whatever the code is like. */
export function placeholderProblems(of: string, commands: readonly string[]): readonly string[] {
  return commands.filter(isPlaceholder).map((command) =>
    `${of}: \`${command}\` checks nothing: name a command that can fail`
  );
}

/** A command that passes whatever the code is like: it checks nothing. */
export function isPlaceholder(command: string): boolean {
  const plain = command.trim().replace(/[;\s]+$/, "");
  return plain === "" ||
    /^(?::|true|\/bin\/true|\/usr\/bin\/true|exit(?:\s+0)?|echo(?:\s[^;&|<>$`()]*)?|printf\s[^;&|<>$`()]*|#.*)$/.test(
      plain,
    );
}
