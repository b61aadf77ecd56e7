import { planChecks } from "../checks.ts";
import { positionOf } from "../position.ts";
import { readPlanning } from "../read_planning.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import type { Invocation } from "../../../cli/command.ts";
import type { Place } from "../../../cli/workspace.ts";
import { styleFor, toJson } from "../../../cli/show.ts";

/** `ralph next` in the workflow gsd: the plan that comes next, and what Ralph would run. */
export async function nextOfGsd(invocation: Invocation, place: Place): Promise<number> {
  const { flags, out, say } = invocation;
  const { status, next, reasons } = positionOf(await readPlanning(place));
  const checks = next === null ? [] : planChecks(next, place.config.verify.default, false);
  if (flags.has("json")) {
    out(
      toJson({
        status: next === null ? status : "item",
        id: next?.id ?? null,
        kind: "plan",
        title: next?.title ?? null,
        file: next?.file ?? null,
        checks: checks.map(({ name }) => name),
        reasons,
      }),
    );
  } else if (next === null) {
    for (const reason of reasons) say(reason);
  } else {
    const { bold, dim, warn, symbols } = styleFor(invocation, "stdout");
    out(`${bold(next.id)}  ${next.title ?? ""}`);
    out(`  ${dim(next.file)}`);
    for (const { name, checkpoint } of next.tasks) {
      out(`  ${dim(symbols.dot)} ${name}${checkpoint ? warn(" (a checkpoint for a person)") : ""}`);
    }
    if (checks.length === 0) out(`  ${warn(symbols.warning)} no check: it cannot pass`);
    for (const { name } of checks) out(`check: ${name}`);
    for (const reason of reasons) out(dim(reason));
  }
  return status === "blocked" ? EXIT.blocked : EXIT.done;
}
