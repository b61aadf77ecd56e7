import { defineRecipe, type Recipe, runLoop, runRecipe, todoBacklog } from "ralph";

const recipe: Recipe = defineRecipe({
  name: "todo",
  description: "work off TODO.md",
  run: (ralph) => runLoop(ralph, todoBacklog(ralph, { checks: ralph.config.verify.default })),
});
export default recipe;
await runRecipe(recipe, import.meta);
