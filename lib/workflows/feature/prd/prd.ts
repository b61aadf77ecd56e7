import { type Choice, note, type RalphContext } from "../../../context/context.ts";
import { askingEnds, planning } from "../../planner_turn.ts";
import { type FeatureDirectory, listFeatures, matchFeature, newDirectory, scaffoldFeature } from "../directories.ts";
import { localDate } from "../../../host/local_date.ts";
import type { Outcome } from "../../../recipe/outcome.ts";
import { requireRepository } from "../../../git/repository.ts";
import { finalize } from "./finalize.ts";
import { type PrdFailure, type PrdOutcome, prdTurn } from "./turn.ts";
import { join } from "node:path";
import { parseFeaturePrd } from "../format.ts";
import { readOrError } from "../../read_or_error.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { ensureDirectory, hashText, readText, resolveInside } from "../../../host/files.ts";
import { shellInvocation } from "../../../host/shell.ts";
import { renderPrompt } from "../../../prompts/render.ts";

/** Which feature. */
export interface PrdOptions {
  /** Made where there is none of that name. */
  readonly feature: string;
  /** "Start execution" runs this. */
  readonly run?: () => Promise<Outcome>;
}

type Action = "refine" | "finalize" | "edit" | "edit-json" | "run";

/**
 * A feature's PRD, from its present state: written with the agent, refined, finalized to prd.json, edited manually, or
 * worked off. One action a call; the answers file names the questions `prd.action` and `prd.finalize`.
 *
 * @throws {RalphError} usage, agent-missing, agent-not-found, not-a-repository, run-locked, editor-missing
 *
 * @example Without an agent there is nothing to write it with
 * ```ts
 * import { prd } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext();
 * const outcome = await prd(ralph, { feature: "hello" });
 * console.log(outcome.status); // failed
 * ```
 */
export async function prd(ralph: RalphContext, { feature: name, run }: PrdOptions): Promise<PrdOutcome> {
  requireRepository(ralph);
  const feature = matchFeature(await listFeatures(ralph.root), name) ??
    newDirectory(name, localDate(ralph.host.clock.now()));
  return await askingEnds(() => act(ralph, feature, run));
}

async function act(ralph: RalphContext, feature: FeatureDirectory, run: PrdOptions["run"]): Promise<PrdOutcome> {
  const state = await prdState(ralph, feature);
  if (state.status === "new") return await create(ralph, feature);
  const action = await askForAction(ralph, feature, state);
  switch (action) {
    case "refine":
      return await planning(ralph, "prd", async () => {
        const refined = await writeMarkdown(ralph, feature, state.markdown);
        return refined.status === "written" ? await offerToFinalize(ralph, feature) : refined;
      });
    case "finalize":
      return await planning(ralph, "prd", () => finalized(ralph, feature));
    case "edit":
    case "edit-json": {
      const edited = await editFile(ralph, action === "edit" ? feature.markdownFile : feature.prdFile);
      return edited.status === "edited" ? await afterEdit(ralph, feature) : edited;
    }
    case "run":
      return run === undefined ? ready(ralph, feature) : await run();
  }
}

/** The checks that every story must pass are tried before the agent's first turn is paid for. */
async function create(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  return await planning(ralph, "prd", async () => {
    const { baselineOf } = await import("../../../loop/run/baseline.ts");
    const logs = `${await ralph.run.folder(".ralph/runs")}/baseline`;
    const tried = await baselineOf(ralph, [], { logs, signal: ralph.signal });
    if (tried.status !== "known") return tried;
    note(ralph, "info", `Starting PRD for "${feature.name}"...`);
    await scaffoldFeature(ralph.root);
    const written = await writeMarkdown(ralph, feature, null);
    return written.status === "written" ? await offerToFinalize(ralph, feature) : written;
  });
}

async function offerToFinalize(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  note(ralph, "info", `Saved to ${feature.markdownFile}`);
  const question = { id: "prd.finalize", kind: "confirm", message: "Ready to finalize?", initial: false } as const;
  if ((await ralph.prompter.ask(question)).value === "yes") return await finalized(ralph, feature);
  return later(ralph, feature, "info", (again) => `Run '${again}' to continue`);
}

async function finalized(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  const state = await prdState(ralph, feature);
  if (state.status === "new") {
    return { status: "failed", reason: "no-prd", reasons: [`${feature.markdownFile} does not exist`] };
  }
  const result = await finalize(ralph, feature, state.markdown);
  if (result.status !== "finalized") return result;
  note(ralph, "info", `Ready! Run '${ralph.again(`ralph run ${feature.name}`)}'`);
  return ready(ralph, feature);
}

function ready(ralph: RalphContext, feature: FeatureDirectory): PrdOutcome {
  const next = [ralph.again(`ralph run ${feature.name}`)];
  return { status: "approved", feature: feature.name, file: feature.prdFile, next };
}

