import { defineRecipe, type RalphContext, type Recipe, runLoop, runRecipe, todoBacklog } from "ralph";

function backlog(ralph: RalphContext): ReturnType<typeof todoBacklog> {
  return todoBacklog(ralph, { checks: ralph.config.verify.default });
}

const recipe: Recipe = defineRecipe({
  name: "todo",
  description: "work off TODO.md",
  backlog,
  run: (ralph) => runLoop(ralph, backlog(ralph)),
});
export default recipe;
await runRecipe(recipe, import.meta);
