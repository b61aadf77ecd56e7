import { basename, dirname } from "node:path";
import { proseLines } from "../../../backlog/fences.ts";
import type { ExternalItem, PlanReader } from "./external_plan.ts";
import { onOneLine } from "../../../prompts/parts.ts";

const TASK_REGEXP = /^\s*[-*]\s+\[([ xX])\]\s+(?:\*\*)?(T\d+[a-z]?)(?:\*\*)?[.:]?\s+(.+)$/;
/** `[P]`: may run beside others. `[US1]`: of this user story. */
const MARK_REGEXP = /^\[(P|US\d+)\]\s*/i;

/**
 * spec-kit's `tasks.md`: below a heading for each phase lines `- [ ] T012 [P] [US1] What is to be done`, in the order in
 * which they are to be done; above them maybe `**Goal**:` and `**Independent Test**:`
 * (github.com/github/spec-kit, templates/tasks-template.md). Its folder has the name of the branch.
 */
export const SPEC_KIT: PlanReader = {
  tool: "spec-kit",
  matches: ({ data, text }) => data === undefined && text.split("\n").some((line) => TASK_REGEXP.test(line)),
  read({ text }, { path }) {
    const folder = basename(dirname(path));
    return {
      tool: "spec-kit",
      title: /^#\s+Tasks:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? "",
      branch: /^\d{3,}-[\w.-]+$/.test(folder) ? folder : null,
      items: itemsOf(text),
      left: [],
    };
  },
};

function itemsOf(text: string): readonly ExternalItem[] {
  const items: ExternalItem[] = [];
  let phase: readonly string[] = [];
  for (const { text: line } of proseLines(text)) {
    const [, heading] = /^##\s+(.+)$/.exec(line) ?? [];
    if (heading !== undefined) phase = [heading.trim()];
    const [, label, said] = /^\*\*(Goal|Purpose|Independent Test)(?::\*\*|\*\*:)\s*(.+)$/i.exec(line) ?? [];
    if (label !== undefined) phase = [...phase, `${label}: ${said}`];
    const [, mark, id = "", rest = ""] = TASK_REGEXP.exec(line) ?? [];
    if (mark === undefined) continue;
    const { words, story } = withoutMarks(rest);
    items.push({
      id,
      title: onOneLine(words),
      criteria: [words],
      notes: [...phase, ...story === null ? [] : [`User story ${story}`]],
      done: mark !== " ",
      priority: null,
      dependsOn: [],
    });
  }
  return items;
}

function withoutMarks(text: string): { readonly words: string; readonly story: string | null } {
  let words = text;
  let story: string | null = null;
  for (let found = MARK_REGEXP.exec(words); found !== null; found = MARK_REGEXP.exec(words)) {
    if (found[1]?.toUpperCase() !== "P") story = found[1] ?? null;
    words = words.slice(found[0].length);
  }
  return { words: words.trim(), story };
}
