import { readFrontMatter, scalar } from "./front_matter.ts";
import { markdownLines } from "../../backlog/fences.ts";
import type { Attempt, CheckResult } from "../../backlog/types.ts";
import type { GsdItemData } from "./item_data.ts";

const SKIPPED_REGEXP = /^#{1,6}\s+Skipped checkpoints\b/im;

const FAILED_REGEXP = /^(blocked|failed|incomplete|partial|partially[- ]complete|in[- ]progress|halted|aborted)\b/i;

/** A SUMMARY may itself say that its plan was not carried out; then it completes nothing. */
export function summaryVerdict(text: string): "complete" | "empty" | "failed" {
  if (text.trim() === "") return "empty";
  const { values } = readFrontMatter(markdownLines(text).lines);
  const status = scalar(values, "status") ?? scalar(values, "result") ?? scalar(values, "outcome");
  return status !== null && FAILED_REGEXP.test(status) ? "failed" : "complete";
}

/** The SUMMARY that Ralph writes where the agent wrote none, from what it saw; marked as such. Pure. */
export function writtenSummary(
  plan: GsdItemData,
  attempt: Attempt,
  seen: { readonly date: string; readonly commits: readonly string[] },
): string {
  const results: readonly CheckResult[] = attempt.verification?.results ?? [];
  const tasks = plan.tasks.filter(({ checkpoint }) => !checkpoint).map(({ number, name }) => `${number}. ${name}`);
  const changed = attempt.turn?.changedFiles.filter((path) => path !== plan.summaryFile) ?? [];
  const noCommit = attempt.landing === undefined
    ? "None during the agent's turn."
    : "One for the plan, with this file in it.";
  const listed = (lines: readonly string[], none: string): string => lines.length === 0 ? none : lines.join("\n");
  return `---
phase: ${plan.file.split("/").at(-2) ?? plan.phase}
plan: "${plan.number}"
completed: ${seen.date}
written-by: ralph
---

# Plan ${plan.id} Summary

${plan.title}

Ralph wrote this file from what it saw: the agent left none.

## Tasks

${listed(tasks, "None for an agent.")}

## Commits

${listed(seen.commits.map((commit) => `- ${commit}`), noCommit)}

## Files

${listed(changed.map((path) => `- ${path}`), "None changed during the last turn.")}

## Checks

${listed(results.map(({ name, ok }) => `- ${ok ? "passed" : "failed"}: ${name}`), "None ran.")}
`;
}

/** The SUMMARY with the checkpoints that no one saw; one that lists them already stays as it is. Pure. */
export function withSkipped(summary: string, names: readonly string[]): string {
  if (names.length === 0 || SKIPPED_REGEXP.test(summary)) return summary;
  const end = summary.includes("\r\n") ? "\r\n" : "\n";
  const list = names.map((name) => `- ${name}\n`).join("");
  const section = `\n\n## Skipped checkpoints\n\nLeft out, since no one was watching:\n\n${list}`;
  return summary.replace(/\s*$/, "") + section.replaceAll("\n", end);
}
