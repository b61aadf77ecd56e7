import { z } from "zod";
import { endedWith } from "../../../backlog/last_line.ts";
import { findJsonError } from "../../../errors/json_syntax.ts";
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
const FENCE_REGEXP = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i;
const SHAPE = "the whole answer must be one JSON object, with no words around it";
/** Beginnings of an object that are tried: an answer full of braces is not searched for ever. */
const TRIES = 500;

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
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    const objects = envelopesIn(trimmed);
    if (objects.length === 1) return parsed(objects[0]!);
    if (objects.length > 1) return invalid(`the answer holds ${objects.length} JSON objects of this form: ${SHAPE}`);
    const found = findJsonError(text);
    const place = found === null ? "" : ` (line ${found.line}, column ${found.column}: expected ${found.expected})`;
    return invalid(`not valid JSON${place}: ${SHAPE}${endedWith(trimmed.split("\n"))}`);
  }
  return parsed(data);
}

/** The objects within a text that have the keys of an envelope. */
function envelopesIn(text: string): readonly object[] {
  const found: object[] = [];
  let tries = 0;
  for (let start = text.indexOf("{"); start !== -1 && tries < TRIES; start = text.indexOf("{", start + 1)) {
    if (!/^\{\s*"/.test(text.slice(start, start + 200))) continue;
    tries += 1;
    const end = endOfObject(text, start);
    const object = end === null ? null : objectOf(text.slice(start, end));
    if (object === null || keyErrors(Object.keys(object)).length > 0) continue;
    found.push(object);
    start = end! - 1;
  }
  return found;
}

/** The end of the object that begins there: braces within strings do not count. */
function endOfObject(text: string, start: number): number | null {
  const tokens = /"(?:[^"\\]|\\[\s\S])*"|[{}]/g;
  tokens.lastIndex = start;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    if (token[0] === "{") depth += 1;
    if (token[0] === "}") depth -= 1;
    if (depth === 0) return tokens.lastIndex;
  }
  return null;
}

function objectOf(text: string): object | null {
  try {
    return JSON.parse(text) as object;
  } catch {
    return null; // braces of something else
  }
}

function parsed(data: unknown): EnvelopeResult {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return invalid(SHAPE);
  const keys = keyErrors(Object.keys(data));
  if (keys.length > 0) return invalid(...keys);
  const result = SCHEMA.safeParse(data);
  if (!result.success) {
    return invalid(...result.error.issues.map((issue) => `${placeOf(issue.path)}: ${issue.message}`));
  }
  const { questions, prdDraft } = result.data;
  if (questions.length === 0 && prdDraft === null) {
    return invalid("`questions` is empty and `prdDraft` is null: ask something, or give a draft");
  }
  return { status: "valid", envelope: result.data };
}

function keyErrors(keys: readonly string[]): readonly string[] {
  const missing = KEYS.filter((key) => !keys.includes(key));
  const unexpected = keys.filter((key) => !KEYS.includes(key)).toSorted();
  return [
    ...(missing.length > 0 ? [`missing keys: ${missing.join(", ")}`] : []),
    ...(unexpected.length > 0 ? [`unexpected keys: ${unexpected.join(", ")}`] : []),
  ];
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.map((part, index) => typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`)
    .join("");
}

function invalid(...errors: readonly string[]): EnvelopeResult {
  return { status: "invalid", errors };
}
