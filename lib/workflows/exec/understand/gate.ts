import { localDate } from "../../../host/local_date.ts";
import { CODEBASE_MAP_FILE, PLAN_STATE_FILE, UNDERSTAND_PROMPT_FILE } from "../paths.ts";
import { readTopics } from "./read_topics.ts";
import type { RalphContext } from "../../../context/context.ts";
import { askConsent, type GateOutcome } from "../../../recipe/gate.ts";
import { type IterationCap, iterationCap } from "../../../recipe/iteration_cap.ts";
import { parsePlanState, type Recommendation, type Uncertainty } from "../plan/state.ts";
import { recordDecision } from "../plan/transcript.ts";
import { mapAge, parseCodebaseMap } from "./codebase_map.ts";

/** Planning says this of the code: `plan()` gives it. */
export interface PlannedFacts {
  /** Facts that the planner could not find out. */
  readonly uncertainties?: readonly Uncertainty[];
  /** The planner's opinion on exploring the code first. */
  readonly recommendUnderstand?: Recommendation;
  /** The codebase map is the empty template. */
  readonly mapWasMissing?: boolean;
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
  const mode = options.mode ?? "auto";
  const map = await ralph.state.read(CODEBASE_MAP_FILE);
  const topics = readTopics(map, await ralph.state.read(UNDERSTAND_PROMPT_FILE));
  const { cap, count, explained } = iterationCap(options.maxIterations ?? "auto", {
    count: topics.open,
    counted: topics.counted,
    turnsEach: ralph.config.maxRetries,
  }, OPTION);
  if (mode === "never") return { status: "skipped", reason: "understanding is off (`--understand never`)" };

  const triggers = understandTriggers({
    map,
    ...await factsOf(ralph, planned),
    today: localDate(ralph.host.clock.now()),
  });
  for (const message of triggers.warnings) {
    ralph.events.emit({ type: "note", level: "warn", message: `${CODEBASE_MAP_FILE}: ${message}` });
  }
  if (mode === "auto" && triggers.reasons.length === 0) {
    return skipped(ralph, "the codebase map is of today and the planner is certain");
  }
  const why = triggers.reasons.length === 0
    ? ["Nothing speaks for it: the map is of today and the planner is certain"]
    : triggers.reasons;
  if (count === 0) {
    const reason = options.maxIterations === 0 ? `${OPTION} is 0` : `there are no remaining topics: ${topics.counted}`;
    await recordDecision(ralph, "Understand: skipped", [...list(why), "", reason]);
    return skipped(ralph, reason);
  }

  const message = "Explore the code first (`ralph understand`)?";
  const consent = await askConsent(ralph, { name: "understand", message, reasons: [...why, explained] });
  if (consent === null) return { status: "aborted" };
  const answer = `${message} ${consent.yes ? "yes" : "no"} (${consent.source})`;
  await recordDecision(ralph, "Understand: recommendation and decision", [...list([...why, explained]), "", answer]);
  if (consent.yes) return { status: "approved", ...cap, reasons: triggers.reasons };
  const number = cap.maxIterations === undefined ? "" : ` --max-iterations ${cap.maxIterations}`;
  const next = ralph.again(`ralph understand${number}`);
  ralph.events.emit({ type: "note", level: "info", message: `not now: \`${next}\` does it later` });
  return { status: "declined", next: [next] };
}

async function factsOf(ralph: RalphContext, planned: PlannedFacts | undefined): Promise<Required<PlannedFacts>> {
  const content = planned === undefined ? await ralph.state.read(PLAN_STATE_FILE) : null;
  const { uncertainties = [], recommendUnderstand, mapWasMissing = false } = content === null
    ? planned ?? {}
    : parsePlanState(content);
  return {
    uncertainties,
    recommendUnderstand: recommendUnderstand ?? { shouldRun: false, reasons: [] },
    mapWasMissing,
  };
}

function skipped(ralph: RalphContext, reason: string): { readonly status: "skipped"; readonly reason: string } {
  ralph.events.emit({ type: "note", level: "info", message: `understanding skipped: ${reason}` });
  return { status: "skipped", reason };
}

function list(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `- ${line}`);
}

/** Reasons for understanding the code first. */
interface UnderstandTriggers {
  readonly missing: boolean;
  readonly stale: boolean;
  readonly uncertain: boolean;
  /** The reasons in words; none when nothing speaks for it. */
  readonly reasons: readonly string[];
  /** Shown, but no reason. */
  readonly warnings: readonly string[];
}

/** The triggers are computed from these facts. */
interface TriggerFacts {
  /** Text of the codebase map, `null` when there is none. */
  readonly map: string | null;
  /** There was none when planning began: what is there now is the empty template. */
  readonly mapWasMissing: boolean;
  readonly uncertainties: readonly Uncertainty[];
  readonly recommendUnderstand: Recommendation;
  /** Local day, `YYYY-MM-DD`. */
  readonly today: string;
}

/** Understanding is recommended if the map is missing or stale, or if the planner was uncertain. Pure. */
export function understandTriggers(facts: TriggerFacts): UnderstandTriggers {
  const { uncertainties, recommendUnderstand: { shouldRun, reasons: recommended } } = facts;
  const map = facts.map === null ? null : parseCodebaseMap(facts.map);
  const missing = map === null || (facts.mapWasMissing && map.entries.length === 0);
  const age = map === null ? null : mapAge(map, facts.today);
  const stale = !missing && age !== null && age.stale;
  const uncertain = uncertainties.length > 0 || shouldRun;
  const reasons = [
    ...(missing ? [`The codebase map is ${map === null ? "missing" : "empty: no topic has a note"}`] : []),
    ...(stale && age.lastEntry === null ? ["The codebase map is stale: it has no dated entry"] : []),
    ...(stale && age.lastEntry !== null ? [`The codebase map is stale: its last entry is of ${age.lastEntry}`] : []),
    ...(uncertainties.length > 0
      ? [`The planner is uncertain about: ${uncertainties.map(({ topic }) => topic).join(", ")}`]
      : []),
    ...(uncertainties.length === 0 && shouldRun ? ["The planner recommends it"] : []),
    ...(recommended.length > 0 ? [`The planner says: ${recommended.join("; ")}`] : []),
  ];
  return { missing, stale, uncertain, reasons, warnings: age?.warnings ?? [] };
}
