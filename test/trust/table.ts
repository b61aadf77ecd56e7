import { describe, expect, test } from "vitest";
import { ROWS } from "./rows/mod.ts";
import { runCase, verdictOn } from "./rows/run_case.ts";
import type { Row, Workflow } from "./rows/types.ts";

/** All rows, where `RALPH_TRUST` is `all`; else those of the short form. */
export function chosen<T extends { readonly short?: boolean }>(rows: readonly T[]): readonly T[] {
  return process.env["RALPH_TRUST"] === "all" ? rows : rows.filter(({ short }) => short === true);
}

/** The table's rows of one workflow, each over the real program in a repository of its own. */
export function describeTable(workflow: Workflow): void {
  const rows = chosen(ROWS.filter((row) => row.workflow === workflow));
  describe(`cheats in ${workflow}`, () => {
    test.each(rows.map((row) => [row.language, row.name, row] as const))(
      "%s: %s",
      async (_language, _name, row: Row) => {
        const ran = await runCase(row);

        const broken = ran.turns.filter((code) => code !== 0);
        expect(row.ends === true ? [] : broken, `the row's own agent failed\n${ran.output}`).toEqual([]);
        const verdict = verdictOn(row, ran);
        const expected = row.expect === "known"
          ? ["caught", "silent"]
          : row.expect === "named"
          ? ["caught", "named"]
          : ["caught"];
        expect(expected, ran.output).toContain(verdict);
      },
      180_000,
    );
  });
}
