/**
 * Verifiers: what may be given to `verify()`, and how each kind of it is run.
 *
 * @module
 */
import type { $Type, CommandBuilder, CommandResult } from "dax";
import type { Check, CheckContext, CheckOutcome } from "../backlog/types.ts";

/** A dax command as a recipe writes it: ``ralph.$`npm test` ``. */
export type CommandLike = CommandBuilder;

/**
 * A check that is a function. It builds a dax command, awaits one and returns its result, or looks for itself and
 * returns what it found. A command that fails inside it fails the check.
 */
export type CheckFunction = (
  $: $Type,
  context: CheckContext,
) => CommandLike | CheckOutcome | Promise<CheckOutcome | CommandResult>;

/** Anything that `verify()` takes: a command string, a dax command, a function, or a check with a name. */
export type CheckLike = string | CommandLike | CheckFunction | Check;
