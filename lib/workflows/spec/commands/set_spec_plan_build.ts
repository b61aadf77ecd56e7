import { note } from "../../../context/context.ts";
import { findSpec, requireSpec } from "../find_spec.ts";
import { type Invocation, usage } from "../../../cli/command.ts";
import { changePlan } from "./open_plan.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import { refuseItems } from "../../../cli/validated_file.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";
import { PLAN_FILE } from "../types.ts";
import { shippedRecipe } from "../../../recipe/loader.ts";

/** `ralph set-spec FILE`: makes a spec the current one. */
export async function setSpec(invocation: Invocation): Promise<number> {
  const given = invocation.arguments[0]?.trim() ?? "";
  if (given === "") throw usage("the name of the spec is empty", "`ralph set-spec coverage.md`");
  return await changePlan(invocation, async (_plan, { root, host }) => [
    { command: "set-spec", text: await requireSpec(root, given, host.environment.cwd) },
  ]);
}

/** `ralph plan SPEC.md`: a single word that ends in .md and names a file, here or in a folder of specs. */
export async function planFile(invocation: Invocation, place: Place): Promise<number | null> {
  const { arguments: [given = ""], host, say } = invocation;
  const spec = given.trim();
  if (!/^\S+\.md$/i.test(spec) || await findSpec(place.root, spec, host.environment.cwd) === null) return null;
  const workflow = { name: "spec", why: `${spec} is a spec` };
  await using session = await openSession(invocation, { asks: false, gates: [], place: { ...place, workflow } });
  const { planSpec } = await import("../plan_spec.ts");
  const outcome = await planSpec(session.ralph, { spec });
  if (outcome.status === "approved") {
    say(`${outcome.tasks} task${outcome.tasks === 1 ? "" : "s"} pending for ${outcome.spec}; next: \`ralph build\``);
  }
  if (outcome.status === "declined" && "next" in outcome) {
    say(`kept as it is; next: ${outcome.next.map((command) => `\`${command}\``).join(", ")}`);
  }
  return endWith(invocation, session.ralph, outcome, null);
}

/** `ralph build`, and bare `ralph` where the workflow is spec: the spec recipe without its planning. Typing it is the consent. */
export async function build(invocation: Invocation): Promise<number> {
  const why = `\`ralph ${invocation.command.name}\``;
  const place = { ...await findPlace(invocation), workflow: { name: "spec", why } };
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { validatePlanFile } = await import("./look.ts");
  const validated = await validatePlanFile({ ...place, scope: "", host: invocation.host });
  refuseItems([validated]);
  for (const warning of validated.present ? validated.warnings : []) {
    note(session.ralph, "warn", `${PLAN_FILE}: ${warning}`);
  }
  const recipe = await shippedRecipe(invocation.program.recipes, "spec");
  return endWith(invocation, session.ralph, await recipe.run(session.ralph, { goal: "" }), "ralph build");
}
