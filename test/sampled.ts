/** The long form of the tests that have one: `npm run test:long`. */
export const LONG = process.env["RALPH_LONG"] === "1";

/** One row in `step` of a table, the first among them; every row in the long form. @default step 3 */
export function sampled<Row>(rows: readonly Row[], step = 3): Row[] {
  return rows.filter((_, at) => LONG || at % step === 0);
}
