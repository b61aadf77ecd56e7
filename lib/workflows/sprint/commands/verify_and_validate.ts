import { type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { readDefinition } from "../definition.ts";
import { readProgress } from "../document.ts";
import { everySprint, sprintDirectory, sprintPaths, SPRINTS_DIRECTORY } from "../paths.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { readSprint } from "../backlog.ts";
import { directoryOf } from "./place.ts";

/** SPRINT.yaml with its workflow, and PROGRESS.yaml, of the sprint that is named or of all. */
export async function validateSprints({ root, scope }: Validated): Promise<readonly ValidatedFile[]> {
  const directories = scope === "" ? await everySprint(root) : [await sprintDirectory(root, root, scope)];
  if (directories.length === 0) {
    const warnings = ["no sprint: `ralph init --workflow sprint` makes a first one"];
    return [{ path: SPRINTS_DIRECTORY, present: false, problems: [], warnings }];
  }
  return (await Promise.all(directories.map((directory) => validateSprint(root, directory)))).flat();
}

async function validateSprint(root: string, directory: string): Promise<readonly ValidatedFile[]> {
  const paths = sprintPaths(root, directory);
  return [
    await validateFile(root, paths.definition, {
      missing: [],
      async check() {
        const { warnings } = await readDefinition(root, paths);
        return { problems: [], warnings };
      },
    }),
    await validateFile(root, paths.progress, {
      missing: [`not compiled yet: \`ralph sprint compile ${directory}\``],
      check(text) {
        const { humanNeeded } = readProgress(text, paths.progress);
        return { problems: [], warnings: humanNeeded === null ? [] : [`a person is needed: ${humanNeeded}`] };
      },
    }),
  ];
}

/**
 * Every sprint's completion is checked by `verify.default`.
 *
 * @throws {RalphError} sprint-missing, state-missing, state-invalid for a sprint that is named
 */
export async function verifySprint(ralph: RalphContext, scope: string): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // `ralph validate` runs no check
  if (scope !== "") await readSprint(ralph, sprintPaths(ralph.root, await directoryOf(ralph, scope)).progress);
  return await verify(ralph, [...new Set(ralph.config.verify.default)]);
}
