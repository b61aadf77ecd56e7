/**
 * The tests that a check ran, by its own word: TAP on its output, or JUnit in files that it wrote in a checkout. Told
 * apart by what is in them, not by a tool's name.
 *
 * @module
 */
import { relative } from "node:path";
import type { TestsRun } from "../generated/events.ts";
import { createRedactor, secretValues } from "../events/redact.ts";
import { listFiles } from "../host/file_state.ts";
import { readText } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import type { Host } from "../host/types.ts";

type State = "passed" | "failed" | "skipped";

const MOST_NAMES = 100;
const LONGEST_NAME = 200;
const LONGEST_LINE = 4096;

/** Counts tests one by one. */
function createTally(): { readonly add: (state: State, name: string) => void; readonly sum: () => TestsRun } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  return {
    add(state, name) {
      counts[state] += 1;
      if (state === "failed" && failures.length < MOST_NAMES) failures.push(name.trim().slice(0, LONGEST_NAME));
    },
    sum: () => ({ ...counts, failures }),
  };
}

/** Reads TAP (testanything.org) as it is printed. */
export interface TapReader {
  push(chunk: Uint8Array): void;
  /** `null` for output that is no TAP, or not all of it: its plans say how many results there are. */
  end(): TestsRun | null;
}

const POINT_REGEXP = /^( *)(not )?ok +\d+\b(?: +-)? *(.*?)(?: +# *(\w*).*)?$/;

/** A result with indented ones before it stands for them; it counts if it failed and none of them did. */
export function createTapReader(): TapReader {
  const decoder = new TextDecoder();
  const tally = createTally();
  const failedBefore: number[] = []; // at the last result of each depth
  let [rest, planned, found, failed, isYaml] = ["", 0, 0, 0, false];

  function take(line: string): void {
    if (/^ *(?:---|\.\.\.)$/.test(line)) isYaml = line.endsWith("-");
    const [plan, results] = /^1\.\.(\d+)/.exec(line) ?? [];
    if (plan !== undefined) planned += Number(results);
    const [point, indent = "", not, name = "", directive = ""] = POINT_REGEXP.exec(line) ?? [];
    if (point === undefined || isYaml) return;
    const depth = Math.floor(indent.length / 4);
    if (depth === 0) found += 1;
    const isFailure = not !== undefined && !/^(?:skip|todo)$/i.test(directive);
    const stands = failedBefore.length > depth + 1 || name.endsWith("{");
    if (!stands || (isFailure && failed === (failedBefore[depth] ?? 0))) {
      if (isFailure) failed += 1;
      const passed = /^(?:skip|todo)$/i.test(directive) ? "skipped" : "passed";
      tally.add(isFailure ? "failed" : passed, name);
    }
    failedBefore.length = depth;
    failedBefore.push(failed);
  }

  return {
    push(chunk) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split(/\r?\n/);
      rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
      lines.forEach(take);
    },
    end() {
      take(rest);
      rest = "";
      return found > 0 && found === planned ? tally.sum() : null;
    },
  };
}

const TAG_REGEXP =
  /<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[?!][^>]*>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|</gs;
const STATES: Readonly<Record<string, State>> = { failure: "failed", error: "failed", skipped: "skipped" };

/** Reads JUnit's XML; `null` for what is none, or is damaged. Pure. */
export function junitTests(text: string): TestsRun | null {
  const open: string[] = [];
  const tests: { readonly name: string; state: State }[] = [];
  let roots = 0;
  for (const [token, end, tag, attributes = "", isEmpty] of text.matchAll(TAG_REGEXP)) {
    if (token === "<") return null;
    if (tag === undefined) continue;
    if (end === "/") {
      if (open.pop() !== tag) return null;
      continue;
    }
    if (open.length === 0 && (roots++ > 0 || !/^testsuites?$/.test(tag))) return null;
    const state = open.at(-1) === "testcase" ? STATES[tag] : undefined;
    const test = tests.at(-1);
    if (tag === "testcase") {
      const name = ["classname", "name"].map((key) => attribute(attributes, key)).join(" ");
      tests.push({ name, state: "passed" });
    } else if (state !== undefined && test !== undefined) test.state = state;
    if (isEmpty === "") open.push(tag);
  }
  if (roots === 0 || open.length > 0) return null;
  const tally = createTally();
  for (const { name, state } of tests) tally.add(state, name);
  return tally.sum();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function attribute(text: string, name: string): string {
  const [, one, other] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(text) ?? [];
  return (one ?? other ?? "").replaceAll(/&(\w+);/g, (entity, key: string) => ENTITIES[key] ?? entity);
}

/** The folder that commands write to, what of it they did not write, and the files of the commit. */
interface Checkout {
  readonly tree: string;
  readonly copied: readonly string[];
  readonly entries: readonly { readonly path: string }[];
}

/** Reads in a checkout what commands write of their tests, after each of them. */
export function createTestReader(
  { environment }: Pick<Host, "environment">,
  { tree, copied, entries }: Checkout,
): () => Promise<TestsRun | null> {
  const redactor = createRedactor(secretValues(environment.variables));
  const skipped = new Set([".git", ...copied]);
  const committed = new Set(entries.map(({ path }) => path));
  const known = new Map<string, string>();

  /** Written since the last look; what is committed is nobody's word. */
  function isNew(path: string): boolean {
    const facts = path.endsWith(".xml") && !committed.has(relative(tree, path)) ? factsOf(path) : null;
    if (facts?.kind !== "file" || known.get(path) === facts.stamp) return false;
    known.set(path, facts.stamp);
    return true;
  }

  return async () => {
    const found: TestsRun[] = [];
    for (const path of listFiles(tree, (folder) => !skipped.has(relative(tree, folder))).filter(isNew)) {
      const text = await readText(path).catch(() => null);
      const tests = text === null ? null : junitTests(redactor.text(text));
      if (tests !== null) found.push(tests);
    }
    return found.length === 0 ? null : found.reduce((one, other) => ({
      passed: one.passed + other.passed,
      failed: one.failed + other.failed,
      skipped: one.skipped + other.skipped,
      failures: [...one.failures, ...other.failures].slice(0, MOST_NAMES),
    }));
  };
}
