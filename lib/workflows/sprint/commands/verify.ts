import type { Check, Verification } from "../../../backlog/types.ts";
import { verify } from "../../../checks/verify.ts";
import type { RalphContext } from "../../../context/context.ts";
import { readSprint } from "../backlog.ts";
import { sprintPaths } from "../paths.ts";
import { directoryOf } from "./place.ts";

/** What every sprint's completion is checked by: `verify.default`. @throws {RalphError} sprint-missing, state-missing, state-invalid for a sprint that is named */
export async function verifySprint(ralph: RalphContext, scope: string): Promise<Verification> {
  if (scope !== "") await readSprint(ralph, sprintPaths(ralph.root, await directoryOf(ralph, scope)).progress);
  const commands = [...new Set(ralph.config.verify.default)];
  return await verify(ralph, commands.map((command): Check => ({ name: command, command })));
}
