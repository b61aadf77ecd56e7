/**
 * Verifiers: what may be given to `verify()`, and how each kind of it is run.
 *
 * @module
 */
import type { $Type, CommandBuilder } from "dax";
import type { Check } from "../loop/types.ts";

/** A dax command as a recipe writes it: ``ralph.$`npm test` ``. */
export type CommandLike = CommandBuilder;

/** Anything that `verify()` takes: a command string, a dax command, a function that builds one, or a check. */
export type CheckLike = string | CommandLike | (($: $Type) => CommandLike) | Check;
