import { jsonIn, objectOr } from "./data.ts";
import { readText } from "./files.ts";
import { processStart } from "./process_table.ts";

/** Who holds a lock, as the lock file names it. */
export interface LockHolder {
  readonly pid: number;
  /** Start of that process; with the pid it names one process for good. */
  readonly started: string;
  /** When the lock was taken, ISO 8601. */
  readonly since: string;
  readonly purpose: string;
  /** The mark that the holder's children carry: `processes.sweep()` ends what a dead one left. */
  readonly runToken: string;
  readonly nonce: string;
}

/** The holder of a lock file that cannot be read: empty or torn. */
export const UNREADABLE_HOLDER: LockHolder = { pid: 0, started: "", since: "", purpose: "", runToken: "", nonce: "" };

/** The holder in a lock file's text. */
export function parseHolder(text: string): LockHolder {
  const { pid, started, since, purpose, cookie: runToken, nonce } = objectOr(jsonIn(text));
  if (typeof pid !== "number" || typeof started !== "string") return UNREADABLE_HOLDER;
  const texts = { since: textOf(since), purpose: textOf(purpose), runToken: textOf(runToken), nonce: textOf(nonce) };
  return { pid, started, ...texts };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of a lock file. The run token keeps the name that earlier versions gave it. */
export function formatHolder({ runToken: cookie, nonce, ...rest }: LockHolder): string {
  return `${JSON.stringify({ ...rest, cookie, nonce })}\n`;
}

/** Who holds a lock at this moment, or `null` when no living process does. Takes and changes nothing. */
export async function readLockHolder(path: string): Promise<LockHolder | null> {
  const text = await readText(path);
  const holder = text === null ? UNREADABLE_HOLDER : parseHolder(text);
  if (holder === UNREADABLE_HOLDER) return null;
  return await isGone(holder) ? null : holder;
}

/** Its process runs no more, or another one has its pid by now. */
export async function isGone({ pid, started }: LockHolder): Promise<boolean> {
  const found = await processStart(pid);
  return found === null || (started !== "" && found !== started);
}
