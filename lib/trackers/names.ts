/**
 * The names by which git, journal and disk know a tracker. Pure.
 *
 * @module
 */
import { join } from "node:path";
import type { Tracker } from "./types.ts";

/** The backlog's name, for every tracker. */
export const ISSUES = "issues";

/** The name by which journal, claims and snapshots know a tracker. */
export function trackerKey({ name, project }: Pick<Tracker, "name" | "project">): string {
  return `${name} ${project}`;
}

/** The file of what a clone has still to say. @param directory Ralph's own */
export function outboxFile(directory: string): string {
  return join(directory, "tracker-outbox.json");
}
