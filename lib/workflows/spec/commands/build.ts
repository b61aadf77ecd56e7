import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { shippedRecipe } from "../../../recipe/registry.ts";

/** `ralph build`, and bare `ralph` where the workflow is spec: the spec recipe without its planning. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const workflow = { name: "spec", why: `\`ralph ${invocation.command.name}\`` };
  const place = { ...await findPlace(invocation), workflow };
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const recipe = await shippedRecipe(invocation.program.recipes, "spec");
  return endWith(invocation, session.ralph, await recipe.run(session.ralph, { goal: "" }), "ralph build");
}
