import { PLAIN_VARIABLE, TREE_VARIABLE } from "./sweep.ts";
import type { Environment } from "./types.ts";

/** These would turn a compiled Ralph, or any Bun program that a child starts, into something else. */
const NEVER_HANDED_ON = ["BUN_OPTIONS", "BUN_BE_BUN"];

/** A child's whole environment: the host's, what the request lays over it, and the tree's mark; `plain` under a name that many have. */
export function childEnvironment(
  environment: Environment,
  overlay: Readonly<Record<string, string | undefined>> = {},
  mark: string | null = null,
  plain = false,
): Record<string, string> {
  const merged: Record<string, string | undefined> = { ...environment.variables, ...overlay };
  for (const name of NEVER_HANDED_ON) delete merged[name];
  if (mark !== null && plain) merged[PLAIN_VARIABLE] = mark;
  else if (mark !== null) {
    const outer = environment.variables[TREE_VARIABLE];
    merged[TREE_VARIABLE] = outer ? `${outer}:${mark}` : mark;
  }
  const result: Record<string, string> = {};
  for (const name in merged) {
    const value = merged[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}
