import { join } from "node:path";
import type { FeatureDirectory } from "../directories.ts";
import type { RalphContext } from "../../../context/context.ts";
import { ensureDirectory, readText } from "../../../host/files.ts";
import { renderPrompt } from "../../../prompts/render.ts";
import { type PrdFailure, prdTurn } from "./turn.ts";

/** Ralph asks a person this before the first turn at a PRD that is there. */
const IMPROVE = {
  message: "What would you like to improve?",
  placeholder: "nothing: an empty answer ends it",
} as const;

/** Rounds of questions and answers, after which the agent is told to write. */
const MOST_ROUNDS = 10;

/**
 * Lets the agent write or refine prd.md: in the terminal, handed over, where it can talk; else turn by turn, each answer
 * of the agent a question to the person, until the file is written.
 *
 * @param markdown what is there, or `null` for a new PRD
 */
export async function writeMarkdown(
  ralph: RalphContext,
  feature: FeatureDirectory,
  markdown: string | null,
): Promise<{ readonly status: "written" } | PrdFailure> {
  const path = join(ralph.root, feature.markdownFile);
  await ensureDirectory(join(ralph.root, feature.path));
  const prompt = (conversation: string): Promise<string> =>
    renderPrompt(markdown === null ? "feature_prd_create" : "feature_prd_refine", {
      feature: feature.name,
      file: feature.markdownFile,
      datetime: feature.date,
      prdContent: markdown ?? "",
      conversation,
    }, { root: ralph.root });

  if (ralph.agent.interactive === true && ralph.host.terminal.interactive && ralph.prompter.interactive) {
    const message = `handing the terminal over to ${ralph.agent.name}; end its session to come back`;
    ralph.events.emit({ type: "note", level: "info", message });
    const turn = await prdTurn(ralph, feature, {
      prompt: await prompt("It begins now, in this terminal."),
      name: "prd-session",
      interactive: true,
    });
    const written = await readText(path);
    if (turn.status === "answered" && written !== null && written.trim() !== "") return { status: "written" };
    return turn.status === "answered" ? nothingWritten(feature) : turn;
  }

  const lines: string[] = [];
  if (markdown !== null) { // before a turn is paid for, only to ask the same
    const wish = await ralph.prompter.ask({ id: "prd.improve", kind: "text", fromAgent: true, ...IMPROVE });
    if (wish.value.trim() === "") return { status: "written" };
    lines.push(`You: ${IMPROVE.message}`, `The user: ${wish.value}`);
  }
  for (let round = 1; round <= MOST_ROUNDS + 1; round++) {
    const last = round > MOST_ROUNDS ? "\n\nEnough was asked: write the file now." : "";
    const said = lines.length === 0
      ? "Nothing was said yet."
      : `${lines.join("\n\n")}\n\nAsk only what is still open; when nothing is, write the file.`;
    const turn = await prdTurn(ralph, feature, { prompt: await prompt(said + last), name: `prd-${round}` });
    if (turn.status !== "answered") return turn;
    const written = await readText(path);
    if (written !== null && written.trim() !== "" && written !== markdown) return { status: "written" };
    if (round > MOST_ROUNDS) break;
    const question = turn.text.trim() === "" ? "What should the feature do?" : turn.text.trim();
    const answer = await ralph.prompter.ask({
      id: `prd.answer-${round}`,
      kind: "text",
      message: question,
      ...(markdown === null ? {} : { placeholder: IMPROVE.placeholder }),
      fromAgent: true,
    });
    if (markdown !== null && answer.value.trim() === "") return { status: "written" }; // nothing more to improve
    lines.push(`You: ${question}`, `The user: ${answer.value}`);
  }
  return nothingWritten(feature);
}

function nothingWritten({ markdownFile }: FeatureDirectory): PrdFailure {
  return { status: "failed", reason: "no-prd", reasons: [`${markdownFile} was not written`] };
}
