import { nearest } from "../errors/nearest.ts";
import { usage } from "./parse.ts";

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
  const near = nearest(named, names);
  throw usage(
    `\`ralph ${command}\` has no \`${named}\``,
    near === null ? `verbs: ${names.join(", ")}` : `did you mean \`ralph ${command} ${near}\`?`,
  );
}
