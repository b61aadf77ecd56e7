import { afterWords, fillPrompt, findPrompt, type PromptValuesOf, quoted, windowed } from "../../prompts/render.ts";
import type { Attempt, Check } from "../../backlog/types.ts";
import type { SprintItemData, SprintProgress } from "./types.ts";

/** The parts of an iteration's prompt. */
export interface SprintPromptContext extends Pick<SprintItemData, "iteration" | "mode" | "step"> {
  readonly root: string;
  readonly progress: SprintProgress;
  /** Path of PROGRESS.yaml, relative to the root. */
  readonly file: string;
  readonly checks: readonly Check[];
  readonly nonce: string;
  readonly previous: Attempt | null;
  readonly parked: readonly string[];
}

const NAMES = { planning: "sprint_goal", executing: "sprint_step", reflecting: "sprint_reflection" } as const;

/** Characters of a step in the list. */
const LINE = 300;

/** The prompt of one iteration. The workflow's own text goes before the built-in one. */
export async function sprintPrompt(context: SprintPromptContext): Promise<string> {
  const { root, mode, progress, step, iteration, file, checks } = context;
  const shared: PromptValuesOf<"sprint_complete"> = {
    goal: quoted(progress.goal),
    steps: stepsOf(progress, context),
    id: step?.id ?? "",
    step: step === null ? "None." : quoted(`${step.id}: ${step.prompt}`),
    iteration: String(iteration),
    nonce: context.nonce,
    file,
    checks: checks.length === 0
      ? "Nothing: no check is configured, so a sprint that ends is shown as unverified."
      : checks.map(({ name }) => `- \`${name}\``).join("\n"),
    failure: failureOf(progress, context.previous),
  };
  const isStandard = progress.kind === "standard";
  const ending = isStandard ? "" : fillPrompt((await findPrompt("sprint_complete", { root })).text, shared).trimEnd();
  const ruled = { ...shared, ending } satisfies PromptValuesOf<"sprint_rules">;
  const rules = fillPrompt((await findPrompt("sprint_rules", { root })).text, ruled).replaceAll(/\n{3,}/g, "\n\n");
  const item = [
    `The goal:\n\n${shared.goal}`,
    ...(step === null ? [] : [`The step of this iteration:\n\n${shared.step}`]),
    `All steps:\n\n${shared.steps}`,
    rules,
  ].join("\n\n");
  const own =
    { planning: progress.goalPrompt, executing: progress.stepPrompt, reflecting: progress.reflectionPrompt }[mode];
  const text = own ?? (await findPrompt(isStandard ? "sprint_phase" : NAMES[mode], { root })).text;
  return fillPrompt(text, { ...shared, rules, item } satisfies PromptValuesOf<"sprint_goal">);
}

function stepsOf({ steps }: SprintProgress, { step, parked }: Pick<SprintPromptContext, "parked" | "step">): string {
  if (steps.length === 0) return "None yet.";
  const lines = steps.map(({ id, prompt, status }) =>
    `- ${id} (${parked.includes(id) ? "given up" : status}): ${(prompt.trim().split("\n")[0] ?? "").slice(0, LINE)}`
  );
  const at = steps.findIndex(({ id, status }) => step === null ? status === "pending" : id === step.id);
  return windowed(lines, { at: at === -1 ? lines.length - 1 : at, rest: "`ralph step list`" });
}

function failureOf({ exit }: SprintProgress, previous: Attempt | null): string {
  const parts: string[] = [];
  const words = "The last claim that the goal was reached did not count:";
  if (exit.lastFailure !== null) parts.push(afterWords(words, exit.lastFailure));
  if (previous !== null && "message" in previous) parts.push(afterWords("The last attempt at this:", previous.message));
  return parts.join("\n\n");
}
