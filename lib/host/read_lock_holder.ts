import { readText } from "./files.ts";
import { type LockHolder, parseHolder, UNREADABLE_HOLDER } from "./lock_holder.ts";
import { processStart } from "./process_start.ts";

/** Who holds a lock at this moment, or `null` when no living process does. Takes and changes nothing. */
export async function readLockHolder(path: string): Promise<LockHolder | null> {
  const text = await readText(path);
  const holder = text === null ? UNREADABLE_HOLDER : parseHolder(text);
  if (holder === UNREADABLE_HOLDER) return null;
  const started = await processStart(holder.pid);
  return started === null || (holder.started !== "" && started !== holder.started) ? null : holder;
}
