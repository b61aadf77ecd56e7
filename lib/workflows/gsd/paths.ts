/** GSD's folder, relative to the root. */
export const PLANNING_DIRECTORY = ".planning";
export const PHASES_DIRECTORY = ".planning/phases";
export const STATE_FILE = ".planning/STATE.md";
export const ROADMAP_FILE = ".planning/ROADMAP.md";

/** Where run folders go. */
export const GSD_RUNS = ".ralph/runs";
