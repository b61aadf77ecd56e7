/**
 * What is made, run by a check beside a test: `node src/cli.mjs && node test/a.test.mjs`. The test judges there, and the
 * program is what it judges.
 *
 * @module
 */
import { posix } from "node:path";
import { isCode, isProduct } from "./mentioned.ts";
import type { SimpleCommand } from "./shell_commands.ts";

/** The path of a checker. */
const CHECKER_REGEXP = /check|verif|valid|test|spec|assert|judge|\bqa\b|e2e|smoke|accept|grade|score/i;
/** How it ends decides what else runs. */
const CONDITION_REGEXP = /\|\||\b(?:if|elif|while|until|case)\b|(?:^|\s)!\s/;
/** Shell scripts there are tools: what they do to a test is seen by nothing else. */
const TOOLS: readonly string[] = ["bin", "build", "cmd"];
/** They run what is in a folder or matches a pattern. `find` and `ls` only name it: another program runs it then. */
const RUNNERS_REGEXP = /^(?:ava|bats|jest|mocha|prove|py\.?test|rspec|tap|uvu|vitest)$/;
/** Programs that run tests only by one of these words. */
const RUNNERS_BY_WORD: readonly (readonly [program: RegExp, word: RegExp])[] = [
  [/^python[\d.]*$/, /^(?:unittest|pytest|nose2)$/],
  [/^node$/, /^--test$/],
  [/^(?:bun|deno)$/, /^test$/],
];

/** Whether a command runs the tests of folders that it is given. Pure. */
export function runsFolders({ program, words }: SimpleCommand): boolean {
  return RUNNERS_REGEXP.test(program) ||
    RUNNERS_BY_WORD.some(([runner, by]) => runner.test(program) && words.some((word) => by.test(word)));
}

/** Whether a path sounds like a checker. Pure. */
export function isChecker(path: string): boolean {
  return CHECKER_REGEXP.test(path);
}

/** What is known of a program that a check runs. */
export interface Run {
  /** All of the text that it is run by. */
  readonly text: string;
  readonly command: SimpleCommand;
  /** It is read into the shell itself. */
  readonly isIncluded: boolean;
  /** Paths that the other words of the command name. */
  readonly operands: readonly string[];
  /** Whether a path is a test, or a folder that holds some. */
  readonly isTest: (path: string) => boolean;
}

/**
 * Whether running a file decides on nothing but itself: it is in a folder of what is made, is no test and no checker, is
 * given no test to run, and nothing else of the check depends on how it ends but that it must end well. Pure.
 */
export function runsWork(path: string, { text, command, isIncluded, operands, isTest }: Run): boolean {
  if (!isProduct(path) || isTest(path) || isChecker(posix.basename(path)) || isIncluded) return false;
  if (command.feeds || command.observed || CONDITION_REGEXP.test(text) || isTool(path)) return false;
  return command.program === "for" || !operands.some((other) => isCode(other) && isTest(other));
}

function isTool(path: string): boolean {
  return posix.dirname(path).split("/").some((folder) => TOOLS.includes(folder)) &&
    /^(?:[^.]+|.*\.(?:ba|z|k|fi)?sh)$/.test(posix.basename(path));
}
