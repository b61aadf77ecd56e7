/**
 * A tracker: where issues are kept. The types.
 *
 * @module
 */
import { join } from "node:path";

/** Someone who changed an issue. */
export interface Person {
  /** As the host calls them. */
  readonly name: string;
  /** The host says that they may write to the repository or project. Anything less certain is `false`. */
  readonly mayWrite: boolean;
}

/** A change, and who made it; `by: null`: the host does not say. */
export interface Change {
  /** ISO 8601. */
  readonly at: string;
  readonly by: Person | null;
}

/** An issue as a tracker has it now. Plain JSON. */
export interface Issue {
  /** As people write it, and as a commit names it to close it: `#12`, `ENG-12`. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  /** Its page; `null` where it has none. */
  readonly url: string | null;
  readonly isOpen: boolean;
  readonly labels: readonly string[];
  /** ISO 8601. */
  readonly updatedAt: string;
  /** The last change of each part of its text (title, body); none: nobody knows. */
  readonly edits: readonly Change[];
  /** Each time that the label which was asked for was set. */
  readonly labelled: readonly Change[];
  /** Ids of open issues that come first: its sub-issues, and what blocks it. */
  readonly waitsFor: readonly string[];
}

/** Which issues are meant. */
export interface IssueQuery {
  readonly label: string;
  /** This one alone, whatever its state and labels. */
  readonly id?: string;
  /** All that changed since then, whatever their state and labels. ISO 8601. */
  readonly since?: string;
}

/** How far Ralph is with an issue: labels or states of the workflow, as the configuration maps them. */
export type IssueState = "open" | "working" | "review" | "blocked";

/**
 * A place where issues are kept. Every call may be repeated. One that cannot be reached for now throws
 * `tracker-unreachable`, and is asked again later; a refusal is `tracker-refused`.
 */
export interface Tracker {
  /** Files of the tree that it writes, relative to the root: no one's work. @default none */
  readonly files?: readonly string[];
  /** Short: `github`. Part of the journal's key. */
  readonly name: string;
  /** The repository, team or folder: `owner/name`. */
  readonly project: string;
  /** For people: `github.com`. */
  readonly host: string;
  /** Without `id` and `since`: all that are open and have the label, oldest first. */
  list(query: IssueQuery): Promise<readonly Issue[]>;
  /** Writes the one comment of this account that holds the marker, or changes it. */
  comment(id: string, marker: string, body: string): Promise<void>;
  /** Never closes an issue. */
  state(id: string, state: IssueState): Promise<void>;
  /** True if anything may have changed since the last call; costs nothing if it has not. @default it may */
  changed?(): Promise<boolean>;
}

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
