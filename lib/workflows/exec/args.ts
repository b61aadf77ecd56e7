/** `ralph exec` hands this to its recipe. Everything but the goal has a flag of its own and may be left out. */
export interface ExecArgs {
  /** The goal as the person typed it; "" with `--resume`. */
  readonly goal: string;
  readonly resume?: boolean;
  /** The branch that a new goal starts from. @default the one that is checked out */
  readonly base?: string;
  /** @default "auto" */
  readonly understand?: "auto" | "always" | "never";
  /** @default "auto" */
  readonly maxUnderstandIterations?: "auto" | number;
  /** @default "auto" */
  readonly maxRunIterations?: "auto" | number;
}
