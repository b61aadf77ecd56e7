/**
 * How a person changes a run from outside: what is asked of it, and what it says of itself. All of it are small files in
 * Ralph's folder of the git directory.
 *
 * @module
 */
export type * from "../generated/steer.ts";
