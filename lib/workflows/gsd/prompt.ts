import { failureOf } from "../../backlog/attempts.ts";
import { type PromptValuesOf, renderPrompt, windowed } from "../../prompts/render.ts";
import type { PromptFacts } from "../stories.ts";
import type { GsdItemData } from "./item_data.ts";

const EARLIER = "What the earlier attempt did is still in the working tree and in git: look before you repeat it.";

/** The prompt for one attempt at one plan. An interactive turn has a person at the terminal. */
export async function planPrompt(
  plan: GsdItemData,
  { root, attempt, nonce, previous, checks, interactive }: PromptFacts & { readonly interactive: boolean },
): Promise<string> {
  return await renderPrompt("gsd_execute", {
    ...named(plan, interactive),
    nonce,
    presence: interactive
      ? "A person is at the terminal: do the checkpoints together with them."
      : "You work autonomously. No human is watching.",
    attempt: String(attempt),
    earlier: attempt === 1 ? "" : EARLIER,
    checks: bullets(
      checks.map(({ name }) => name),
      "Nothing: no check is named for this plan, so your word will be shown as unverified.",
    ),
    not_checkable: bullets(proseOf(plan), "Nothing."),
    failure: previous === null ? "" : failureOf(previous),
  }, { root });
}

/** The prompt that asks for a SUMMARY alone. */
export async function summaryPrompt(
  plan: GsdItemData,
  { root, nonce }: { readonly root: string; readonly nonce: string },
): Promise<string> {
  return await renderPrompt("gsd_summary", { ...named(plan, false), nonce }, { root });
}

function named(plan: GsdItemData, interactive: boolean): Omit<PromptValuesOf<"gsd_summary">, "nonce"> {
  const { id, phase, phaseName, title, file, summaryFile } = plan;
  const tasks = plan.tasks.map(({ number, name, checkpoint }) =>
    checkpoint && !interactive
      ? `${number}. ${name} (a checkpoint for a person: SKIP it, and list it in the SUMMARY under "Skipped checkpoints")`
      : `${number}. ${name}`
  );
  return {
    id,
    phase: phaseName === "" ? phase : `${phase} (${phaseName})`,
    title,
    plan_path: file,
    summary_path: summaryFile,
    item: `${id}: ${title}\n\nThe plan: ${file}`,
    tasks: tasks.length === 0
      ? "The plan has no marked tasks: carry out what its text asks for."
      : windowed(tasks, { rest: `\`${file}\`` }),
  };
}

/** The checks that no machine can run, without those of checkpoints that are left out. */
function proseOf({ tasks, verification }: GsdItemData): readonly string[] {
  return [
    ...tasks.filter(({ checkpoint }) => !checkpoint).flatMap(({ number, notCheckable }) =>
      notCheckable.map((text) => `task ${number}: ${text}`)
    ),
    ...verification.notCheckable.map((text) => `plan: ${text}`),
  ];
}

function bullets(texts: readonly string[], none: string): string {
  return texts.length === 0 ? none : windowed(texts.map((text) => `- ${text}`), { rest: "the plan" });
}
