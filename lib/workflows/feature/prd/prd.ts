import { askingEnds, planning } from "../../planner_turn.ts";
import { type FeatureDirectory, listFeatures, matchFeature, newDirectory, scaffoldFeature } from "../directories.ts";
import { localDate } from "../../../host/local_date.ts";
import type { RalphContext } from "../../../context/context.ts";
import type { Choice } from "../../../context/prompter.ts";
import type { Outcome } from "../../../recipe/outcome.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { editFile, type PrdState, prdState } from "./files.ts";
import { finalize } from "./finalize.ts";
import type { PrdOutcome } from "./turn.ts";
import { writeMarkdown } from "./write_markdown.ts";

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
    note(ralph, `Starting PRD for "${feature.name}"...`);
    await scaffoldFeature(ralph.root);
    const written = await writeMarkdown(ralph, feature, null);
    return written.status === "written" ? await offerToFinalize(ralph, feature) : written;
  });
}

async function offerToFinalize(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  note(ralph, `Saved to ${feature.markdownFile}`);
  const question = { id: "prd.finalize", kind: "confirm", message: "Ready to finalize?", initial: false } as const;
  const answer = await ralph.prompter.ask(question);
  if (answer.value === "yes") return await finalized(ralph, feature);
  return later(ralph, feature, "info", (again) => `Run '${again}' to continue`);
}

async function finalized(ralph: RalphContext, feature: FeatureDirectory): Promise<PrdOutcome> {
  const state = await prdState(ralph, feature);
  if (state.status === "new") {
    return { status: "failed", reason: "no-prd", reasons: [`${feature.markdownFile} does not exist`] };
  }
  const result = await finalize(ralph, feature, state.markdown);
  if (result.status !== "finalized") return result;
  note(ralph, `Ready! Run '${ralph.again(`ralph run ${feature.name}`)}'`);
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
    note(ralph, `PRD is ready: ${feature.path}/; run '${ralph.again(`ralph run ${feature.name}`)}'`);
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
  ralph.events.emit({ type: "note", level, message: say(again) });
  return { status: "declined", next: [again] };
}

function note({ events }: RalphContext, message: string): void {
  events.emit({ type: "note", level: "info", message });
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
