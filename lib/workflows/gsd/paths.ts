import type { JournalKey } from "../../backlog/journal_types.ts";

/** GSD's folder, relative to the root. */
export const PLANNING_DIRECTORY = ".planning";
export const PHASES_DIRECTORY = ".planning/phases";
export const STATE_FILE = ".planning/STATE.md";
export const ROADMAP_FILE = ".planning/ROADMAP.md";

/** Where run folders go. */
export const GSD_RUNS = ".ralph/runs";

/** What the loop's journal calls the plans of a project. */
export const GSD_JOURNAL: JournalKey = { backlog: "gsd", scope: "" };
