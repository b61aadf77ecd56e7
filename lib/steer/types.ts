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
  /** What is told, or the answer. */
  readonly text?: string;
  /** Told for the prompts of this item alone. */
  readonly item?: string;
  /** Of the question that is answered, or of the pause that ends: only who looked after it was made knows it. */
  readonly key?: string;
}

/** What became of a request. */
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

/** What a run that is at work says of itself. */
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
  /** What it was told, a line each, cut: should it be killed, the next run names it. */
  readonly told?: readonly string[];
}
