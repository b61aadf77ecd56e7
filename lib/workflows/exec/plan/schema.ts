/**
 * The schema of `plan_state.json`. The types are made from it.
 *
 * @module
 */
import { z } from "zod";
import { named } from "../../../config/parts.ts";
import type { PlanFile } from "../../../generated/plan.ts";
import { type Prd, validatePrd } from "../types.ts";

/** `plan_state.json`: all that planning needs to continue after any interruption. */
export type PlanState = PlanFile & { readonly lastPrdDraft: Prd | null };

const text = z.string();
const strings = z.array(text);
const count = z.number().int().nonnegative().default(0);
const no = z.boolean().default(false);

const answer = z.looseObject({ id: text, question: text, answer: text, askedAt: text.describe("ISO time") });
const uncertainty = z.looseObject({
  topic: text.describe("in a word or two"),
  reason: text.describe("why it is not known"),
  evidenceMissing: text.describe("evidence that would settle it"),
});
const recommendation = z.looseObject({
  shouldRun: z.boolean().describe("true: the code should be explored first"),
  reasons: strings.describe("why, for a person"),
});
named("Uncertainty", "Something that the planner's agent could not find out.", uncertainty);
named("Recommendation", "The agent's opinion on exploring the code first.", recommendation);

/** All that planning needs to continue. Fields that other programs leave out have a default; unknown ones are kept. */
export const PLAN_STATE_SCHEMA: z.ZodType<PlanState> = named(
  "PlanFile",
  "`plan_state.json`: all that planning needs to continue after any interruption.",
  z.looseObject({
    schemaVersion: z.literal(1),
    root: text.describe("absolute path of the root"),
    goal: text,
    createdAt: text,
    updatedAt: text,
    state: z.enum(["preflight", "collect_context", "draft_prd", "review_prd", "done"]).default("collect_context"),
    qa: z.array(answer).default([]),
    pendingQuestions: strings.default([]).describe("asked by the agent and not answered yet"),
    uncertainties: z.array(uncertainty).default([]),
    recommendUnderstand: recommendation.nullish().transform((value) => value ?? { shouldRun: false, reasons: [] }),
    lastPrdDraft: z.custom<Prd>((value) => validatePrd(value).length === 0, "must be a valid PRD or null")
      .nullable().default(null).describe("the last valid draft"),
    approvedPrdAt: text.nullable().default(null),
    changing: no.describe("a person said no to the draft and has not said yet what to change"),
    attempts: count.describe("answers in a row that were refused"),
    rounds: count.describe("rounds of questions since the start, or since a person last asked for changes"),
    turns: count.describe("agent turns taken"),
    existing: z.enum(["update", "overwrite"]).nullable().default(null)
      .describe("the choice for the stories that were in `prd.json`; `null` before the question"),
    taken: strings.default([]).describe("ids of stories of earlier goals: another story never gets one of them"),
    mapWasMissing: no.describe("there was no codebase map when planning began: the present one is the empty template"),
    refused: z.looseObject({ errors: strings, reply: text }).nullable().default(null)
      .describe("why the agent's last answer was refused, and its end"),
    openTurn: z.looseObject({ missing: strings }).nullable().default(null)
      .describe("a turn was begun and not ended; the `missing` state files did not exist before it"),
    session: text.default("plan").describe("names this planning's entries in the transcript"),
    entries: count,
    outbox: z.array(z.object({ id: text, text })).default([]).describe(
      "entries that may not have reached the transcript yet",
    ),
  }),
);
