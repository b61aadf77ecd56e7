/**
 * The verdict of `ralph gate` in the forms that forges read. Sources: JUnit as Jenkins and GitLab take it (testmoapp's
 * description of the format), SARIF 2.1.0 (docs.oasis-open.org/sarif).
 *
 * @module
 */
import { VERSION } from "../host/version.ts";
import { noticeLabel } from "../cli/end_with.ts";
import { testsText } from "./texts.ts";
import type { GateReport } from "./types.ts";

/** The first changed line of each changed file, as `git diff -U0` has it. */
export type ChangedLines = ReadonlyMap<string, number>;

/** JUnit: a test case for each check and each finding. Pure. */
export function junitOf({ checks, notices, reasons, status }: GateReport): string {
  const isFailure = ({ subject }: GateReport["notices"][number]): boolean =>
    reasons.some((reason) => reason.startsWith(`${subject}: `));
  const cases = [
    ...checks.flatMap(({ name, ok, durationMs, tail, tests }) => [
      testCase("check", {
        name,
        seconds: durationMs / 1000,
        failure: ok ? null : tail ?? "",
        output: testsText(tests),
      }),
      ...(tests?.failures ?? []).map((test) =>
        testCase(name, { name: test, seconds: 0, failure: `failed in ${name}` })
      ),
    ]),
    ...notices.map((notice) => {
      const { kind, subject, message } = notice;
      const name = `${kind}: ${subject}`;
      const failure = isFailure(notice) ? message : null;
      return testCase("experiment", { name, seconds: 0, failure, output: message });
    }),
  ];
  const isFailed = (one: string): boolean => one.includes("<failure");
  if (status !== "passed" && !cases.some(isFailed)) {
    cases.push(testCase("gate", { name: status, seconds: 0, failure: reasons.join("\n") }));
  }
  const failures = cases.filter(isFailed).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ralph gate" ${counts}>\n` +
    `  <testsuite name="ralph gate" ${counts}>\n${cases.join("")}  </testsuite>\n</testsuites>`;
}

/** One test case: a failure, where it has one, else what it printed. */
function testCase(
  classname: string,
  { name, seconds, failure, output = "" }: {
    readonly name: string;
    readonly seconds: number;
    readonly failure: string | null;
    readonly output?: string;
  },
): string {
  const head = `    <testcase classname="${xml(classname)}" name="${xml(name)}" time="${seconds.toFixed(3)}"`;
  if (failure === null && output === "") return `${head}/>\n`;
  const [message = ""] = (failure ?? "").trim().split("\n");
  const body = failure === null
    ? `<system-out>${xml(output)}</system-out>`
    : `<failure message="${xml(message)}">${xml(failure)}</failure>`;
  return `${head}>${body}</testcase>\n`;
}

/** XML has no place for control characters, not even as references. */
function xml(text: string): string {
  const known: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}")
    .replaceAll(/[&<>"]/g, (sign) => known[sign]!);
}

/** SARIF: a result for each finding and each check that failed, at the changed line that it is about. Pure. */
export function sarifOf({ checks, notices, reasons, status }: GateReport, changed: ChangedLines): string {
  const failed = checks.filter(({ ok }) => !ok)
    .map(({ name, tail }) => ({ kind: "check", subject: "", message: `\`${name}\` fails: ${(tail ?? "").trim()}` }));
  const level = (message: string): string => reasons.some((reason) => reason.endsWith(message)) ? "error" : "warning";
  const isNamed = status === "passed" || failed.length > 0 || notices.some(({ message }) => level(message) === "error");
  const other = isNamed ? [] : [{ kind: "check", subject: "", message: reasons.join("\n") || status }];
  const results = [...failed, ...other, ...notices].map(({ kind, subject, message }) => ({
    ruleId: kind,
    level: kind === "check" ? "error" : level(message),
    message: { text: subject === "" ? message : `${subject}: ${message}` },
    locations: placesOf(subject, changed),
  }));
  const rules = [...new Set(results.map(({ ruleId }) => ruleId))].toSorted()
    .map((id) => ({ id, shortDescription: { text: noticeLabel(id) } }));
  const tool = { driver: { name: "ralph", version: VERSION, rules } };
  const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  return JSON.stringify({ $schema: schema, version: "2.1.0", runs: [{ tool, results }] }, null, 2);
}

/** The changed files that a subject names, else the first one: a forge shows nothing without a place. */
function placesOf(subject: string, changed: ChangedLines): readonly object[] {
  const named = subject.split(", ").filter((path) => changed.has(path));
  const paths = named.length > 0 ? named : [...changed.keys()].slice(0, 1);
  return paths.map((path) => ({
    physicalLocation: {
      artifactLocation: { uri: path.split("/").map(encodeURIComponent).join("/") },
      region: { startLine: changed.get(path) },
    },
  }));
}

/** Markdown, as for a job's summary or a comment. Pure. */
export function gateMarkdown({ status, base, checks, notices, reasons, leftOut }: GateReport): string {
  const rows = checks.map(({ name, ok, durationMs, tests }) =>
    `| ${ok ? "✓" : "✗"} | ${code(name)} | ${(durationMs / 1000).toFixed(1)} s | ${
      tests === undefined ? "" : code(testsText(tests))
    } |`
  );
  return [
    `**${status}** since ${code(base.slice(0, 12))}`,
    ...rows.length === 0 ? [] : ["", "|   | check | time | tests |", "| - | ----- | ---- | ----- |", ...rows],
    ...list(notices.map(({ kind, subject, message }) => `${kind}: ${code(subject)}: ${message}`)),
    ...list([...reasons, ...leftOut === null ? [] : [leftOut]]),
  ].join("\n");
}

function list(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", ...lines.map((line) => `- ${line.replaceAll("\n", "\n  ")}`)];
}

/** A code span in a table: no sign in it ends either. */
function code(text: string): string {
  return `\`\` ${text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("``", "` `")} \`\``;
}
