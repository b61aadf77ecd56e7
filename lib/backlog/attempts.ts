/**
 * What backlogs make of attempts: why one failed, what the next prompt says of it, and which item an attempt was at.
 *
 * @module
 */
import { hashText } from "../host/files.ts";
import type { Attempt, Item, ParkedItem } from "./types.ts";

/** Why an attempt did not pass, as reports and notes show it. Pure. */
export function reasonOf(attempt: Attempt): string {
  if ("message" in attempt) return attempt.message;
  if (attempt.status === "trespassed") return `wrote outside the allowed paths: ${attempt.paths.join(", ")}`;
  return attempt.status;
}

/** The attempt leaves the item to a person: it is blocked, or the loop gives the item no other one. Pure. */
export function isOver(attempt: Attempt): boolean {
  return attempt.status === "blocked" || attempt.last === true;
}

/** What a prompt says of the attempt before. Pure. */
export function failureOf(previous: Attempt | null): string {
  if (previous === null) return "Nothing: this is the first attempt.";
  if ("message" in previous) return `Attempt ${previous.number} ${previous.status}: ${previous.message}`;
  return `Attempt ${previous.number} ended as ${previous.status}.`;
}

/** A hash of what an item asks for: with another text it is another item, whatever its id. Pure. */
export function fingerprintOf(asked: string | readonly unknown[]): string {
  return hashText(typeof asked === "string" ? asked : JSON.stringify(asked)).slice(0, 16);
}

/** Whether the journal has given up on the item as it is now. Pure. */
export function isParked(
  { id, fingerprint }: Pick<Item, "id" | "fingerprint">,
  parked: readonly ParkedItem[],
): boolean {
  return parked.some((one) => one.id === id && one.fingerprint === (fingerprint ?? null));
}
