/** One thing that `ralph doctor` looked at. */
export interface Finding {
  /** `missing`: a run cannot start without it. */
  readonly level: "ok" | "note" | "missing";
  readonly name: string;
  readonly detail: string;
  /** How to get it. */
  readonly hint?: string;
}
