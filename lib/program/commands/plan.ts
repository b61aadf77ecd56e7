import { plan } from "../../workflows/exec/plan/plan.ts";
import type { Invocation } from "../../cli/command.ts";
import { endWith } from "../../cli/end_with.ts";
import { goalOf } from "../../cli/goal.ts";
import { findPlace } from "../../cli/workspace.ts";
import { specArgument } from "../../workflows/spec/commands/argument.ts";
import { openSession } from "../../cli/session.ts";

/** `ralph plan "<goal>"`: the planner alone; `ralph plan SPEC.md`: the spec workflow's. */
export async function run(invocation: Invocation): Promise<number> {
  const spec = await specArgument(invocation);
  if (spec !== null) return await planTheSpec(invocation, spec);
  if ((await findPlace(invocation)).workflow.name === "gsd") {
    return await (await import("../../workflows/gsd/commands/planning.ts")).planWithGsd(invocation, "plan");
  }
  const goal = await goalOf(invocation);
  await using session = await openSession(invocation, { asks: true, gates: ["prd"] });
  return endWith(
    invocation,
    session.ralph,
    await plan(session.ralph, { goal, resume: invocation.flags.has("resume") }),
  );
}

async function planTheSpec(invocation: Invocation, spec: string): Promise<number> {
  const { planSpec } = await import("../../workflows/spec/plan_spec.ts");
  await using session = await openSession(invocation, {
    asks: false,
    gates: [],
    workflow: { name: "spec", why: `${spec} is a spec` },
  });
  const outcome = await planSpec(session.ralph, { spec });
  if (outcome.status === "approved") {
    invocation.say(
      `${outcome.tasks} task${outcome.tasks === 1 ? "" : "s"} pending for ${outcome.spec}; next: \`ralph build\``,
    );
  }
  if (outcome.status === "declined" && "next" in outcome) {
    invocation.say(`kept as it is; next: ${outcome.next.map((command) => `\`${command}\``).join(", ")}`);
  }
  return endWith(invocation, session.ralph, outcome);
}
