import { issuesOf } from "../plan_file.ts";
import { PLAN_FILE } from "../types.ts";
import { nextAction, viewPlan } from "../next_action.ts";
import { viewTasks } from "../view.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import type { Invocation } from "../../../cli/command.ts";
import { openPlan, readPlan, showPlan, tellProblems } from "./open_plan.ts";
import { parkedIn } from "../../../cli/look.ts";
import { usage } from "../../../cli/parse.ts";
import { issueLines, nextLine, taskLines } from "./plan_lines.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import { nearest } from "../../../errors/nearest.ts";

const PARTS: readonly string[] = ["tasks", "issues", "stage", "next"];

/** `ralph query`: the plan as it is. Takes no lock and changes nothing, but for `--repair`. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [part], flags, out, say } = invocation;
  if (part !== undefined && !PARTS.includes(part)) {
    const near = nearest(part, PARTS);
    throw usage(
      `\`ralph query\` has no part \`${part}\``,
      near === null ? `parts: ${PARTS.join(", ")}; without one it prints all` : `did you mean \`ralph query ${near}\`?`,
    );
  }
  const open = await openPlan(invocation);
  const { store, config } = open;
  if (flags.has("repair")) {
    if (open.mode.status !== "direct") {
      throw usage("`ralph query --repair` writes the plan, and a run is at work here", "run it when the run has ended");
    }
    const repaired = await store.repair();
    if (repaired === null) say(`${PLAN_FILE} holds no conflict marker: nothing to repair`);
    else for (const warning of repaired.warnings) say(`warning: ${warning}`);
  }

  const plan = await readPlan(open);
  const options = { rejections: config.limits.rejections, parked: await parkedIn(open, { name: "spec" }) };
  if (part === undefined) {
    showPlan(invocation, plan, options);
    return EXIT.done;
  }
  tellProblems(invocation, plan);
  const isText = flags.has("text");
  const style = styleFor(invocation, "stdout");
  const print = (data: unknown, lines: readonly string[]): void =>
    isText ? lines.forEach((line) => out(line)) : out(toJson(data));
  const issues = issuesOf(plan).map(({ record }) => record);
  if (part === "stage") out(viewPlan(plan, options).stage);
  else if (part === "tasks") print(viewTasks(plan), taskLines(viewTasks(plan), style));
  else if (part === "issues") print(issues, issueLines(issues, style));
  else {
    const next = nextAction(plan, options);
    print(next, [nextLine(next)]);
  }
  return EXIT.done;
}
