import { join } from "node:path";
import { placeholderProblems, problemOf, type ValidatedFile } from "../../../cli/validated_file.ts";
import { pathExists } from "../../../host/files.ts";
import type { Validated } from "../../workflow.ts";
import { PLANNING_DIRECTORY } from "../paths.ts";
import { circleLine, positionOf } from "../position.ts";
import { planNotes } from "../plan_notes.ts";
import { readPlanning } from "../read_planning.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { planChecks, uncheckedLines, uncheckedPlans } from "../checks.ts";

/**
 * Lists the places in `.planning/` that the readers do not understand; none of them keeps a plan from being run as it
 * is read.
 */
export async function validatePlanning({ root, config }: Validated): Promise<readonly ValidatedFile[]> {
  const path = PLANNING_DIRECTORY;
  try {
    const planning = await readPlanning({ root });
    const { diagnostics } = planning;
    const { circles, open } = positionOf(planning);
    const empty = open.flatMap((plan) => {
      const plain = planChecks(plan, [], { skip: true }).filter(({ expect }) => expect === undefined);
      return placeholderProblems(plan.id, plain.flatMap(({ command }) => command ?? []));
    });
    const problems = [...circles.map(circleLine), ...empty];
    const warnings = [
      ...uncheckedLines(uncheckedPlans(open, config?.verify.default ?? []), open.length),
      ...open.flatMap(planNotes),
    ];
    const files = [...new Set(diagnostics.map(({ file }) => file))];
    const found = files.map(async (file) => ({
      path: file,
      present: await pathExists(join(root, file)),
      problems: [],
      warnings: diagnostics.filter((one) => one.file === file).map(({ line, message }) =>
        line === 0 ? message : `line ${line}: ${message}`
      ),
    }));
    return [{ path, present: true, problems, warnings, empty }, ...await Promise.all(found)];
  } catch (error) {
    return [{ path, present: await pathExists(join(root, path)), problems: [problemOf(error, path)], warnings: [] }];
  }
}

/** The checks of every plan that is complete, then `verify.default`. Checkpoints are a person's. */
export async function verifyPlans(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // `ralph validate` runs no check
  const { phases } = await readPlanning(ralph);
  const complete = phases.flatMap(({ plans }) => plans).filter(({ completion }) => completion.done);
  const checks = complete.flatMap((plan) =>
    planChecks(plan, [], { skip: true }).map((check) => ({
      ...check,
      name: `${plan.id} ${check.name}`,
      scope: plan.id,
    }))
  );
  return await verify(ralph, [...checks, ...ralph.config.verify.default]);
}
