/** Comments of TypeScript and JavaScript by the sentence. */
import { parseSync } from "rolldown/utils";

/** A sentence whose subject is a free relative or a partitive: `What is made …`, `Those of …`. */
export const FREE_RELATIVE_REGEXP = /^(?:What|Whose|Of|Those|Where|Whether)\s/;

/** Sentences of a comment; tags, code and lists are left out. */
export function sentencesOf(comment) {
  const text = comment.replaceAll(/^\s*\*? ?/gm, "").replaceAll(/```[\s\S]*?```|^\s*(?:@|-|\d\.).*$/gm, "")
    .replaceAll(/\s+/g, " ").trim();
  return text === "" ? [] : text.split(/(?<=[.!?]) (?=[A-Z`])/);
}

/** The sentences of a file that open so. */
export function freeRelativesOf(path, text) {
  return parseSync(path, text).comments.flatMap(({ value }) => sentencesOf(value))
    .filter((sentence) => FREE_RELATIVE_REGEXP.test(sentence));
}
