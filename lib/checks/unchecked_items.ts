import type { Check } from "../backlog/types.ts";
import { suggestChecks } from "../backlog/suggest_checks.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";

/** The decision about items that name no check. */
export type UncheckedOutcome =
  /** Continue, with these checks for every item (none where there is nothing to ask, or a claim may settle an item). */
  | { readonly status: "go-on"; readonly checks: readonly Check[] }
  | { readonly status: "blocked"; readonly reasons: readonly string[] };

const CRITERION = "in a criterion of the item, in the form: Verify: `npm test`";

function waysOut(form: string): readonly string[] {
  return [
    'name commands for every item in ralph.config.json: `"verify": { "default": ["npm test"] }`',
    'give one for this run: `--verify "npm test"` (repeatable)',
    `name one ${form}`,
    "or let the agent's word count, marked unverified: `--allow-unverified`",
  ];
}

/**
 * Items that name no check cannot pass. Asks for a command where a person can be asked, with what the project's files
 * suggest; says how to get out of it otherwise. Called before the first turn is paid for.
 *
 * @param unchecked ids of the open items without a check
 * @param form how an item names one
 */
export async function checksForUnchecked(
  ralph: RalphContext,
  unchecked: readonly string[],
  form: string = CRITERION,
): Promise<UncheckedOutcome> {
  if (unchecked.length === 0) return { status: "go-on", checks: [] };
  // A backlog that knows nothing of the configuration: what is named there, or by `--verify`, holds for it as well.
  const named = ralph.config.verify.default.map((command): Check => ({ name: command, command, scope: "run" }));
  if (named.length > 0 || ralph.config.verify.allowUnverified) return { status: "go-on", checks: named };
  const suggested = await suggestChecks(ralph.root);
  const command = await askForCommand(ralph, unchecked, suggested.map((check) => check.command));
  if (command !== "") return { status: "go-on", checks: [{ name: command, command, scope: "run" }] };
  const found = suggested.map((check) => `found in ${check.from}: \`${check.command}\``);
  return { status: "blocked", reasons: [uncheckedLine(unchecked), ...waysOut(form), ...found] };
}

/** `2 items name no check and cannot pass: US-001, US-002` */
export function uncheckedLine(unchecked: readonly string[]): string {
  const many = unchecked.length !== 1;
  return `${unchecked.length} ${many ? "items name" : "item names"} no check and cannot pass: ${unchecked.join(", ")}`;
}

async function askForCommand(ralph: RalphContext, unchecked: readonly string[], suggested: readonly string[]) {
  const first = suggested[0];
  try {
    const answer = await ralph.prompter.ask({
      id: "run.checks",
      kind: "text",
      message: "Which command must succeed for them?",
      details: [uncheckedLine(unchecked), ...suggested.map((command) => `found in the project: ${command}`)],
      // Unasked, a suggestion is not taken: it would be a command that no one agreed to.
      ...(ralph.prompter.interactive && first !== undefined ? { initial: first } : {}),
    });
    return answer.value.trim();
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "answer-missing") return "";
    throw error;
  }
}
