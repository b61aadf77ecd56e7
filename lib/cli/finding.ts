import { asRalphError, RalphError } from "../errors/ralph_error.ts";

/** One thing that `ralph doctor` looked at. */
export interface Finding {
  /** `missing`: a run cannot start without it. */
  readonly level: "ok" | "note" | "missing";
  readonly name: string;
  readonly detail: string;
  /** How to get it. */
  readonly hint?: string;
}

/** A finding in a line. */
export function finding(level: Finding["level"], name: string, detail: string, hint?: string): Finding {
  return { level, name, detail, ...(hint === undefined ? {} : { hint }) };
}

/** The findings of a look, in words or as its own; a RalphError of it is a finding of this level. */
export async function foundOf(
  name: string,
  look: () => Promise<string | readonly Finding[]>,
  level: Finding["level"] = "missing",
): Promise<readonly Finding[]> {
  const found = await look().catch(asRalphError);
  if (RalphError.isInstance(found)) return [finding(level, name, found.message, found.hint)];
  return typeof found === "string" ? [finding("ok", name, found)] : found;
}
