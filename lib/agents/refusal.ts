import type { Turn } from "../backlog/types.ts";

/**
 * Why a turn that ended normally was none, where the agent's stream tells what it did: it planned or asked instead of
 * working, or did nothing at all. `null` for a turn that changed something. Pure.
 */
export function refusalOf({ activity, changedFiles, lines }: Turn): string | null {
  if (activity === undefined || changedFiles.length > 0) return null;
  const last = lines.at(-1) ?? "";
  const words = last === "" ? "" : `: ${last.slice(0, 300)}`;
  if (activity.planned) return `the agent made a plan and changed nothing${words}`;
  if (activity.asked) return `the agent asked a question that nobody answers${words}`;
  if (activity.toolCalls > 0) return null;
  return last.endsWith("?")
    ? `the agent only asked a question that nobody answers${words}`
    : `the agent used no tool and changed nothing${words}`;
}
