/**
 * The public SDK.
 *
 * @module
 */
export { RalphError } from "./errors/ralph_error.ts";
