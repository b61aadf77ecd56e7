import { basename, dirname } from "node:path";
import { parseDirectory } from "../workflows/feature/directories.ts";
import type { Draft } from "./draft.ts";
import type { RunPart, RunReport } from "./types.ts";

/** What a person does next. Pure. */
export function nextSteps({ state, parts, items, folder, counts }: Draft<RunReport>): string[] {
  const part = parts.at(-1);
  if (state === "running") return ["`ralph status` shows where it stands"];
  if (part === undefined) return [];
  const command = commandOf(part, folder);
  const again = command === null ? "the same command" : `\`${command}\``;
  const parked = items.filter((item) => item.state === "parked" || item.state === "blocked").length;
  const retry = command === null ? "the same command with `--retry-blocked`" : `\`${command} --retry-blocked\``;
  const steps: string[] = [];
  if (state === "cut-off") steps.push(`${again} continues where it stopped; nothing is lost`);
  else if (part.status === "blocked" || parked > 0) steps.push(`fix what stands in the way, then ${retry}`);
  else if (part.status === "failed" || part.status === "exhausted") steps.push(`${again} continues`);
  else if (part.status === "aborted" || part.status === "declined") {
    steps.push(`${again} continues where this one stopped`);
  } else if (part.name === "plan" && part.status === "approved") steps.push("`ralph run` implements it");
  if (counts.unverified > 0 && part.name === "exec") steps.push("`ralph verify` runs what checks there are");
  return steps;
}

/** The command that continues with a part; `null` where only its user knows it. */
function commandOf({ name, scope }: Draft<RunPart>, folder: string): string | null {
  switch (name) {
    case "plan":
      return "ralph plan --resume";
    case "understand":
      return "ralph understand";
    case "exec":
      return "ralph run";
    case "spec":
      return "ralph build";
    case "gsd":
      return "ralph run --loop";
    case "feature": {
      const feature = scope === null ? null : parseDirectory(basename(scope));
      return feature === null ? null : `ralph run ${feature.name}`;
    }
    case "sprint":
      return `ralph sprint run ${scope ?? dirname(dirname(folder))}`;
    default:
      return null;
  }
}
