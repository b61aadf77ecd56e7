import { tailLines } from "./event_text.ts";

/** A test runner shows one failure like this. */
interface Runner {
  readonly begins: RegExp;
  /** The line after the failure. */
  readonly ends: RegExp;
  /** Lines of it that give no reason. */
  readonly idle: RegExp;
}

const STACK = String.raw`^\s*(?:at |.*\(\S+:\d+:\d+\)$|node:\S+$|$)`;

const RUNNERS: readonly Runner[] = [
  { // TAP: node --test, tape, prove
    begins: /^\s*not ok \d+/,
    ends: /^\s*(?:\.{3}$|(?:not )?ok \d|# )/,
    idle: new RegExp(String.raw`${STACK}|^\s*(?:---$|(?:duration_ms|type|failureType|code|name|operator|stack):)`),
  },
  { begins: /^✖ failing tests:/, ends: /^npm /, idle: new RegExp(STACK) }, // node --test in a terminal
  { begins: /^_{3,} .+ _{3,}$/, ends: /^(?:_{3,} |={3,})/, idle: /^(?!>|E|_|\S+:\d+: )/ }, // pytest
  { begins: /^\s*● .+ › /, ends: /^\s*(?:● |at |Test Suites:)/, idle: /^\s*(?:\d* \|.*)?$/ }, // jest
  { begins: /^\s*FAIL {2}.+ > /, ends: /^\s*(?:⎯|FAIL )/, idle: new RegExp(String.raw`${STACK}|^\s*\d*\|`) }, // vitest
  { begins: /^---- .+ stdout ----$/, ends: /^(?:---- |failures:|$)/, idle: /^note: run with/ }, // cargo test
  { begins: /^error(?:\[E\d+\])?: /, ends: /^$/, idle: /^\s*\|?$/ }, // rustc
  { begins: /^\s*--- FAIL: /, ends: /^(?:=== |---|FAIL|PASS|ok)/, idle: /^\s*$/ }, // go test
];

/** Test runners and compilers write one of these words beside a reason, whichever they are; `0 failed` is none. */
const REASON_REGEXP = /\b(?<!\b0 )(?:errors?|fail(?:s|ed|ures?)?|expected|assert\w*|panic\w*|exception|not ok)\b/i;

/**
 * So many lines of a failed check's output: its failures where the runner is known; else the first lines that look like
 * a reason with what is around them, and the end, which alone is often only a summary. Pure.
 */
export function excerptLines(text: string, count: number): readonly string[] {
  const lines = tailLines(text, Infinity);
  if (lines.length <= count) return lines;
  const failing = RUNNERS.map((runner) => failuresIn(lines, runner)).find((found) => found.length > 0);
  if (failing !== undefined) return failing.length > count ? [...failing.slice(0, count - 1), "…"] : failing;
  const most = Math.floor(count * 2 / 3);
  const shown = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (shown.size >= most || index >= lines.length - count) break;
    if (!REASON_REGEXP.test(line)) continue;
    for (let near = Math.max(0, index - 1); near <= index + 3 && shown.size < most; near++) shown.add(near);
  }
  for (let index = lines.length - 1; shown.size < count; index--) shown.add(index);
  return [...shown].toSorted((one, other) => one - other).flatMap((index, at, all) => {
    const isGap = index > (all[at - 1] ?? -1) + 1;
    return [...(isGap && at > 0 ? ["…"] : []), lines[index] as string];
  });
}

/** The lines of every failure that is no other's parent. */
function failuresIn(lines: readonly string[], { begins, ends, idle }: Runner): readonly string[] {
  const found: string[] = [];
  let next = 0;
  for (const [index, line] of lines.entries()) {
    if (index < next || !begins.test(line)) continue;
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((next) => ends.test(next));
    const block = end < 0 ? rest : rest.slice(0, end);
    if (block.some((one) => one.includes("subtestsFailed"))) continue;
    found.push(line, ...block.filter((one) => !idle.test(one)));
    next = index + 1 + block.length;
  }
  return found;
}
