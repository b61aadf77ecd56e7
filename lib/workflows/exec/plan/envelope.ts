import { z } from "zod";
import { endedWith } from "../../../backlog/last_line.ts";
import { findJsonError } from "../../../errors/json_syntax.ts";
import { objectsIn } from "../../answer_objects.ts";
import { isPlain, keyErrors, tryJson } from "../../plain.ts";
import type { Recommendation, Uncertainty } from "./state.ts";

/** One turn's answer of the planner's agent. */
export interface Envelope {
  readonly questions: readonly string[];
  readonly uncertainties: readonly Uncertainty[];
  /** Not validated yet; `null` while the agent asks. */
  readonly prdDraft: unknown;
  readonly recommendUnderstand: Recommendation;
}

/** An envelope, or what is wrong with the answer. */
export type EnvelopeResult =
  | { readonly status: "valid"; readonly envelope: Envelope }
  | { readonly status: "invalid"; readonly errors: readonly string[] };

const KEYS = ["prdDraft", "questions", "recommendUnderstand", "uncertainties"];
const KEY_WORDS = ["missing keys", "unexpected keys"] as const;
const FENCE_REGEXP = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i;
const SHAPE = "the whole answer must be one JSON object, with no words around it";

const filled = z.string().trim().min(1, "must not be empty");
const SCHEMA: z.ZodType<Envelope> = z.object({
  questions: z.array(filled).transform((questions) => [...new Set(questions)]),
  uncertainties: z.array(z.object({ topic: z.string(), reason: z.string(), evidenceMissing: z.string() })),
  prdDraft: z.unknown(),
  recommendUnderstand: z.object({ shouldRun: z.boolean(), reasons: z.array(z.string()) }),
});

/** Reads an agent's answer: one JSON object with exactly the four keys, wherever in the answer it is. */
export function parseEnvelope(answer: string): EnvelopeResult {
  const trimmed = answer.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return invalid(`the answer is empty: ${SHAPE}`);
  const text = FENCE_REGEXP.exec(trimmed)?.[1] ?? trimmed;
  const data = tryJson(text);
  if (data !== undefined) return parsed(data);
  const objects = objectsIn(trimmed, (object) => keyErrors(object, KEYS, KEY_WORDS).length === 0);
  if (objects.length === 1) return parsed(objects[0]);
  if (objects.length > 1) return invalid(`the answer holds ${objects.length} JSON objects of this form: ${SHAPE}`);
  const found = findJsonError(text);
  const place = found === null ? "" : ` (line ${found.line}, column ${found.column}: expected ${found.expected})`;
  return invalid(`not valid JSON${place}: ${SHAPE}${endedWith(trimmed.split("\n"))}`);
}

function parsed(data: unknown): EnvelopeResult {
  if (!isPlain(data)) return invalid(SHAPE);
  const keys = keyErrors(data, KEYS, KEY_WORDS);
  if (keys.length > 0) return invalid(...keys);
  const result = SCHEMA.safeParse(data);
  if (!result.success) {
    return invalid(...result.error.issues.map((issue) => `${z.core.toDotPath(issue.path)}: ${issue.message}`));
  }
  const { questions, prdDraft } = result.data;
  if (questions.length === 0 && prdDraft === null) {
    return invalid("`questions` is empty and `prdDraft` is null: ask something, or give a draft");
  }
  return { status: "valid", envelope: result.data };
}

function invalid(...errors: readonly string[]): EnvelopeResult {
  return { status: "invalid", errors };
}
