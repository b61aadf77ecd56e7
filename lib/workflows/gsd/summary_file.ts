import { readFrontMatter, scalar } from "./front_matter.ts";
import { markdownLines } from "../../backlog/fences.ts";

/** What a SUMMARY says of its plan. */
export type SummaryVerdict = "complete" | "empty" | "failed";

const FAILED_REGEXP = /^(blocked|failed|incomplete|partial|partially[- ]complete|in[- ]progress|halted|aborted)\b/i;

/** A SUMMARY may itself say that its plan was not carried out; then it completes nothing. */
export function summaryVerdict(text: string): SummaryVerdict {
  if (text.trim() === "") return "empty";
  const { values } = readFrontMatter(markdownLines(text).lines);
  const status = scalar(values, "status") ?? scalar(values, "result") ?? scalar(values, "outcome");
  return status !== null && FAILED_REGEXP.test(status) ? "failed" : "complete";
}
