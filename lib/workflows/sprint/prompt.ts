import { fillPrompt, findPrompt, type PromptValuesOf } from "../../prompts/render.ts";
import type { Attempt, Check } from "../../backlog/types.ts";
import type { SprintMode, SprintProgress, SprintStep } from "./types.ts";

/** What an iteration's prompt is made of. */
export interface SprintPromptContext {
  readonly root: string;
  readonly mode: SprintMode;
  readonly progress: SprintProgress;
  readonly step: SprintStep | null;
  readonly iteration: number;
  /** Path of PROGRESS.yaml, relative to the root. */
  readonly file: string;
  readonly checks: readonly Check[];
  readonly nonce: string;
  readonly previous: Attempt | null;
  readonly parked: readonly string[];
}

const NAMES = { planning: "sprint_goal", executing: "sprint_step", reflecting: "sprint_reflection" } as const;
/** Of a long sprint the prompt shows the last steps. */
const SHOWN_STEPS = 30;

/** The prompt of one iteration. The workflow's own text goes before the built-in one. */
export async function sprintPrompt(context: SprintPromptContext): Promise<string> {
  const { root, mode, progress, step, iteration, file, checks } = context;
  const shared: PromptValuesOf<"sprint_rules"> = {
    goal: progress.goal.trimEnd(),
    steps: stepsOf(progress, context.parked),
    id: step?.id ?? "",
    step: step === null ? "None." : `${step.id}: ${step.prompt.trimEnd()}`,
    iteration: String(iteration),
    nonce: context.nonce,
    file,
    checks: checks.length === 0
      ? "Nothing: no check is configured, so a claim that the goal is reached is shown as unverified."
      : checks.map(({ name }) => `- \`${name}\``).join("\n"),
    failure: failureOf(progress, context.previous),
  };
  const rules = fillPrompt((await findPrompt("sprint_rules", { root })).text, shared);
  const item = [
    `The goal:\n\n${shared.goal}`,
    ...(step === null ? [] : [`The step of this iteration:\n\n${shared.step}`]),
    `All steps:\n\n${shared.steps}`,
    rules,
  ].join("\n\n");
  const own =
    { planning: progress.goalPrompt, executing: progress.stepPrompt, reflecting: progress.reflectionPrompt }[mode];
  const text = own ?? (await findPrompt(NAMES[mode], { root })).text;
  return fillPrompt(text, { ...shared, rules, item } satisfies PromptValuesOf<"sprint_goal">);
}

function stepsOf({ steps }: SprintProgress, parked: readonly string[]): string {
  if (steps.length === 0) return "None yet.";
  const lines = steps.slice(-SHOWN_STEPS).map(({ id, prompt, status }) =>
    `- ${id} (${parked.includes(id) ? "given up" : status}): ${prompt.trim().split("\n")[0] ?? ""}`
  );
  return [...(steps.length > SHOWN_STEPS ? [`- … ${steps.length - SHOWN_STEPS} earlier ones`] : []), ...lines].join(
    "\n",
  );
}

function failureOf({ exit }: SprintProgress, previous: Attempt | null): string {
  const parts = [
    ...(exit.lastFailure === null
      ? []
      : [`The last claim that the goal was reached did not count: ${exit.lastFailure}`]),
    ...(previous !== null && "message" in previous ? [`The last attempt at this: ${previous.message}`] : []),
  ];
  return parts.length === 0 ? "Nothing." : parts.join("\n\n");
}
