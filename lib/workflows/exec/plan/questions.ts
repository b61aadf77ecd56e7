import { parseEnvelope } from "./envelope.ts";
import { defaultBranch } from "../../../git/default_branch.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { holdsOtherWork, isBranchName } from "../../../git/switch_branch.ts";
import { idAfter } from "./base.ts";
import { checkDraft, type DraftSurroundings, withOwnFields } from "./draft.ts";
import { MAX_ROUNDS, readPrd } from "./prompt_values.ts";
import type { PlanSession, Said } from "./session.ts";
import type { PlanState } from "./state.ts";
import { codeBlock, quoted } from "./transcript.ts";

/** Characters of a refused answer that the agent is shown again. */
const REPLY_CHARACTERS = 20_000;

/** Why an answer cannot be used. */
export interface Refusal {
  readonly reason: "invalid-envelope" | "invalid-prd";
  readonly errors: readonly string[];
}

/** Puts the agent's open questions to the person, one by one; each answer is saved before the next question. */
export async function askPending(session: PlanSession): Promise<void> {
  const total = session.state.pendingQuestions.length;
  for (;;) {
    const [question] = session.state.pendingQuestions;
    if (question === undefined) return;
    const askedAt = session.now();
    const number = total - session.state.pendingQuestions.length + 1;
    const { value, source } = await session.ralph.prompter.ask({
      id: "plan.question",
      kind: "text",
      message: question,
      ...(total === 1 ? {} : { details: [`Question ${number} of ${total}`] }),
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

/** The transcript's entry for a question and its answer. */
export function answerEntry(question: string, answer: string, source: string): Said {
  const from = { answers: " (from the answers file)", default: " (default)" }[source] ?? "";
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
    const asked = {
      state: "collect_context",
      pendingQuestions: questions,
      rounds,
      attempts: 0,
      refused: null,
    } as const;
    await session.save({ ...learned, ...asked }, [said]);
    return null;
  }

  const draft = await checkDraft(prdDraft, await surroundingsOf(session));
  if (draft.status === "invalid") {
    return await refuse(session, text, "invalid-prd", draft.errors, { ...learned, state: "draft_prd" });
  }
  const lastPrdDraft = withOwnFields(draft.prd, session.state.existing === "update" ? await readPrd(session) : null);
  await session.save({ ...learned, state: "review_prd", lastPrdDraft, attempts: 0, refused: null }, [said]);
  return null;
}

async function surroundingsOf({ ralph, state }: PlanSession): Promise<DraftSurroundings> {
  const { verify } = ralph.config;
  const { branchName, userStories: stories } = await readPrd({ ralph }) ?? { branchName: "", userStories: [] };
  const elsewhere = state.taken.filter((id) => !stories.some((story) => story.id === id));
  const repository = requireRepository(ralph);
  return {
    finished: new Map([
      ...elsewhere.map((id) => [id, null] as const),
      ...stories.filter(({ passes }) => passes).map((story) => [story.id, story] as const),
    ]),
    free: idAfter([...state.taken, ...stories.map(({ id }) => id)]),
    checked: verify.default.length > 0 || verify.allowUnverified,
    async branchProblem(branch) {
      if (!await isBranchName(repository.git, branch)) return `git refuses the branch name ${branch}`;
      if (ralph.loop.branch !== undefined) return null;
      if (branch !== branchName && branch === await defaultBranch(repository)) {
        return `${branch} takes finished work: name another branch`;
      }
      if (!await holdsOtherWork(repository, branch)) return null;
      return `the branch ${branch} exists and holds commits that are not here: name another branch`;
    },
  };
}

async function refuse(
  session: PlanSession,
  text: string,
  reason: Refusal["reason"],
  errors: readonly string[],
  learned: Partial<PlanState> = {},
): Promise<Refusal> {
  const heading = `Agent's answer, ${reason === "invalid-prd" ? "with a draft that was refused" : "refused"}`;
  const body = [codeBlock(text.trim()), "", ...errors.map((error) => `- ${error}`)];
  const refused = { errors, reply: text.trim().slice(-REPLY_CHARACTERS) };
  await session.save({ ...learned, attempts: session.state.attempts + 1, refused }, [{ heading, body }]);
  return { reason, errors };
}
