import type { Draft } from "./draft.ts";
import type { RunReport } from "./types.ts";

/**
 * What a person does next. Pure.
 *
 * @param command what continues with the last part; `null` where only its user knows it
 */
export function nextSteps({ state, parts, items, counts }: Draft<RunReport>, command: string | null): string[] {
  const part = parts.at(-1);
  if (state === "running") return ["`ralph status` shows the progress"];
  if (part === undefined) return [];
  const again = command === null ? "the same command" : `\`${command}\``;
  const parked = items.filter((item) => item.state === "parked" || item.state === "blocked").length;
  const retry = command === null ? "the same command with `--retry-blocked`" : `\`${command} --retry-blocked\``;
  const steps: string[] = [];
  if (state === "cut-off") steps.push(`${again} continues where it stopped; nothing is lost`);
  else if (part.status === "blocked" || parked > 0) steps.push(`fix the cause, then ${retry}`);
  else if (part.status === "failed" || part.status === "exhausted") steps.push(`${again} continues`);
  else if (part.status === "aborted" || part.status === "declined") {
    steps.push(`${again} continues where this one stopped`);
  } else if (part.name === "plan" && part.status === "approved") steps.push("`ralph run` implements it");
  if (counts.unverified > 0 && command !== null) steps.push("`ralph verify` runs what checks there are");
  return steps;
}
