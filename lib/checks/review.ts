/**
 * A reviewing agent's answer: whole lines of its own final words.
 *
 * @module
 */
import { signalsOf } from "../backlog/signals.ts";
import type { Item } from "../backlog/types.ts";

/** A reviewer's verdict. `none`: nothing that counts. */
export type Review =
  | { readonly verdict: "approved" }
  | { readonly verdict: "rejected"; readonly reasons: readonly string[] }
  | { readonly verdict: "none" };

/** How a reviewer is asked to answer: none of it is a line that would count when it is repeated. */
export function reviewAnswer(nonce: string): string {
  return "End with your verdict on a line of its own, outside any code block. When the item is done: " +
    `\`<review ${nonce}>APPROVE</review>\`. Otherwise one line for each thing that is wrong, with the file and what it ` +
    "should do, so that the author can fix it without asking you: `<review>REJECT: what is wrong, and where</review>`. " +
    "Without such a line your review does not count.";
}

/** Reads the signal lines of a review: a rejection beats an approval, which counts with the nonce only. Pure. */
export function reviewOf(lines: readonly string[], nonce: string): Review {
  const found = signalsOf(lines, nonce).filter(({ form }) => form === "review");
  const rejections = found.filter(({ name }) => /^REJECT(ED)?$/.test(name));
  if (rejections.length > 0) {
    const reasons = [...new Set(rejections.map(({ value }) => value).filter((reason) => reason !== ""))];
    return { verdict: "rejected", reasons: reasons.length === 0 ? ["no reason was given"] : reasons };
  }
  const approved = found.some(({ name, sealed }) => sealed && /^APPROVED?$/.test(name));
  return approved ? { verdict: "approved" } : { verdict: "none" };
}

/** An item as its reviewer sees it. Pure. */
export function reviewItem(item: Item | null): string {
  if (item === null) return "No item is named: judge the change by itself.";
  const { criteria = [] } = item;
  const asked = criteria.length === 0
    ? ["Its criteria are not written down: judge by what it says."]
    : ["Acceptance criteria:", ...criteria.map((criterion) => `- ${criterion}`)];
  return [`${item.id}: ${item.title}`, "", ...asked].join("\n");
}
