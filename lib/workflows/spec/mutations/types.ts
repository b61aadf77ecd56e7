import type { Plan } from "../types.ts";

/** A changed plan, and what its commit says. */
export interface Change {
  readonly plan: Plan;
  /** Subject of the commit: `ralph: task done - NAME`. */
  readonly subject: string;
  /** What a person should know of it. */
  readonly warnings?: readonly string[];
}
