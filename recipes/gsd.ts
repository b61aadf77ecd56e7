import { defineRecipe, type GoalArgs, type Recipe, runLoop, runRecipe } from "ralph";
import { gsdBacklog } from "ralph/gsd";

const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "gsd",
  description: "the plans of a GSD project, one a fresh agent, each verified by the commands that it names",
  run: (ralph) => runLoop(ralph, gsdBacklog(ralph)),
});

export default recipe;
await runRecipe(recipe, import.meta);
