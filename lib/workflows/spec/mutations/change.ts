import type { Plan } from "../types.ts";

const LONGEST = 50;

/** A name as a commit's subject shows it: one line, at most 50 characters. */
export function shortName(name: string): string {
  const line = name.replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= LONGEST ? line : characters.slice(0, LONGEST).join("");
}

/** A changed plan, and what its commit says. */
export interface Change {
  readonly plan: Plan;
  /** Subject of the commit: `ralph: task done - NAME`. */
  readonly subject: string;
  /** Warnings for a person. */
  readonly warnings?: readonly string[];
}
