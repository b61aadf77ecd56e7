import { checksOnce } from "../../checks_once.ts";
import { verifyCommands } from "../../../backlog/verify_commands.ts";
import { placeholderProblems, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { parsePlan, problemsOf, tasksOf } from "../plan_file.ts";
import { PLAN_FILE } from "../types.ts";
import type { Check, Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { openRepository } from "../../../git/open_repository.ts";
import { unknownDependencies } from "../ids.ts";
import { specBacklog } from "../backlog.ts";

/** The plan: lines that cannot be read, tasks that wait for each other or for none, commands that check nothing. */
export async function validatePlanFile({ root, host }: Validated): Promise<ValidatedFile> {
  return await validateFile(root, PLAN_FILE, {
    missing: ["`ralph plan SPEC.md` writes it"],
    async check(text) {
      const plan = parsePlan(text, PLAN_FILE);
      const repository = await openRepository(host, root);
      return {
        problems: problemsOf(plan).map(({ line, problem }) => `line ${line}: ${problem}`),
        empty: tasksOf(plan).flatMap(({ id, accept, line }) =>
          placeholderProblems(`line ${line}: ${id}`, verifyCommands(accept))
        ),
        warnings: await unknownDependencies(plan, { root, repository }),
      };
    },
  });
}

/** The checks of every task that is done or was accepted last, each command once, then `verify.default`. */
export async function verifyTasks(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // `ralph validate` runs no check
  const backlog = specBacklog(ralph);
  const passed = ralph.journal.passed({ backlog: backlog.name, scope: "" });
  const asked = (await backlog.passed?.({ parked: [], passed }) ?? []).flatMap(({ checks }) =>
    checks.filter(({ scope = "" }) => scope !== "")
  );
  const shared = ralph.config.verify.default.map((command): Check => ({ name: command, command }));
  return await verify(ralph, checksOnce([...asked, ...shared]));
}
