/**
 * The edge of the program: files, processes, clock, chance, environment, terminal.
 * Nothing above this layer touches them directly, and nothing here knows what Ralph is for.
 *
 * @module
 */
export type * from "./types.ts";
export { createHost } from "./create_host.ts";
