import type { Question } from "../context/context.ts";
import { sameName } from "../host/data.ts";

/** Text as an answer to the question: `yes`/`no`, a choice's value, or itself; `null` where it is none of these. */
export function normalizeAnswer(question: Question, text: string): string | null {
  const word = text.trim();
  switch (question.kind) {
    case "text":
      return word;
    case "confirm":
      if (/^(y|yes|true)$/i.test(word)) return "yes";
      return /^(n|no|false)$/i.test(word) ? "no" : null;
    case "select": {
      const numbered = /^\d+$/.test(word) ? question.choices[Number(word) - 1] : undefined;
      const named = question.choices.find(({ value, label }) =>
        [value, label, letterOf(label) ?? value].some((name) => sameName(name, word))
      );
      const begun = word === ""
        ? []
        : question.choices.filter(({ value }) => value.toLowerCase().startsWith(word.toLowerCase()));
      return (named ?? numbered ?? (begun.length === 1 ? begun[0] : undefined))?.value ?? null;
    }
  }
}

/** The letter that a label begins with, where it has one: `A) Refine further`. */
export function letterOf(label: string): string | null {
  return /^([A-Za-z])\) /.exec(label)?.[1] ?? null;
}

/** `[y] write it  [c] change it  [N] not now`: the keys of a question; the default's is a capital. */
export function keysText(
  { choices, initial }: Question & { readonly kind: "select" },
  columns: number = Infinity,
): string {
  const keys = choices.map(({ value, label }) => {
    const key = value.slice(0, 1);
    return `[${value === initial ? key.toUpperCase() : key}] ${label}`;
  });
  return keys.reduce((text, key) => {
    const line = `${text.slice(text.lastIndexOf("\n") + 1)}  ${key}`;
    return `${text}${line.length < columns ? "  " : "\n"}${key}`;
  });
}

/** The answer if no one answers, or `null`. */
export function defaultAnswer(question: Question): string | null {
  if (question.kind === "confirm") return question.initial ? "yes" : "no";
  return question.initial ?? null;
}

/** The possible answers, for a message. */
export function expectedAnswer(question: Question): string {
  if (question.kind === "confirm") return "yes or no";
  return question.kind === "select"
    ? question.choices.map(({ value, label }) => letterOf(label) ?? value).join(", ")
    : "text";
}
