import { defineRecipe, type GoalArgs, type Recipe, runLoop, runRecipe } from "ralph";
import { commitPlan, planSpec, specBacklog } from "ralph/spec";

const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "spec",
  description: "plan a spec, then build, verify and investigate until nothing is left",

  async run(ralph, { goal: spec }) {
    if (spec !== "") {
      const planned = await planSpec(ralph, { spec });
      if (planned.status !== "approved") return planned;
    }
    const committed = await commitPlan(ralph);
    if (committed.status === "declined" || committed.status === "aborted") return committed;
    return await runLoop(ralph, specBacklog(ralph), { purpose: "build" });
  },
});

export default recipe;
await runRecipe(recipe, import.meta);
