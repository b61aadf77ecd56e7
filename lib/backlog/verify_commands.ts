const VERIFY_REGEXP = /(?<![\w-])Verify:[ \t]*(`+)(.+?)\1(?!`)/gs;

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
  return [...criterion.matchAll(VERIFY_REGEXP)].map((match) => (match[2] ?? "").trim()).filter((found) => found !== "");
}

/** A text without the commands that it names. Pure. */
export function withoutCommands(text: string): string {
  return text.replaceAll(VERIFY_REGEXP, "");
}

/** The commands of all criteria of a story, each once. */
export function storyCommands(story: { readonly acceptanceCriteria: readonly string[] }): readonly string[] {
  return [...new Set(story.acceptanceCriteria.flatMap(verifyCommands))];
}
