import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  defaultOrder,
  mapAge,
  parseCodebaseMap,
  readTopics,
  tickTopic,
} from "../../../lib/workflows/exec/understand/codebase_map.ts";
import { isCalendarDay, localDate } from "../../../lib/host/local_date.ts";
import { CODEBASE_MAP } from "../../../lib/generated/templates.ts";
import { DEFAULT_TOPICS } from "../../../lib/workflows/exec/scaffold.ts";

const TODAY = "2026-01-17";

describe("mapAge()", () => {
  test.each<[string, string, { stale: boolean; lastEntry: string | null; warnings?: number }]>([
    ["no entry", "# Map\n", { stale: true, lastEntry: null }],
    ["an entry of today", "## 2026-01-17 - Topic\n", { stale: false, lastEntry: "2026-01-17" }],
    ["an entry of yesterday", "## 2026-01-16 - Topic\n", { stale: true, lastEntry: "2026-01-16" }],
    ["brackets", "## [2026-01-17] - [Topic]\n", { stale: false, lastEntry: "2026-01-17" }],
    ["an em dash", "## 2026-01-17 — Topic\n", { stale: false, lastEntry: "2026-01-17" }],
    ["the latest, not the last", "## 2026-01-17 - A\n## 2025-02-14 - B\n", { stale: false, lastEntry: "2026-01-17" }],
    ["no blank line before it", "text\n## 2026-01-17 - A\n", { stale: false, lastEntry: "2026-01-17" }],
    ["a glued dash", "-## 2026-01-17 - A\n", { stale: false, lastEntry: "2026-01-17" }],
    ["Windows line ends", "# Map\r\n\r\n## 2026-01-17 - A\r\n", { stale: false, lastEntry: "2026-01-17" }],
    ["a future entry alone", "## 2027-01-01 - A\n", { stale: true, lastEntry: null, warnings: 1 }],
    ["a future entry beside one of today", "## 2027-01-01 - A\n## 2026-01-17 - B\n", {
      stale: false,
      lastEntry: "2026-01-17",
      warnings: 1,
    }],
    ["a day that no calendar has", "## 2026-02-30 - A\n", { stale: true, lastEntry: null }],
    ["a date in prose", "on 2026-01-17 - we looked\n", { stale: true, lastEntry: null }],
    ["a date in a fence", "```\n## 2026-01-17 - A\n```\n", { stale: true, lastEntry: null }],
    ["a date without a topic's dash", "## 2026-01-17\n", { stale: true, lastEntry: null }],
  ])("mapAge() of a map with %s", (_name, text, { stale, lastEntry, warnings = 0 }) => {
    const age = mapAge(parseCodebaseMap(text), TODAY);

    expect([age.stale, age.lastEntry, age.warnings.length]).toEqual([stale, lastEntry, warnings]);
  });

  test("parseCodebaseMap() and mapAge() take any text", () => {
    const lines = fc.constantFrom(
      "## Next Topics",
      "- [ ] a",
      "- [x] b",
      "```",
      "~~~",
      "## 2026-01-17 - T",
      "# x",
      "-## Next Topics",
      "",
    );
    const texts = fc.oneof(fc.string(), fc.array(lines).map((parts) => parts.join("\n")));
    fc.assert(fc.property(texts, (text) => {
      const map = parseCodebaseMap(text);
      expect(map.topics).not.toEqual([]);
      expect(mapAge(map, TODAY).stale).toBe(!map.entries.some(({ date }) => date === TODAY));
    }));
  });
});

