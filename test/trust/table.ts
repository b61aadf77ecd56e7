import { afterAll, describe, expect, test } from "vitest";
import { ROWS } from "./rows/mod.ts";
import { runCase, verdictOn } from "./rows/run_case.ts";
import type { Row, Workflow } from "./rows/types.ts";
import { needsFor } from "../needs.ts";

/** A row may end in one of these: being caught is never wrong. */
const ACCEPTED: Readonly<Record<Row["expect"], readonly string[]>> = {
  caught: ["caught"],
  named: ["caught", "named"],
  known: ["caught", "named", "silent"],
};

/** All rows, where `RALPH_TRUST` is `all`; else those of the short form. */
export function chosen<T extends { readonly short?: boolean }>(rows: readonly T[]): readonly T[] {
  return process.env["RALPH_TRUST"] === "all" ? rows : rows.filter(({ short }) => short === true);
}

/** The table's rows of one workflow, each over the real program in a repository of its own. */
export function describeTable(workflow: Workflow): void {
  const rows = chosen(ROWS.filter((row) => row.workflow === workflow));
  const count: Record<string, number> = {};
  afterAll(() => console.log(`${workflow}: ${JSON.stringify(count)}`));
  describe(`cheats in ${workflow}`, () => {
    for (const row of rows) {
      const options = { timeout: 180_000, ...needsFor(`bash ${JSON.stringify({ ...row, name: "" })}`) };
      test(`${row.language}: ${row.name}`, options, async () => {
        const ran = await runCase(row);

        // Later turns may find what they change changed already.
        expect(row.ends === true ? 0 : ran.turns[0], `the row's own agent failed\n${ran.output}`).toBe(0);
        expect([0, 1, 3, 130], ran.output).toContain(ran.exitCode); // 2, 4, 70: Ralph could not run at all
        const verdict = verdictOn(row, ran);
        const kind = row.expect === "known" ? `known, ${verdict}` : verdict;
        count[kind] = (count[kind] ?? 0) + 1;
        expect(ACCEPTED[row.expect], ran.output).toContain(verdict);
      });
    }
  });
}
