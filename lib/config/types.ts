/**
 * `ralph.config.json` with its defaults: the types, which are made from `schema.ts`.
 *
 * @module
 */
export type * from "../generated/config.ts";
