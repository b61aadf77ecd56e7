/**
 * The content of `ralph report`; `--format json` prints this very object, `ralph schema report` its schema, from
 * which the types are made.
 *
 * @module
 */
export type * from "../generated/report.ts";

/** Version of the report's shape. */
export const REPORT_VERSION = 1;
