import { defineRecipe, type GoalArgs, type Recipe, runLoop, runRecipe } from "ralph";
import { openSprint } from "ralph/sprint";

/** The sprint in the folder that is given as the goal; without one, the only sprint there is. */
const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "sprint",
  description: "a free loop over a goal, with hooks that run with each iteration",

  async run(ralph, { goal: directory }) {
    const { backlog, hooks } = await openSprint(ralph, { directory });
    return await runLoop(ralph, backlog, { hooks, purpose: "sprint run" });
  },
});

export default recipe;
await runRecipe(recipe, import.meta);
