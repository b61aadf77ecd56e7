import { storyCommands } from "../../../backlog/verify_commands.ts";
import {
  branchProblems,
  type FileFindings,
  placeholderProblems,
  type ValidatedFile,
  validateFile,
} from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { parsePrd } from "../format.ts";
import { findExternal, hintForPrd, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";
import type { Check, Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { parseJson } from "../../../errors/json_syntax.ts";
import type { Prd, Story } from "../types.ts";
import { validatePrd } from "../validate.ts";

/** The PRD and the planner's state. */
export async function validateExec(validated: Validated): Promise<readonly ValidatedFile[]> {
  const { root } = validated;
  const external = (await findExternal(root)).map(importHint);
  return [
    await validateFile(root, PRD_FILE, {
      missing: external.length > 0 ? external : ['`ralph plan "<goal>"` writes it'],
      check: (text) => prdFindings(text, validated),
    }),
    await validateFile(root, PLAN_STATE_FILE, {
      missing: [],
      async check(text) {
        (await import("../plan/state.ts")).parsePlanState(text);
        return { problems: [], warnings: [] };
      },
    }),
  ];
}

async function prdFindings(text: string, validated: Validated): Promise<FileFindings> {
  const { config } = validated;
  const data = parseJson(text, PRD_FILE);
  const problems = validatePrd(data);
  if (problems.length > 0) {
    const hint = hintForPrd(text, problems, PRD_FILE);
    return { problems: [...problems, ...hint === null ? [] : [hint]], warnings: [] };
  }
  const { branchName, userStories } = data as Prd;
  const ids = new Set<string>();
  const duplicates = userStories.filter(({ id }) => ids.has(id) || ids.add(id) === undefined);
  const unchecked = config === null || config.verify.default.length > 0
    ? []
    : userStories.filter((story) => !story.passes && storyCommands(story).length === 0);
  return {
    problems: [
      ...await branchProblems(validated, branchName),
      ...userStories.flatMap((story) => placeholderProblems(story.id, storyCommands(story))),
      ...new Set(duplicates.map(({ id }) => `${id}: this id is used more than once`)),
    ],
    warnings: unchecked.map(({ id }) => `${id}: names no check and cannot pass`),
  };
}

/** Every story's checks, each command once; without a PRD those that the configuration names. */
export async function verifyStories(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // `ralph validate` runs no check
  const commands = ralph.config.verify.default;
  const text = await ralph.state.read(PRD_FILE);
  if (text === null && commands.length === 0) {
    throw new RalphError("state-missing", {
      details: { path: PRD_FILE },
      hint: '`ralph plan "<goal>"` writes it; or name commands: `--verify CMD`',
    });
  }
  const checksOf = (more: readonly string[], scope?: string): readonly Check[] =>
    [...new Set([...commands, ...more])].map((command) => ({
      name: command,
      command,
      ...(scope === undefined ? {} : { scope }),
    }));
  if (text === null) return await verify(ralph, checksOf([]));
  const { userStories } = parsePrd(text, PRD_FILE);
  return await verify(ralph, finalChecks(userStories, (story) => checksOf(storyCommands(story), story.id)));
}

/** All stories' checks, each command once; its scope names every story that asks for it. Pure. */
function finalChecks(
  stories: readonly Story[],
  checksOf: (story: Story) => readonly Check[],
): readonly Check[] {
  const byName = new Map<string, { check: Check; readonly ids: string[] }>();
  for (const story of stories.toSorted((one, other) => one.priority - other.priority)) {
    for (const check of checksOf(story)) {
      const earlier = byName.get(check.name);
      if (earlier === undefined) byName.set(check.name, { check, ids: [story.id] });
      else earlier.ids.push(story.id);
    }
  }
  return [...byName.values()].map(({ check, ids }) => ({ ...check, scope: ids.join(",") }));
}
