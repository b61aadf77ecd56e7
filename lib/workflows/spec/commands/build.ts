import { BUILT_IN_RECIPES } from "../../../recipe/built_in_recipes.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";

/** `ralph build`, and bare `ralph` where the workflow is spec: the spec recipe without its planning. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const workflow = { name: "spec", why: `\`ralph ${invocation.command.name}\`` };
  await using session = await openSession(invocation, { asks: false, gates: [], workflow });
  const row = BUILT_IN_RECIPES.find(({ name }) => name === "spec");
  if (row === undefined) throw new Error("the spec recipe is not built in");
  const recipe = (await row.load()).default;
  return endWith(invocation, session.ralph, await recipe.run(session.ralph, { goal: "" }), "ralph build");
}
