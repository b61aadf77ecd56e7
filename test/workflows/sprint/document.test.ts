import fc from "fast-check";
import { expect, test } from "vitest";
import { isScalar } from "yaml";
import { recordHook } from "../../../lib/workflows/sprint/changes.ts";
import { changeYaml, parseYaml, type ProgressDocument, readProgress } from "../../../lib/workflows/sprint/document.ts";
import { maps } from "../../../lib/workflows/sprint/nodes.ts";
import { addSteps, completeStep, reopenStep } from "../../../lib/workflows/sprint/steps.ts";

const FILE = "PROGRESS.yaml";
const ENTRIES = [
  "  - id: step-1\n    prompt: one\n    status: pending\n",
  "  - {id: step-2, prompt: two, status: pending}\n",
  "  # said before\n  - id: step-3 # said beside\n    prompt: |\n      three\n      lines\n    status: completed\n",
  "  - id: step-4\n    prompt: |+\n      with empty lines after\n\n\n    status: pending\n",
  "  - id: step-5\n    status: pending\n    prompt: |+\n      and at its end\n\n\n",
  "  - id: &five step-6\n    prompt: *five\n    status: pending\n",
  "  - id: step-7\n    prompt: !!str 7\n    status: pending\n    weight: 1.50\n",
  "  - id: step-8\n    prompt: 'quoted: yes'\n\n    status: pending\n    more: {a: [1, 2]}\n",
  "  - no map\n",
] as const;
const PROMPTS = [
  "plain",
  "two\nlines",
  "ends with a line\n",
  "- looks like a list",
  "",
  "# no comment",
  "a: b",
  "1.50",
];

const NOW = "2026-01-01T00:00:00.000Z";
const change = fc.oneof(
  fc.record({ what: fc.constant("add" as const), text: fc.constantFrom(...PROMPTS) }),
  fc.record({
    what: fc.constantFrom("complete", "reopen", "hook", "rename", "comment", "beside", "quote"),
    at: fc.integer({ min: 1, max: 9 }),
  }),
);

type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

function apply(document: ProgressDocument, one: Change): boolean {
  if ("text" in one) return addSteps(document, [one.text], { iteration: 1, now: NOW }).length > 0;
  const id = `step-${one.at}`;
  const entry = maps(document.get("dynamic-steps")).find((step) => step.get("id") === id);
  if (one.what === "complete") return completeStep(document, { id }, NOW) === "completed";
  if (one.what === "reopen") {
    return entry !== undefined && reopenStep(document, { id, prompt: String(entry.get("prompt")) }, NOW);
  }
  if (one.what === "hook") {
    return recordHook(document, {
      iteration: one.at,
      hookId: "lint",
      status: "completed",
      pid: 1,
      exitCode: 0,
      startedAt: 0,
      endedAt: 1,
      log: "/a/log",
      transcript: "/a/transcript",
      message: null,
    }, "/a");
  }
  if (entry === undefined || entry.get("status") === undefined) return false;
  if (one.what === "rename") entry.set("status", "renamed");
  if (one.what === "comment") entry.comment = " a person's";
  if (one.what === "rename" || one.what === "comment") return true;
  const status: unknown = entry.get("status", true);
  if (!isScalar(status)) return false;
  if (one.what === "beside") status.comment = " beside it";
  if (one.what === "quote") status.type = "QUOTE_SINGLE";
  return true;
}

test("whatever changes in a sprint, it is written as if every entry were formatted anew", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...ENTRIES), { maxLength: 6 }),
      fc.constantFrom("", "---\n", "%TAG ! tag:example.org,2026:\n---\n"),
      fc.array(change, { minLength: 1, maxLength: 8 }),
      (entries, head, changes) => {
        const anchored = entries.filter((entry, index) => !entry.includes("&") || entries.indexOf(entry) === index);
        let text = `${head}mode: ralph\ndynamic-steps:\n${anchored.join("") || "  []\n"}status: in-progress\n`;
        const other = parseYaml(text, FILE); // changed likewise, and formatted by the YAML library alone
        for (const one of changes) {
          const after = changeYaml(text, FILE, (found) => apply(found, one));
          const isChanged = apply(other, one);
          if (isChanged) expect(after).toBe(other.toString({ lineWidth: 0, minContentWidth: 0 }));
          else expect(after).toBe(text);
          text = after;
          expect(readProgress(text, FILE).steps).toHaveLength(maps(parseYaml(text, FILE).get("dynamic-steps")).length);
        }
        const progress = readProgress(text, FILE);
        readProgress("mode: ralph\n", FILE); // nothing is known of the text any more
        expect(progress).toEqual(readProgress(text, FILE));
      },
    ),
    { numRuns: 100 },
  );
});

test("what is set on an entry that was formatted before is in the file", () => {
  const text = changeYaml(
    `mode: ralph\ndynamic-steps:\n${ENTRIES[0]}`,
    FILE,
    (document) => addSteps(document, ["two"], { iteration: 1, now: NOW }).length > 0,
  );
  const written = changeYaml(text, FILE, (document) => {
    const [one, two] = maps(document.get("dynamic-steps"));
    Object.assign(one!, { comment: " a person's", tag: "!one" });
    Object.assign(two!, { flow: true, anchor: "two", spaceBefore: true, commentBefore: " before" });
    return true;
  });
  expect(written).toBe(
    "mode: ralph\ndynamic-steps:\n  - !one\n    id: step-1\n    prompt: one\n    status: pending\n    # a person's\n\n" +
      `  # before\n  - &two { id: step-2, prompt: two, status: pending, added-at: ${NOW}, added-in-iteration: 1 }\n`,
  );
});
