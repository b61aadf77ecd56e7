import type { Answer } from "../../../context/context.ts";
import { quoted as fenced } from "../../../prompts/render.ts";
import type { Prd } from "../types.ts";
import { draftProblems, MAX_ROUNDS, readPrd, withOwnFields } from "./turn.ts";
import * as planning from "./state.ts";
import type { PlanState } from "./schema.ts";
import { z } from "zod";
import { endedWith } from "../../../backlog/last_line.ts";
import { findJsonError } from "../../../errors/json_syntax.ts";
import { objectsIn } from "../../answer_objects.ts";
import { isPlain, keyErrors, tryJson } from "../../plain.ts";

/** Characters of a refused answer that the agent is shown again. */
const REPLY_CHARACTERS = 20_000;

/** Why an answer cannot be used. */
export interface Refusal {
  readonly reason: "invalid-envelope" | "invalid-prd";
  readonly errors: readonly string[];
}

/** Puts the agent's open questions to the person, one by one; each answer is saved before the next question. */
export async function askPending(session: planning.PlanSession): Promise<void> {
  const total = session.state.pendingQuestions.length;
  for (;;) {
    const [question] = session.state.pendingQuestions;
    if (question === undefined) return;
    const askedAt = session.now();
    const number = total - session.state.pendingQuestions.length + 1;
    const answer = await session.ralph.prompter.ask({
      id: "plan.question",
      kind: "text",
      message: question,
      ...(total === 1 ? {} : { details: [`Question ${number} of ${total}`] }),
      fromAgent: true,
    });
    const pendingQuestions = session.state.pendingQuestions.slice(1);
    await saveAnswer(session, { question, askedAt, ...answer }, { pendingQuestions });
  }
}

/** Saves an answer, and what else changes by it. */
export async function saveAnswer(
  session: planning.PlanSession,
  { question, askedAt, value, source }: Answer & Pick<PlanState["qa"][number], "askedAt" | "question">,
  changes: Partial<PlanState>,
): Promise<void> {
  const { qa } = session.state;
  const answer = { id: `q-${qa.length + 1}`, question, answer: value, askedAt };
  await session.save({ ...changes, qa: [...qa, answer] }, [answerEntry(question, value, source)]);
}

/** The transcript's entry for a question and its answer. */
export function answerEntry(question: string, answer: string, source: string): planning.Said {
  const from = { answers: " (from the answers file)", default: " (default)" }[source] ?? "";
  return {
    heading: "Question",
    body: [planning.quoted(question), "", `Answer${from}:`, "", planning.quoted(answer === "" ? "(none)" : answer)],
  };
}

/** Takes an answer of the agent: questions to ask, a draft to review, or `Refusal` when it is neither. */
export async function takeReply(session: planning.PlanSession, text: string): Promise<Refusal | null> {
  const result = parseEnvelope(text);
  if (result.status === "invalid") return await refuse(session, text, "invalid-envelope", result.errors);
  const { questions, uncertainties, prdDraft, recommendUnderstand } = result.envelope;
  const said: planning.Said = { heading: "Agent's answer", body: [fenced(text.trim(), "json")] };
  const known = session.state.uncertainties.filter(({ topic }) =>
    !uncertainties.some((other) => other.topic === topic)
  );
  const learned: Partial<PlanState> = { uncertainties: [...known, ...uncertainties], recommendUnderstand };
  const taken: Partial<PlanState> = { ...learned, attempts: 0, refused: null };

  if (questions.length > 0) {
    if (session.state.rounds >= MAX_ROUNDS) {
      const error = `no more questions after ${MAX_ROUNDS} rounds: \`questions\` must be empty and \`prdDraft\` a PRD`;
      return await refuse(session, text, "invalid-envelope", [error], learned);
    }
    const rounds = session.state.rounds + 1;
    await session.save({ ...taken, state: "collect_context", pendingQuestions: questions, rounds }, [said]);
    return null;
  }

  const problems = await draftProblems(session, prdDraft);
  if (problems.length > 0) {
    return await refuse(session, text, "invalid-prd", problems, { ...learned, state: "draft_prd" });
  }
  const kept = session.state.existing === "update" ? await readPrd(session.ralph) : null;
  await session.save({ ...taken, state: "review_prd", lastPrdDraft: withOwnFields(prdDraft as Prd, kept) }, [said]);
  return null;
}

async function refuse(
  session: planning.PlanSession,
  text: string,
  reason: Refusal["reason"],
  errors: readonly string[],
  learned: Partial<PlanState> = {},
): Promise<Refusal> {
  const heading = `Agent's answer, ${reason === "invalid-prd" ? "with a draft that was refused" : "refused"}`;
  const body = [fenced(text.trim()), "", ...errors.map((error) => `- ${error}`)];
  const refused = { errors, reply: text.trim().slice(-REPLY_CHARACTERS) };
  await session.save({ ...learned, attempts: session.state.attempts + 1, refused }, [{ heading, body }]);
  return { reason, errors };
}

/** An envelope, or what is wrong with the answer. */
type EnvelopeResult =
  | { readonly status: "valid"; readonly envelope: z.infer<typeof SCHEMA> }
  | { readonly status: "invalid"; readonly errors: readonly string[] };

const KEYS = ["prdDraft", "questions", "recommendUnderstand", "uncertainties"];
const KEY_WORDS = ["missing keys", "unexpected keys"] as const;
const FENCE_REGEXP = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i;
const SHAPE = "the whole answer must be one JSON object, with no words around it";

const filled = z.string().trim().min(1, "must not be empty");
/** One turn's answer of the planner's agent. The draft is not validated yet; it is `null` while the agent asks. */
const SCHEMA = z.object({
  questions: z.array(filled).transform((questions) => [...new Set(questions)]),
  uncertainties: z.array(z.object({ topic: z.string(), reason: z.string(), evidenceMissing: z.string() })),
  prdDraft: z.unknown(),
  recommendUnderstand: z.object({ shouldRun: z.boolean(), reasons: z.array(z.string()) }),
});

/** Reads an agent's answer: one JSON object with exactly the four keys, wherever in the answer it is. */
function parseEnvelope(answer: string): EnvelopeResult {
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
  if (result.data.questions.length === 0 && result.data.prdDraft === null) {
    return invalid("`questions` is empty and `prdDraft` is null: ask something, or give a draft");
  }
  return { status: "valid", envelope: result.data };
}

function invalid(...errors: readonly string[]): EnvelopeResult {
  return { status: "invalid", errors };
}