/** After a manual edit: says whether the result can be used. */
async function afterEdit(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  const state = await prdState(ralph, feature);
  if (state.status === "final") {
    note(ralph, "info", `PRD is ready: ${feature.path}/; run '${ralph.again(`ralph run ${feature.name}`)}'`);
    return ready(ralph, feature);
  }
  const problem = state.status === "draft" ? state.reason : `${feature.markdownFile} is empty`;
  return later(ralph, feature, "warn", (again) => `${problem}; run '${again}' to continue`);
}

function later(
  ralph: RalphContext,
  { name }: FeatureDirectory,
  level: "info" | "warn",
  say: (again: string) => string,
): PrdOutcome {
  const again = ralph.again(`ralph prd ${name}`);
  note(ralph, level, say(again));
  return { status: "declined", next: [again] };
}

async function askForAction(
  ralph: RalphContext,
  feature: FeatureDirectory,
  state: Exclude<PrdState, { readonly status: "new" }>,
): Promise<Action> {
  const isFinal = state.status === "final";
  const choices: readonly Choice[] = isFinal
    ? [
      { value: "refine", label: "A) Refine further" },
      { value: "finalize", label: "B) Update prd.json" },
      { value: "edit", label: "C) Edit markdown ($EDITOR)" },
      { value: "edit-json", label: "D) Edit prd.json ($EDITOR)" },
      { value: "run", label: "E) Start execution (ralph run)" },
    ]
    : [
      { value: "refine", label: "A) Keep refining" },
      { value: "finalize", label: "B) Finalize for execution" },
      { value: "edit", label: "C) Edit manually ($EDITOR)" },
    ];
  const answer = await ralph.prompter.ask({
    id: "prd.action",
    kind: "select",
    message: "What would you like to do?",
    details: [isFinal ? `PRD is ready: ${feature.path}/` : `PRD exists: ${feature.markdownFile} (${state.reason})`],
    choices,
  });
  return answer.value as Action;
}

/** How far a feature's PRD has come. */
type PrdState =
  /** There is no prd.md. */
  | { readonly status: "new" }
  /** There is, and no prd.json that was made of it. `reason` says why it does not count. */
  | { readonly status: "draft"; readonly markdown: string; readonly reason: string }
  | { readonly status: "final"; readonly markdown: string };

/** Reads how far a feature has come. A valid prd.json without the sha256 of its prd.md matches. */
async function prdState({ root }: Pick<RalphContext, "root">, feature: FeatureDirectory): Promise<PrdState> {
  const markdown = await readText(join(root, feature.markdownFile));
  if (markdown === null || markdown.trim() === "") return { status: "new" };
  const text = await readText(join(root, feature.prdFile));
  if (text === null) return { status: "draft", markdown, reason: "not finalized yet" };
  const { value: prd, error } = await readOrError(() => parseFeaturePrd(text, feature.prdFile));
  if (prd === null) return { status: "draft", markdown, reason: error.message };
  if (prd.prdSha256 === undefined || prd.prdSha256 === hashText(markdown)) return { status: "final", markdown };
  return { status: "draft", markdown, reason: "prd.md has changed since prd.json was made of it" };
}

/**
 * Opens a file in the person's own editor, $VISUAL before $EDITOR, with the terminal handed over.
 *
 * @param path relative to the root
 * @throws {RalphError} editor-missing
 */
async function editFile(
  { host, root, signal }: RalphContext,
  path: string,
): Promise<{ readonly status: "edited" } | PrdFailure> {
  const { VISUAL, EDITOR } = host.environment.variables;
  const editor = [VISUAL, EDITOR].find((value) => value !== undefined && value.trim() !== "");
  if (editor === undefined) throw new RalphError("editor-missing", { details: { path } });
  const file = `'${join(root, path).replaceAll("'", `'\\''`)}'`;
  const shell = await shellInvocation(`${editor} ${file}`, host.environment);
  const end = await host.processes.run({ ...shell, cwd: root, terminal: true, signal });
  if (end.reason === "aborted") return { status: "aborted" };
  if (end.reason === "exited" && end.exitCode === 0) return { status: "edited" };
  return {
    status: "failed",
    reason: "editor-failed",
    reasons: [`\`${editor}\` ended with ${end.exitCode ?? end.signal ?? end.reason}`],
  };
}

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
async function writeMarkdown(
  ralph: RalphContext,
  feature: FeatureDirectory,
  markdown: string | null,
): Promise<{ readonly status: "written" } | PrdFailure> {
  const path = join(ralph.root, feature.markdownFile);
  await ensureDirectory(await resolveInside(ralph.root, feature.path));
  const prompt = (conversation: string): Promise<string> =>
    renderPrompt(markdown === null ? "feature_prd_create" : "feature_prd_refine", {
      feature: feature.name,
      file: feature.markdownFile,
      datetime: feature.date,
      prdContent: markdown ?? "",
      conversation,
    }, { root: ralph.root });

  if (ralph.agent.interactive === true && ralph.host.terminal.interactive && ralph.prompter.interactive) {
    note(ralph, "info", `handing the terminal over to ${ralph.agent.name}; end its session to come back`);
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
