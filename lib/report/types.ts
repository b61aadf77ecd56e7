/**
 * The content of `ralph report`; `--format json` prints this very object, `ralph schema report` its schema, from
 * which the types are made.
 *
 * @module
 */
import { NO_USAGE } from "../backlog/usage.ts";
import type { AttemptReport, ItemReport, RunPart, RunReport } from "../generated/report.ts";

export type * from "../generated/report.ts";

/** Version of the report's shape. */
export const REPORT_VERSION = 1;

/** A report, or a part of it, while it is being put together. */
export type Draft<Type> = Type extends readonly (infer Element)[] ? Draft<Element>[]
  : Type extends object ? { -readonly [Key in keyof Type]: Draft<Type[Key]> }
  : Type;

/** Nothing read yet. */
export function emptyDraft(file: string): Draft<RunReport> {
  return {
    version: REPORT_VERSION,
    run: "",
    root: "",
    folder: "",
    state: "empty",
    running: null,
    status: null,
    reasons: [],
    next: [],
    startedAt: null,
    endedAt: null,
    durationMs: null,
    agents: [],
    usage: { ...NO_USAGE },
    counts: { verified: 0, unverified: 0, parked: 0, open: 0 },
    parts: [],
    items: [],
    commits: [],
    base: null,
    project: "",
    goal: null,
    branch: null,
    work: null,
    checked: null,
    proved: [],
    notices: [],
    hooks: [],
    waits: [],
    landings: null,
    sandbox: null,
    strict: false,
    restored: [],
    trespasses: [],
    experiments: [],
    warnings: [],
    notes: [],
    answers: [],
    events: { file, count: 0, malformed: 0, problems: [], unknown: 0 },
  };
}

/** The part, item and attempt that are open while the events go by: an event belongs to them. */
export interface Cursor {
  part: Draft<RunPart> | null;
  item: Draft<ItemReport> | null;
  attempt: Draft<AttemptReport> | null;
  /** Each question's text, by its id. */
  readonly questions: Map<string, string>;
  /** Agents in the order in which they came, with the models that they named. */
  readonly models: Map<string, Set<string>>;
  agent: string;
}
