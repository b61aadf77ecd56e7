import { didYouMean, usage } from "./parse.ts";

/** Carries out a command's verb with the words behind it. */
export type Verb<Given> = (given: Given, words: readonly string[]) => Promise<number>;

/** The verb of a command that has several. @throws {RalphError} usage for one that it has not */
export function verbOf<Given>(
  verbs: Readonly<Record<string, Verb<Given>>>,
  command: string,
  named: string,
): Verb<Given> {
  const verb = Object.hasOwn(verbs, named) ? verbs[named] : undefined;
  if (verb !== undefined) return verb;
  const names = Object.keys(verbs);
  const hint = didYouMean(named, names, `verbs: ${names.join(", ")}`, (near) => `ralph ${command} ${near}`);
  throw usage(`\`ralph ${command}\` has no \`${named}\``, hint);
}
