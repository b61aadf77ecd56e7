/**
 * How a person changes a run from outside: what is asked of it, and what it says of itself. All of it are small files in
 * Ralph's folder of the git directory.
 *
 * @module
 */

import type { Origin, SteerAction } from "../events/types.ts";

/** One thing that a person asks of a run. */
export interface SteerRequest {
  readonly action: SteerAction;
  readonly origin: Exclude<Origin, "terminal">;
  /** The text that is told, or the answer. */
  readonly text?: string;
  /** Told for the prompts of this item alone. */
  readonly item?: string;
  /** The key of the answered question, or of the pause that ends: only who looked after it was made knows it. */
  readonly key?: string;
}

/** The run's reply to a request. */
export interface SteerReply {
  readonly status: "taken" | "refused";
  /** In words, for who asked. */
  readonly message: string;
}

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly key: string;
  readonly id: string;
  readonly kind: "confirm" | "text" | "select";
  readonly message: string;
  readonly details: readonly string[];
  readonly choices: readonly { readonly value: string; readonly label: string; readonly hint?: string }[];
  readonly initial: string | null;
  /** ISO time. */
  readonly since: string;
}

/** A run that is at work says this of itself. */
export interface LiveRun {
  readonly v: 1;
  /** The run's id. */
  readonly run: string;
  readonly root: string;
  /** Absolute path of the folder of its events. */
  readonly folder: string;
  readonly pid: number;
  /** Start of that process; with the pid it names one process for good. */
  readonly started: string;
  /** ISO time. */
  readonly since: string;
  readonly asks: OpenQuestion | null;
  /** `asked`: it pauses after the present turn. */
  readonly pause: { readonly state: "asked" | "paused"; readonly key: string; readonly since: string } | null;
  /** It ends after the present turn. */
  readonly stopping: boolean;
  /** The texts that it was told, a line each, cut: if it is killed, the next run names them. */
  readonly told?: readonly string[];
}
