/**
 * Another tool's plan, before it becomes a PRD of Ralph's. Plain JSON.
 *
 * @module
 */

/** One piece of work. */
export interface ExternalItem {
  /** As the file names it; "" where it names none. */
  readonly id: string;
  readonly title: string;
  readonly criteria: readonly string[];
  /** Other things that the file says of it, for the agent. */
  readonly notes: readonly string[];
  readonly done: boolean;
  /** The lowest comes first; `null` where the file has none. */
  readonly priority: number | null;
  /** Ids of items that come first. */
  readonly dependsOn: readonly string[];
}

/** A whole file. */
export interface ExternalPlan {
  /** The tool whose format it is. */
  readonly tool: string;
  /** The whole plan's title; "" if it has none. */
  readonly title: string;
  /** `null` where the file names none. */
  readonly branch: string | null;
  readonly items: readonly ExternalItem[];
  /** Things that a PRD has no place for, and items that are not to be done. */
  readonly left: readonly string[];
}

/** A reader gets this beside the data. */
export interface ReaderHint {
  /** The file's path, for formats whose folder says something. */
  readonly path: string;
  /** Which of several lists is meant. */
  readonly tag: string | undefined;
}

/** Reads one format. */
export interface PlanReader {
  /** The tool whose format it is. */
  readonly tool: string;
  /** True where data or text is of this format, whatever else is wrong with it. */
  matches(source: PlanSource): boolean;
  /** @throws {RalphError} usage where the line must say which part is meant */
  read(source: PlanSource, hint: ReaderHint): ExternalPlan;
}

/** A file: its text, and the data where it is JSON. */
export interface PlanSource {
  readonly text: string;
  /** `undefined` where it is no JSON. */
  readonly data: unknown;
}
