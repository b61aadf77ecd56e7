import { tryJson } from "../../plain.ts";
import type { PlanReader, PlanSource } from "./external_plan.ts";
import { JSON_PLANS } from "./json_plans.ts";
import { SPEC_KIT } from "./spec_kit.ts";

/** The formats, the narrower one first. */
const READERS: readonly PlanReader[] = [...JSON_PLANS, SPEC_KIT];

/** The tools whose files can be read, for messages. */
export const KNOWN_TOOLS: readonly string[] = READERS.map(({ tool }) => tool);

/** The reader for a file; `null` where it is of no format that is known. Pure. */
export function readerFor(text: string): { readonly reader: PlanReader; readonly source: PlanSource } | null {
  const source = { text, data: tryJson(text) };
  const reader = READERS.find((one) => one.matches(source));
  return reader === undefined ? null : { reader, source };
}
