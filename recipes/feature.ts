import { defineRecipe, type GoalArgs, type Recipe, runLoop, runRecipe } from "ralph";
import { featureBacklog, featureInterface, lockFeature, openFeature, openServices } from "ralph/feature";

const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "feature",
  description: "work off a feature's stories until a final verification accepts them",

  async run(ralph, { goal }) {
    const feature = await openFeature(ralph, goal);
    await using _lock = await lockFeature(ralph, feature);
    await using services = openServices(ralph);
    const backlog = featureBacklog(ralph, { feature, ...featureInterface(ralph, feature, services) });
    return await runLoop(ralph, backlog);
  },
});

export default recipe;
await runRecipe(recipe, import.meta);
