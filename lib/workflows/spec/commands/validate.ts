import { verifyCommands } from "../../../backlog/verify_commands.ts";
import { placeholderProblems, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { findCycle } from "../graph.ts";
import { parsePlan, pendingOf, problemsOf, tasksOf } from "../plan_file.ts";
import { PLAN_FILE } from "../types.ts";

/** The plan: lines that cannot be read, tasks that wait for each other, commands that check nothing. */
export async function validatePlanFile({ root }: Validated): Promise<ValidatedFile> {
  return await validateFile(root, PLAN_FILE, {
    missing: ["`ralph plan SPEC.md` writes it"],
    check(text) {
      const plan = parsePlan(text, PLAN_FILE);
      const cycle = findCycle(pendingOf(plan));
      return {
        problems: [
          ...problemsOf(plan).map(({ line, problem }) => `line ${line}: ${problem}`),
          ...(cycle === null ? [] : [`the tasks depend on each other in a circle: ${cycle.join(" → ")}`]),
          ...tasksOf(plan).flatMap(({ id, accept, line }) =>
            placeholderProblems(`line ${line}: ${id}`, verifyCommands(accept))
          ),
        ],
        warnings: [],
      };
    },
  });
}