describe("parseCodebaseMap()", () => {
  const open = (text: string): readonly string[] | undefined =>
    parseCodebaseMap(text).topics?.filter(({ checked }) => !checked).map((topic) => topic.text);

  test.each<[string, string, readonly string[] | undefined]>([
    ["## Next Topics", "## Next Topics\n\n- [ ] a\n- [x] b\n- [X] c\n", ["a"]],
    ["a word behind it", "## Next Topics (checklist)\n- [ ] a\n", ["a"]],
    ["a glued dash", "-## Next Topics (checklist)\n- [x] a\n- [x] b\n", []],
    ["three marks", "### Next Topics\n- [ ] a\n### Other\n- [ ] no\n", ["a"]],
    ["headings below it", "## Next Topics\n### One\n- [ ] a\n### Two\n- [ ] b\n## End\n- [ ] no\n", ["a", "b"]],
    ["the first of two sections", "## Next Topics\n- [ ] a\n## Next Topics\n- [ ] b\n", ["a"]],
    ["indented and starred items", "## Next Topics\n  * [ ] a\n+ [ ] b\n", ["a", "b"]],
    ["boxes in a fence", "## Next Topics\n```\n- [ ] no\n```\n- [ ] a\n", ["a"]],
    ["a heading in a fence", "```\n## Next Topics\n- [ ] no\n```\n", undefined],
    ["no section", "- [ ] a\n", undefined],
    ["a section without items", "## Next Topics\n\ntext\n", undefined],
    ["an item without words", "## Next Topics\n- [ ] \n", undefined],
    ["Windows line ends", "## Next Topics\r\n- [ ] a\r\n", ["a"]],
  ])("parseCodebaseMap() finds the open topics of %s", (_name, text, topics) => {
    expect(open(text)).toEqual(topics);
  });

  test("tickTopic() ticks the one topic and nothing else", () => {
    const text = "## Next Topics\r\n```\n- [ ] b\n```\n- [ ] a [ ] \n- [ ] b\n\n## X\n- [ ] b\n";

    expect(tickTopic(text, "b")).toBe("## Next Topics\r\n```\n- [ ] b\n```\n- [ ] a [ ] \n- [x] b\n\n## X\n- [ ] b\n");
    expect(tickTopic(tickTopic(text, "b"), "b")).toBe(tickTopic(text, "b"));
    expect(tickTopic(text, "unknown")).toBe(text);
  });
});

describe("readTopics()", () => {
  const OLD_PROMPT = [
    "1. Read the map.",
    "2. Choose ONE topic:",
    "   - Otherwise follow this default order:",
    ...["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"].map((topic, index) => `     ${index + 1}) ${topic}`),
    "3. Investigate by reading.",
    "4. Update the map.",
  ].join("\n");

  test("readTopics() counts the template where the map is missing", () => {
    const topics = readTopics(null, null);

    expect([topics.open, topics.counted]).toEqual([12, "12 unchecked topics in the template of the map"]);
  });

  test("readTopics() counts the unchecked items of the map and says where", () => {
    const { open, counted } = readTopics("## Next Topics\n- [ ] a\n- [x] b\n", OLD_PROMPT);

    expect([open, counted]).toEqual([1, "1 unchecked topic under `## Next Topics` in scripts/ralph/codebase_map.md"]);
  });

  test("readTopics() falls back to the prompt's default order alone", () => {
    expect(defaultOrder(OLD_PROMPT)).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]);
    expect(readTopics("# Map\n", OLD_PROMPT).open).toBe(11);
    expect(readTopics("# Map\n", "1) not\n2) a default list\n").open).toBe(12);
    expect(readTopics("# Map\n", null).open).toBe(12);
  });

  test("readTopics() does not count a list in which everything is ticked as missing", () => {
    expect(readTopics("## Next Topics\n- [x] a\n", OLD_PROMPT).open).toBe(0);
  });

  test("the map's template and the understanding prompt list the same topics", () => {
    expect(parseCodebaseMap(CODEBASE_MAP).topics?.map(({ text, checked }) => [text, checked])).toEqual(
      DEFAULT_TOPICS.map((text) => [text, false]),
    );
    expect(CODEBASE_MAP).toContain("\n## Next Topics (checklist)\n");
  });
});

describe("localDate()", () => {
  test("localDate() is the day on the local calendar", () => {
    expect(localDate(new Date(2026, 0, 5, 0, 0, 1).getTime())).toBe("2026-01-05");
    expect(localDate(new Date(2026, 11, 31, 23, 59, 59).getTime())).toBe("2026-12-31");
  });

  test.each([
    ["2024-02-29", true],
    ["2026-02-29", false],
    ["1900-02-29", false],
    ["2000-02-29", true],
    ["2026-13-01", false],
    ["2026-00-10", false],
    ["2026-01-00", false],
    ["26-01-01", false],
  ])(
    "isCalendarDay() of %s is %s",
    (text, known) => {
      expect(isCalendarDay(text)).toBe(known);
    },
  );
});
