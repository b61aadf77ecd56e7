import type { CheckExpectation } from "../../backlog/check_types.ts";
import type { JournalKey } from "../../backlog/journal_types.ts";

/**
 * The content of `.planning/`, as read: phases, plans, position, and the places that Ralph does not understand.
 * Everything is plain JSON.
 *
 * @module
 */

/** Something that a reader could not make sense of, or took in a way that a person may want to know. */
export interface Diagnostic {
  /** Relative to the root. */
  readonly file: string;
  /** From 1; 0 for the file as a whole. */
  readonly line: number;
  readonly message: string;
}

/** A command is expected to do this. */
export type Expectation = CheckExpectation;

/** A command that a plan's author meant to be run by a machine: `<command>` or `<automated>`, entities decoded. */
export interface PlanCommand {
  /** As the shell gets it, entities decoded. */
  readonly command: string;
  /** The result that it has to have. */
  readonly expect: Expectation;
  /** The `name` of the `<check>` around it. */
  readonly name: string | null;
  /** In the plan, from 1. */
  readonly line: number;
}

/** A `<verify>` or `<verification>` asks for this. */
export interface Verifying {
  readonly commands: readonly PlanCommand[];
  /** Text that is written there for people and agents: Ralph never runs it. */
  readonly notCheckable: readonly string[];
}

/** A task of a plan. */
export interface PlanTask extends Verifying {
  /** From 1, in the order of the file. */
  readonly number: number;
  /** As the plan has it. */
  readonly name: string;
  /** As written: `auto`, `checkpoint:human-verify`, or `null`. */
  readonly type: string | null;
  /** For a person: left out in an unattended loop. */
  readonly checkpoint: boolean;
  /** In the plan, from 1. */
  readonly line: number;
}

/** The content of a PLAN.md. */
export interface PlanDocument {
  /** First level of the front matter: scalars as written, lists as lists. */
  readonly frontMatter: Readonly<Record<string, string | readonly string[]>>;
  readonly tasks: readonly PlanTask[];
  readonly verification: Verifying;
  /** First line of the objective, goal or heading. */
  readonly title: string | null;
  /** There is nothing in it to carry out. */
  readonly empty: boolean;
}

/** Why a plan counts as done. */
export type Completion =
  | { readonly done: true; readonly by: "summary" | "roadmap" | "skipped" | "phase" | "shipped" | "superseded" }
  | { readonly done: false };

/** A plan of a phase. */
export interface Plan extends PlanDocument {
  /** `01-02`: phase and plan as the file name writes them. */
  readonly id: string;
  /** As written: `02`, `01a`, `05.1`. */
  readonly number: string;
  /** The phase's number as its folder writes it. */
  readonly phase: string;
  /** Relative to the root. */
  readonly file: string;
  /** Its SUMMARY belongs here, relative to the root. */
  readonly summaryFile: string;
  /** There is a SUMMARY of its own that does not say itself that the plan failed. */
  readonly summarized: boolean;
  readonly completion: Completion;
  /** Ids of plans that come first, as far as they were found. */
  readonly dependsOn: readonly string[];
}

/** A phase has this, by its folder, ROADMAP.md and STATE.md together. */
export interface PhaseStanding {
  /** As the folder, or else ROADMAP.md, writes it: `02.1`. */
  readonly number: string;
  /** How many plans it is to have; `null` where nothing says so yet. */
  readonly planned: number | null;
  /** Plans with a PLAN file, and those that are closed without one. */
  readonly written: number;
  /** The written plans that are complete. */
  readonly complete: number;
  /** How ROADMAP.md closes the phase: by its box (`[x]`, `[-]`), or with its milestone. */
  readonly closed: "shipped" | "skipped" | "ticked" | null;
  /** A plan of it is written, or was. */
  readonly begun: boolean;
  /** Nothing is left to plan or to carry out. */
  readonly finished: boolean;
  /** How many plans are still to be written. */
  readonly lacking: number;
  /** The lacking plans that ROADMAP.md lists. */
  readonly unwritten: readonly string[];
}

/** A phase: its folder, its lines in ROADMAP.md, or both. */
export interface Phase extends PhaseStanding {
  readonly name: string;
  /** Relative to the root; `null` where only ROADMAP.md knows the phase. */
  readonly directory: string | null;
  readonly plans: readonly Plan[];
  /** There is a DISCOVERY.md or RESEARCH.md. */
  readonly researched: boolean;
}

/** STATE.md's position of the project. */
export interface StatePosition {
  /** `8`, `02.1`; `null` where it names none. */
  readonly phase: string | null;
  /** `none`: it says that there is none (between milestones). `not-started`: it says so. */
  readonly kind: "phase" | "none" | "not-started" | "unknown";
  readonly phaseName: string | null;
  readonly totalPhases: string | null;
  /** The plan's place in its phase, from 1; `null` where it is not a number. */
  readonly plan: number | null;
  /** How many plans it gives the phase; `null` where that is not a number, or it calls the phase complete. */
  readonly plans: number | null;
  /** As written. */
  readonly planText: string | null;
  readonly status: string | null;
  readonly lastActivity: string | null;
  readonly progress: string | null;
}

/** All of `.planning/`. */
export interface Planning {
  /** In order. */
  readonly phases: readonly Phase[];
  /** `null`: there is no STATE.md. */
  readonly state: StatePosition | null;
  /** `null` without ROADMAP.md. */
  readonly roadmap: boolean;
  /** The places that Ralph does not understand, with file and line. */
  readonly diagnostics: readonly Diagnostic[];
}

/** How a PLAN.md names a check, for messages. */
export const CHECK_FORM: string =
  "in the plan, in a task's `<verify>` or in `<verification>`, on a line of its own: `<automated>npm test</automated>`";

/** GSD's folder, relative to the root. */
export const PLANNING_DIRECTORY = ".planning";
export const PHASES_DIRECTORY = ".planning/phases";
export const STATE_FILE = ".planning/STATE.md";
export const ROADMAP_FILE = ".planning/ROADMAP.md";

/** Run folders go here. */
export const GSD_RUNS = ".ralph/runs";

/** The loop's journal keeps the plans of a project under this key. */
export const GSD_JOURNAL: JournalKey = { backlog: "gsd", scope: "" };
