import { checkDraft, withOwnFields } from "./draft.ts";
import { MAX_ROUNDS, readPrd } from "./prompt_values.ts";
import type { PlanSession, Said } from "./session.ts";
import type { PlanState, Recommendation, Uncertainty } from "./state.ts";
import { codeBlock, quoted } from "./transcript.ts";
import { z } from "zod";
import { findJsonError } from "../../../backlog/json_syntax.ts";

const KEYS = ["prdDraft", "questions", "recommendUnderstand", "uncertainties"];

const FENCE_REGEXP = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i;

const SHAPE = "the whole answer must be one JSON object, with no words around it";

const filled = z.string().trim().min(1, "must not be empty");

const SCHEMA: z.ZodType<Envelope> = z.object({
  questions: z.array(filled).transform((questions) => [...new Set(questions)]),
  uncertainties: z.array(z.object({ topic: z.string(), reason: z.string(), evidenceMissing: z.string() })),
  prdDraft: z.unknown(),
  recommendUnderstand: z.object({ shouldRun: z.boolean(), reasons: z.array(z.string()) }),
});

/** Characters of a refused answer that the agent is shown again. */
const REPLY_CHARACTERS = 20_000;

/** Why an answer cannot be used. */
export interface Refusal {
  readonly reason: "invalid-envelope" | "invalid-prd";
  readonly errors: readonly string[];
}

/** Puts the agent's open questions to the person, one by one; each answer is saved before the next question. */
export async function askPending(session: PlanSession): Promise<void> {
  for (
    let question = session.state.pendingQuestions[0];
    question !== undefined;
    question = session.state.pendingQuestions[0]
  ) {
    const askedAt = session.now();
    const { value, source } = await session.ralph.prompter.ask({
      id: "plan.question",
      kind: "text",
      message: question,
      fromAgent: true,
    });
    const { qa, pendingQuestions } = session.state;
    await session.save(
      {
        qa: [...qa, { id: `q-${qa.length + 1}`, question, answer: value, askedAt }],
        pendingQuestions: pendingQuestions.slice(1),
      },
      [answerEntry(question, value, source)],
    );
  }
}

/** What the transcript says of a question and its answer. */
export function answerEntry(question: string, answer: string, source: string): Said {
  const from = source === "answers" ? " (from the answers file)" : source === "default" ? " (default)" : "";
  return {
    heading: "Question",
    body: [quoted(question), "", `Answer${from}:`, "", quoted(answer === "" ? "(none)" : answer)],
  };
}

/** Takes an answer of the agent: questions to ask, a draft to review, or `Refusal` when it is neither. */
export async function takeReply(session: PlanSession, text: string): Promise<Refusal | null> {
  const result = parseEnvelope(text);
  if (result.status === "invalid") return await refuse(session, text, "invalid-envelope", result.errors);
  const { questions, uncertainties, prdDraft, recommendUnderstand } = result.envelope;
  const said: Said = { heading: "Agent's answer", body: [codeBlock(text.trim(), "json")] };
  const known = session.state.uncertainties.filter(({ topic }) =>
    !uncertainties.some((other) => other.topic === topic)
  );
  const learned: Partial<PlanState> = { uncertainties: [...known, ...uncertainties], recommendUnderstand };

  if (questions.length > 0) {
    if (session.state.rounds >= MAX_ROUNDS) {
      const error = `no more questions after ${MAX_ROUNDS} rounds: \`questions\` must be empty and \`prdDraft\` a PRD`;
      return await refuse(session, text, "invalid-envelope", [error], learned);
    }
    const rounds = session.state.rounds + 1;
    const changes = {
      ...learned,
      state: "collect_context",
      pendingQuestions: questions,
      rounds,
      attempts: 0,
      refused: null,
    } as const;
    await session.save(changes, [said]);
    return null;
  }

  const draft = checkDraft(prdDraft);
  if (draft.status === "invalid") {
    return await refuse(session, text, "invalid-prd", draft.errors, { ...learned, state: "draft_prd" });
  }
  const lastPrdDraft = withOwnFields(draft.prd, session.state.existing === "update" ? await readPrd(session) : null);
  await session.save({ ...learned, state: "review_prd", lastPrdDraft, attempts: 0, refused: null }, [said]);
  return null;
}

async function refuse(
  session: PlanSession,
  text: string,
  reason: Refusal["reason"],
  errors: readonly string[],
  learned: Partial<PlanState> = {},
): Promise<Refusal> {
  const heading = reason === "invalid-prd"
    ? "Agent's answer, with a draft that was refused"
    : "Agent's answer, refused";
  const body = [codeBlock(text.trim()), "", ...errors.map((error) => `- ${error}`)];
  const refused = { errors, reply: text.trim().slice(-REPLY_CHARACTERS) };
  await session.save({ ...learned, attempts: session.state.attempts + 1, refused }, [{ heading, body }]);
  return { reason, errors };
}

/** One turn's answer of the planner's agent. */
interface Envelope {
  readonly questions: readonly string[];
  readonly uncertainties: readonly Uncertainty[];
  /** Not validated yet; `null` while the agent asks. */
  readonly prdDraft: unknown;
  readonly recommendUnderstand: Recommendation;
}

/** An envelope, or what is wrong with the answer. */
type EnvelopeResult =
  | { readonly status: "valid"; readonly envelope: Envelope }
  | { readonly status: "invalid"; readonly errors: readonly string[] };

/** Reads an agent's answer: one JSON object with exactly the four keys; one json fence around all of it is tolerated. */
function parseEnvelope(answer: string): EnvelopeResult {
  const trimmed = answer.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return invalid(`the answer is empty: ${SHAPE}`);
  const text = FENCE_REGEXP.exec(trimmed)?.[1] ?? trimmed;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    const found = findJsonError(text);
    const place = found === null ? "" : ` (line ${found.line}, column ${found.column}: expected ${found.expected})`;
    return invalid(`not valid JSON${place}: ${SHAPE}`);
  }
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
