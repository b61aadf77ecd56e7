import type { Look } from "../../../cli/look.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { planChecks } from "../checks.ts";
import { positionOf } from "../position.ts";
import { readPlanning } from "../read_planning.ts";

/** The plan that comes next, and what Ralph would run. */
export async function nextPlan(look: Look): Promise<NextView> {
  const { status, next, reasons } = positionOf(await readPlanning(look));
  const checks = next === null ? [] : planChecks(next, look.config.verify.default, false).map(({ name }) => name);
  const blocked = status === "blocked";
  const data = {
    status: next === null ? status : "item",
    id: next?.id ?? null,
    kind: "plan",
    title: next?.title ?? null,
    file: next?.file ?? null,
    checks,
    reasons,
  };
  if (next === null) return { blocked, data, notes: reasons };
  const { bold, dim, warn, symbols } = look.style;
  return {
    blocked,
    data,
    item: [
      `${bold(next.id)}  ${next.title ?? ""}`,
      `  ${dim(next.file)}`,
      ...next.tasks.map(({ name, checkpoint }) =>
        `  ${dim(symbols.dot)} ${name}${checkpoint ? warn(" (a checkpoint for a person)") : ""}`
      ),
      ...(checks.length === 0 ? [`  ${warn(symbols.warning)} no check: it cannot pass`] : []),
      ...checks.map((name) => `check: ${name}`),
      ...reasons.map((reason) => dim(reason)),
    ],
  };
}
