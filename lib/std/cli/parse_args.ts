/**
 * `@std/cli/parse-args` for Bun, Node and a checkout under Deno: the same source, from the npm mirror.
 *
 * @module
 */
import { parseArgs as mirrored } from "deno-std/cli/parse_args.js";

/** The options of `@std/cli`'s `parseArgs` that Ralph uses. */
export interface ParseArgsOptions {
  readonly boolean?: readonly string[];
  readonly string?: readonly string[];
  readonly collect?: readonly string[];
}

/** Parses an argument list. Values are not typed here: the caller's schema does that. */
export function parseArgs(arguments_: string[], options: ParseArgsOptions = {}): Record<string, unknown> {
  return mirrored(arguments_, options) as Record<string, unknown>;
}
