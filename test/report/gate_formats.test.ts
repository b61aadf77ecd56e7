import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { gateMarkdown, junitOf, sarifOf } from "../../lib/report/gate_formats.ts";
import type { GateReport } from "../../lib/report/types.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { needs, only } from "../needs.ts";

interface Place {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string };
    readonly region: { readonly startLine: number };
  };
}

interface Sarif {
  readonly version: string;
  readonly runs: readonly [{
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly {
      readonly ruleId: string;
      readonly level: string;
      readonly locations: readonly [Place];
    }[];
  }];
}

const HOSTILE = 'echo "<a&b>" | x\u0000\u001b[31m\ud800 ]]> `b`';
const REPORT: GateReport = {
  version: 1,
  status: "failed",
  base: "0123456789abcdef",
  head: "fedcba9876543210",
  reasons: ["test/a.test.js, src/ä b.js: flipped and still green"],
  notices: [
    { kind: "cannot-fail", subject: "test/a.test.js, src/ä b.js", message: "flipped and still green" },
    { kind: "old-tests", subject: "test/b.test.js", message: "fails with the old test" },
  ],
  leftOut: "no time left for: canaries",
  checks: [
    { name: "npm test", ok: true, exitCode: 0, durationMs: 1500, tail: null },
    { name: HOSTILE, ok: false, exitCode: 1, durationMs: 20, tail: `expected 3\n${HOSTILE}` },
  ],
};

describe("a verdict in the forms that forges read", () => {
  test("is JUnit that any parser reads, whatever a check is called and prints", needs("python3"), () => {
    const read = "import sys,xml.dom.minidom as d;x=d.parse(sys.stdin.buffer);" +
      "print(x.documentElement.getAttribute('failures'),len(x.getElementsByTagName('testcase')),len(x.getElementsByTagName('failure')))";

    expect(execFileSync("python3", ["-c", read], { input: junitOf(REPORT), encoding: "utf8" })).toBe("2 4 2\n");
  });

  test("without any check is a JUnit failure with the reason", () => {
    const none = { ...REPORT, status: "unverified", checks: [], notices: [], reasons: ["no check is named"] } as const;

    expect(junitOf(none)).toContain('failures="1" errors="0"');
    expect(junitOf(none)).toContain("no check is named");
  });

  test("is SARIF with a place for each result: the changed line of the file that it names, else of the first one", () => {
    const changed = new Map([["lib/x.js", 7], ["src/ä b.js", 12]]);

    const { version, runs: [run] } = JSON.parse(sarifOf(REPORT, changed)) as Sarif;
    const results = run.results.map(({ ruleId, level, locations: [{ physicalLocation: place }] }) => [
      ruleId,
      level,
      place.artifactLocation.uri,
      place.region.startLine,
    ]);

    expect(version).toBe("2.1.0");
    expect(results).toEqual([
      ["check", "error", "lib/x.js", 7],
      ["cannot-fail", "error", "src/%C3%A4%20b.js", 12],
      ["old-tests", "warning", "lib/x.js", 7],
    ]);
    expect(run.tool.driver.rules.map(({ id }) => id)).toEqual(["cannot-fail", "check", "old-tests"]);
  });

  test("that fails by nothing that has a line of its own is an error in each form all the same", () => {
    const known = { ...REPORT, checks: [REPORT.checks[0]!], notices: [REPORT.notices[1]!] };
    const report: GateReport = { ...known, reasons: ["a link leads out of the tree"] };

    const { runs: [run] } = JSON.parse(sarifOf(report, new Map([["a.txt", 1]]))) as Sarif;
    expect(run.results.map(({ level }) => level)).toEqual(["error", "warning"]);
    expect(junitOf(report)).toContain('<failure message="a link leads out of the tree">');
  });

  test("is Markdown in which no command ends its table cell", () => {
    expect(gateMarkdown(REPORT)).toContain("\n- no time left for: canaries");
    const row = gateMarkdown(REPORT).split("\n").find((line) => line.startsWith("| ✗"));

    expect(row?.split(/(?<!\\)\|/)).toHaveLength(6);
  });
});

/** A folder with `sarif-schema-2.1.0.json` of oasis-tcs/sarif-spec and `junit-10.xsd` of jenkinsci/xunit-plugin. */
const SCHEMAS = process.env["SCHEMAS"] ?? "";
const NONE: GateReport = { ...REPORT, status: "unverified", checks: [], notices: [], reasons: ["no check is named"] };
const PASSED: GateReport = { ...REPORT, status: "passed", checks: [REPORT.checks[0]!], notices: [], reasons: [] };

describe("a verdict by the official schemas", () => {
  const official = only(SCHEMAS !== "", "official schemas in SCHEMAS=DIR");

  test.each([REPORT, NONE, PASSED])("that $status is SARIF 2.1.0", official, (report) => {
    const schema = readFileSync(join(SCHEMAS, "sarif-schema-2.1.0.json"), "utf8");
    // zod would take a relative reference for a URL that is none
    const sarif = z.fromJSONSchema(
      JSON.parse(schema.replaceAll('"uri-reference"', '"reference"')) as Parameters<typeof z.fromJSONSchema>[0],
    );
    const changed = new Map([["lib/x.js", 7], ["src/ä b.js", 12]]);

    expect(sarif.safeParse({ version: "2.1.0", runs: [{}] }).success).toBe(false);
    expect(sarif.safeParse(JSON.parse(sarifOf(report, changed))).error).toBeUndefined();
    expect(sarif.safeParse(JSON.parse(sarifOf(report, new Map()))).error).toBeUndefined();
  });

  test.each([REPORT, NONE, PASSED])("that $status is JUnit", official.skip ? official : needs("xmllint"), (report) => {
    const lint = ["--noout", "--schema", join(SCHEMAS, "junit-10.xsd"), "-"];

    execFileSync("xmllint", lint, { input: junitOf(report), stdio: ["pipe", "ignore", "pipe"] });
  });
});
