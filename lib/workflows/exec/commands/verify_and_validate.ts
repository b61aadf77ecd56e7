import { inOrder, storyFindings } from "../../stories.ts";
import { storyChecks } from "../checks.ts";
import { checksOnce } from "../../checks_once.ts";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { type FileFindings, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { parsePrd } from "../format.ts";
import { findExternal, hintForPrd, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { parseJson } from "../../../errors/json_syntax.ts";
import type { Prd } from "../types.ts";
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
    const hint = hintForPrd(text);
    return { problems: [...problems, ...hint === null ? [] : [hint]], warnings: [] };
  }
  const { branchName, userStories } = data as Prd;
  const ids = new Set<string>();
  const twice = userStories.filter(({ id }) => ids.has(id) || ids.add(id) === undefined);
  const isUnshared = config !== null && config.verify.default.length === 0;
  const stories = userStories.map((story) => {
    const own = storyCommands(story);
    return { story, own, unchecked: isUnshared && own.length === 0 };
  });
  const found = await storyFindings(validated, branchName, stories);
  const duplicates = new Set(twice.map(({ id }) => `${id}: this id is used more than once`));
  return { ...found, problems: [...found.problems, ...duplicates] };
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
  if (text === null) return await verify(ralph, [...new Set(commands)]);
  const stories = inOrder(parsePrd(text, PRD_FILE).userStories);
  return await verify(ralph, checksOnce(stories.flatMap((story) => storyChecks(story, ralph.config))));
}
