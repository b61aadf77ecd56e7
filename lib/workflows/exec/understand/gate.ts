import { note, type RalphContext } from "../../../context/context.ts";
import { localDate } from "../../../host/local_date.ts";
import { CODEBASE_MAP_FILE } from "../types.ts";
import { type CodebaseMap, loadTopics, type MapAge, mapAge, parseCodebaseMap } from "./codebase_map.ts";
import { askConsent, type Consent, type GateOutcome, type IterationCap, iterationCap } from "../../../recipe/gate.ts";
import type { Recommendation, Uncertainty } from "../../../generated/plan.ts";
import { readPlanState, recordDecision } from "../plan/state.ts";

/** Planning says this of the code: `plan()` gives it. */
export interface PlannedFacts {
  /** Facts that the planner could not find out. */
  readonly uncertainties?: readonly Uncertainty[];
  /** The planner's opinion on exploring the code first. */
  readonly recommendUnderstand?: Recommendation;
  /** The codebase map is the empty template. */
  readonly mapWasMissing?: boolean;
  /** The decision, where the plan's question asked for it. */
  readonly consents?: { readonly understand?: Consent };
}

/** When the gate asks. */
export interface GateUnderstandOptions {
  /** `auto` asks when something speaks for it, `always` asks, `never` does not. @default "auto" */
  readonly mode?: "auto" | "always" | "never";
  /** `auto`: one for each open topic. @default "auto" */
  readonly maxIterations?: "auto" | number;
}

const OPTION = "--max-understand-iterations";

/**
 * Asks whether the code should be understood before it is changed, and says why and how long that takes. Decides only:
 * `understand()` acts.
 *
 * @param planned what `plan()` returned; read from `plan_state.json` when left out
 * @throws {RalphError} option-invalid, state-invalid
 * @example Ask no one
 * ```ts
 * import { gateUnderstand } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext();
 * const gate = await gateUnderstand(ralph, {}, { mode: "never" });
 * console.log(gate.status); // skipped
 * ```
 */
export async function gateUnderstand(
  ralph: RalphContext,
  planned?: PlannedFacts,
  options: GateUnderstandOptions = {},
): Promise<GateOutcome<IterationCap & { readonly reasons: readonly string[] }>> {
  const { mode = "auto", maxIterations = "auto" } = options;
  const topics = await loadTopics(ralph);
  const { cap, count, explained } = iterationCap(maxIterations, {
    count: topics.open,
    counted: topics.counted,
    turnsEach: ralph.config.maxRetries,
  }, OPTION);
  if (mode === "never") return { status: "skipped", reason: "understanding is off (`--understand never`)" };

  const facts: PlannedFacts | null = planned ?? await readPlanState(ralph);
  const { reasons, warnings } = understandTriggers({
    ...facts,
    map: topics.map,
    today: localDate(ralph.host.clock.now()),
  });
  for (const message of warnings) note(ralph, "warn", `${CODEBASE_MAP_FILE}: ${message}`);
  const certain = "map is of today and the planner is certain";
  if (mode === "auto" && reasons.length === 0) return skipped(ralph, `the codebase ${certain}`);
  const why = reasons.length === 0 ? [`Nothing speaks for it: the ${certain}`] : reasons;
  if (count === 0) {
    const reason = maxIterations === 0 ? `${OPTION} is 0` : `there are no remaining topics: ${topics.counted}`;
    await recordDecision(ralph, "Understand: skipped", [...list(why), "", reason]);
    return skipped(ralph, reason);
  }

  const message = "Explore the code first (`ralph understand`)?";
  const consent = await askConsent(
    ralph,
    { name: "understand", message, reasons: [...why, explained] },
    facts?.consents?.understand,
  );
  if (consent === null) return { status: "aborted" };
  const answer = `${message} ${consent.yes ? "yes" : "no"} (${consent.source})`;
  await recordDecision(ralph, "Understand: recommendation and decision", [...list([...why, explained]), "", answer]);
  if (consent.yes) return { status: "approved", ...cap, reasons };
  const number = cap.maxIterations === undefined ? "" : ` --max-iterations ${cap.maxIterations}`;
  const next = ralph.again(`ralph understand${number}`);
  note(ralph, "info", `the code is not explored now; \`${next}\` does it later`);
  return { status: "declined", next: [next] };
}

function skipped(ralph: RalphContext, reason: string): { readonly status: "skipped"; readonly reason: string } {
  note(ralph, "info", `understanding skipped: ${reason}`);
  return { status: "skipped", reason };
}

function list(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `- ${line}`);
}

/** The codebase map's text, `null` when there is none, and the local day, `YYYY-MM-DD`. */
type TriggerFacts = PlannedFacts & { readonly map: string | null; readonly today: string };

/** Understanding is recommended if the map is missing or stale, or if the planner was uncertain. Pure. */
export function understandTriggers(
  { map: text, today, mapWasMissing = false, uncertainties = [], recommendUnderstand }: TriggerFacts,
): { readonly reasons: readonly string[]; readonly warnings: readonly string[] } {
  const { shouldRun, reasons: said } = recommendUnderstand ?? { shouldRun: false, reasons: [] };
  const map = parseCodebaseMap(text ?? "");
  const age = mapAge(map, today);
  const fault = mapFault(text, map, { mapWasMissing, ...age });
  const reasons = [
    ...(fault === null ? [] : [`The codebase map is ${fault}`]),
    ...(uncertainties.length > 0
      ? [`The planner is uncertain about: ${uncertainties.map(({ topic }) => topic).join(", ")}`]
      : []),
    ...(uncertainties.length === 0 && shouldRun ? ["The planner recommends it"] : []),
    ...(said.length > 0 ? [`The planner says: ${said.join("; ")}`] : []),
  ];
  return { reasons, warnings: age.warnings };
}

function mapFault(
  text: string | null,
  { entries }: CodebaseMap,
  { mapWasMissing, stale, lastEntry }: MapAge & { readonly mapWasMissing: boolean },
): string | null {
  if (text === null) return "missing";
  if (mapWasMissing && entries.length === 0) return "empty: no topic has a note";
  if (!stale) return null;
  return `stale: ${lastEntry === null ? "it has no dated entry" : `its last entry is of ${lastEntry}`}`;
}
