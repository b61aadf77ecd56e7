import { hashText } from "../host/hash.ts";
import type { Check, CheckResult } from "./check_types.ts";

/** More back-ticks than these open nothing, so that reading takes time in proportion to the text. */
const OPENING_REGEXP = /(?<![\w-])Verify:[ \t]*(`{1,9})(?!`)/g;
const TICKS_REGEXP = /`+/g;

/**
 * The commands that a criterion names in the form ``Verify: `cmd` ``, in their order. Other text in back-ticks is never
 * a command. A command that holds back-ticks itself is written between double ones.
 *
 * @example Only the one form is a command
 * ```ts
 * import { verifyCommands } from "ralph/backlog";
 *
 * console.log(verifyCommands("`rm -rf /` is refused. Verify: `npm test`")); // [ "npm test" ]
 * ```
 */
export function verifyCommands(criterion: string): readonly string[] {
  const commands: string[] = [];
  const opening = new RegExp(OPENING_REGEXP);
  let unclosed = Infinity; // openings of this many back-ticks and more have no end
  for (let match = opening.exec(criterion); match !== null; match = opening.exec(criterion)) {
    const count = match[1]?.length ?? 1;
    const start = opening.lastIndex;
    const end = count < unclosed ? endOfCode(criterion, start, count) : null;
    if (end === null) {
      unclosed = Math.min(unclosed, count);
      continue;
    }
    commands.push(criterion.slice(start, end).trim());
    opening.lastIndex = end + count;
  }
  return commands.filter((command) => command !== "");
}

/** A criterion that is meant to name a command, and names none that Ralph runs. Pure. */
function isNoCheck(criterion: string): boolean {
  return /\bverify\W{0,4}`|^\W*verify\W{0,2}:/i.test(criterion) && verifyCommands(criterion).length === 0;
}

/** Warns of such criteria of a story. Pure. */
export function noChecks(
  { id, acceptanceCriteria }: { readonly id: string; readonly acceptanceCriteria: readonly string[] },
): readonly string[] {
  return acceptanceCriteria.filter(isNoCheck).map((criterion) =>
    `${id}: no command is run for "${
      criterion.replaceAll(/\s+/g, " ").trim()
    }": a check has the form Verify: \`command\``
  );
}

/** The end of the text that the next run of at least so many back-ticks closes. */
function endOfCode(text: string, start: number, count: number): number | null {
  const ticks = new RegExp(TICKS_REGEXP);
  ticks.lastIndex = start;
  for (let run = ticks.exec(text); run !== null; run = ticks.exec(text)) {
    if (run[0].length >= count) return ticks.lastIndex - count;
  }
  return null;
}

/** A text without the commands that it names. Pure. */
export function withoutCommands(text: string): string {
  return verifyCommands(text).reduce((rest, command) => rest.replaceAll(`\`${command}\``, ""), text);
}

/** The commands of all criteria of a story, each once. */
export function storyCommands(story: { readonly acceptanceCriteria: readonly string[] }): readonly string[] {
  return [...new Set(story.acceptanceCriteria.flatMap(verifyCommands))];
}

/** Names a check wherever its text may be masked or labelled: a hash of its command, or of a function's name. */
export function checkId(
  { id, name, command = name, expect = {} }:
    & Pick<Check, "command" | "expect">
    & Pick<CheckResult, "id" | "name">,
): string {
  return id ?? hashText(`${command} ${JSON.stringify(expect)}`).slice(0, ID_DIGITS);
}

const ID_DIGITS = 16;

/** True for a result of this check, whose words it may hold masked. Pure. */
export function isResultOf(result: Pick<CheckResult, "command" | "expect" | "id" | "name">, check: Check): boolean {
  return result.id === undefined ? result.name === check.name : result.id === checkId(check);
}

/** Nothing but space and comments. */
export function isNoCommand(command: string): boolean {
  return command.split("\n").every((line) => /^\s*(?:#|$)/.test(line));
}

/** A command that passes whatever the code is like: it checks nothing. */
export function checksNothing(command: string): boolean {
  const plain = command.trim().replace(/[;\s]+$/, "");
  return isNoCommand(plain) ||
    /^(?::|(?:(?:\/usr)?\/bin\/)?true|exit(?:\s+0)?|(?:echo(?:\s|$)|printf\s)[^;&|<>$`()]*)$/.test(plain);
}
