/**
 * The plan file of the spec workflow: one JSON record a line. Lines that no one changed stay byte for byte; what cannot
 * be read is kept in its place. Everything here but the store and the backlog is pure.
 *
 * @module
 */

/** The plan's path, relative to the root. */
export const PLAN_FILE = "ralph/plan.jsonl";

/** A JSON object as it was read. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** How urgent a task is; none is `medium`. */
export type Priority = "high" | "medium" | "low";

/** All records of the plan share these keys. */
interface Read {
  /** Number of its line, from 1; 0 for a line that is not written yet. */
  readonly line: number;
  /** The whole record, unknown keys included. */
  readonly record: JsonObject;
}

/** A `{"t": "task"}` record. */
export interface Task extends Read {
  readonly id: string;
  readonly spec: string;
  readonly name: string;
  readonly notes: string;
  readonly accept: string;
  readonly deps: readonly string[];
  /** `p` pending, `d` done; anything else is kept and never counted. */
  readonly s: string;
  /** Commit that was HEAD when the task was marked done. */
  readonly doneAt: string | null;
  readonly priority: Priority;
  /** Why it was rejected, while it is tried again. */
  readonly reject: string | null;
  /** `timeout`, `context`, or what another program wrote to ask for a decomposition; `null` for a task that may be built. */
  readonly kill: string | null;
  readonly killLog: string | null;
  readonly parent: string | null;
  /** The issue that it was added for. */
  readonly createdFrom: string | null;
  /** The task that it replaces. */
  readonly supersedes: string | null;
  /** How often a task was cut into parts before this one came of it. */
  readonly depth: number;
  /** Rounds of issue and task that led to it: 1 for the task of an issue, 2 for the task of an issue of such a task. */
  readonly rounds: number;
}

/** A `{"t": "issue"}` record. */
export interface Issue extends Read {
  readonly id: string;
  readonly spec: string;
  readonly desc: string;
  /** Rounds of issue and task that led to it: 0 for one that was found while the spec's own tasks were built. */
  readonly rounds: number;
}

/** A `{"t": "reject"}` record, a tombstone. */
export interface Reject extends Read {
  readonly id: string;
  readonly doneAt: string;
  readonly reason: string;
}

/** The content of a line. */
export type Entry =
  | { readonly type: "task"; readonly task: Task }
  | { readonly type: "issue"; readonly issue: Issue }
  | { readonly type: "reject"; readonly reject: Reject }
  /** `planned`: false from `set-spec` on until it was planned, or tasks were accepted. */
  | { readonly type: "spec"; readonly spec: string; readonly planned: boolean }
  /** A record of a type that is not known here: kept. */
  | { readonly type: "other" }
  | { readonly type: "blank" }
  | { readonly type: "invalid"; readonly problem: string };

/** One line of the file. */
export interface PlanLine {
  /** From 1; 0 for a new one. */
  readonly number: number;
  /** The text without its line feed. */
  readonly raw: string;
  readonly entry: Entry;
}

/** The file, read. */
export interface Plan {
  /** Relative to the root; for messages. */
  readonly file: string;
  readonly lines: readonly PlanLine[];
  /** New lines end with this. */
  readonly newline: "\n" | "\r\n";
  /** The last line ends with a line feed. */
  readonly closed: boolean;
}

/** Something that is wrong with a line, which stays as it is. */
export interface PlanProblem {
  readonly line: number;
  readonly problem: string;
}
