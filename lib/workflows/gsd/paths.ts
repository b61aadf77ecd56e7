import type { JournalKey } from "../../backlog/journal_types.ts";

/** GSD's folder, relative to the root. */
export const PLANNING_DIRECTORY = ".planning";
export const PHASES_DIRECTORY = ".planning/phases";
export const STATE_FILE = ".planning/STATE.md";
export const ROADMAP_FILE = ".planning/ROADMAP.md";

/** Run folders go here. */
export const GSD_RUNS = ".ralph/runs";

/** The loop's journal keeps the plans of a project under this key. */
export const GSD_JOURNAL: JournalKey = { backlog: "gsd", scope: "" };
