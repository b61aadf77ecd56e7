/**
 * The request to a challenger: the values of the prompt `challenge`. Pure.
 *
 * @module
 */
import type { Item } from "../../backlog/types.ts";
import type { PromptValues } from "../../prompts/render.ts";
import { reviewItem } from "../review.ts";

/** So much of each earlier wrong implementation is shown. */
const DIFF_CHARACTERS = 4000;

/**
 * Asks for one more wrong implementation.
 *
 * @param earlier diffs of the ones that it wrote before
 */
export function wrongImplementationPrompt(item: Item, earlier: readonly string[]): PromptValues {
  const task = [
    "Write a wrong implementation of this item: one that a hurried author could have written, that looks finished, and " +
    "that violates at least one acceptance criterion. Good ways to be wrong: handle only the example, mix up an edge " +
    "case, leave out an error, return a fixed value, skip a criterion. It has to run: code that does not compile or " +
    "load shows nothing.",
    "",
    "Change product code only. Tests, scripts that checks run, and configuration are restored before the checks run, so " +
    "a change of theirs does not count. Do not mark the code as wrong by names or comments.",
    ...(earlier.length === 0 ? [] : [
      "",
      `You wrote ${earlier.length} before. Be wrong in another way:`,
      ...earlier.flatMap((diff) => ["", "~~~~diff", diff.slice(0, DIFF_CHARACTERS).trimEnd(), "~~~~"]),
    ]),
  ];
  return { item: reviewItem(item), task: task.join("\n") };
}

/** Asks for a check that the author of the work cannot know. */
export function unseenCheckPrompt(item: Item): PromptValues {
  const task = [
    "Write one check of this item from its acceptance criteria alone: a shell command that uses the finished work and " +
    "prints what it observed, and, apart from it, the exact text that it has to print. The command runs later, in the " +
    "root of the project with the finished work in it, and only its standard output is compared with your text.",
    "",
    "- Choose inputs of your own that the criteria do not name, and more than one.",
    "- Use only names and paths that the criteria or the code here fix. What the criteria leave open (wording, order, " +
    "formats) must not decide.",
    "- The command prints what it sees and compares nothing. The expected text must not be in it.",
    "- The output has to be the same each time: no times, no absolute paths, no random values.",
    "- Write no files. The expected text belongs in your answer only.",
    "",
    "End your answer with one block of this form, and write nothing after it:",
    "",
    "```json",
    '{"command": "the shell command", "expect": "the exact text"}',
    "```",
  ];
  return { item: reviewItem(item), task: task.join("\n") };
}
