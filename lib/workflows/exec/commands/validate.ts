import { storyCommands } from "../../../backlog/verify_commands.ts";
import {
  type FileFindings,
  placeholderProblems,
  type ValidatedFile,
  validateFile,
} from "../../../cli/validated_file.ts";
import type { Config } from "../../../config/types.ts";
import type { Validated } from "../../workflow.ts";
import { parsePrd } from "../format.ts";
import { findExternal, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";

/** The PRD and the planner's state. */
export async function validateExec({ root, config }: Validated): Promise<readonly ValidatedFile[]> {
  const external = (await findExternal(root)).map(importHint);
  return [
    await validateFile(root, PRD_FILE, {
      missing: external.length > 0 ? external : ['`ralph plan "<goal>"` writes it'],
      check: (text) => prdFindings(text, config),
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

function prdFindings(text: string, config: Config | null): FileFindings {
  const { userStories } = parsePrd(text, PRD_FILE);
  const ids = new Set<string>();
  const duplicates = userStories.filter(({ id }) => ids.has(id) || ids.add(id) === undefined);
  const unchecked = config === null || config.verify.default.length > 0
    ? []
    : userStories.filter((story) => !story.passes && storyCommands(story).length === 0);
  return {
    problems: [
      ...userStories.flatMap((story) => placeholderProblems(story.id, storyCommands(story))),
      ...new Set(duplicates.map(({ id }) => `${id}: this id is used more than once`)),
    ],
    warnings: unchecked.map(({ id }) => `${id}: names no check and cannot pass`),
  };
}
