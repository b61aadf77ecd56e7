import { parsePlanName } from "./file_names.ts";
import { sameNumber } from "./numbers.ts";
import { planList } from "./plan_file.ts";
import type { Diagnostic, Phase } from "./types.ts";

/** Finds the plans that `depends_on` names: `01-01`, `01`, `01-01-PLAN.md`. */
export function withDependencies(phases: readonly Phase[], diagnostics: Diagnostic[]): readonly Phase[] {
  const all = phases.flatMap(({ plans }) => plans);
  return phases.map((phase) => ({
    ...phase,
    plans: phase.plans.map((plan) => ({
      ...plan,
      dependsOn: planList(plan, "depends_on").flatMap((named) => {
        const name = parsePlanName(`${named.replace(/(-PLAN)?(\.md)?$/i, "")}-PLAN.md`, "PLAN");
        const other = name?.number === null || name === null
          ? undefined
          : all.find((one) =>
            sameNumber(one.phase, name.phase ?? plan.phase) && sameNumber(one.number, name.number ?? "")
          );
        if (other === undefined && !/^(none|n\/a|nothing|phase\b.*)$/i.test(named)) {
          diagnostics.push({ file: plan.file, line: 0, message: `depends_on names ${named}, which is no plan here` });
        }
        return other === undefined || other.id === plan.id ? [] : [other.id];
      }),
    })),
  }));
}
