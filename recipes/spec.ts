import { commitPlan, defineRecipe, type GoalArgs, planSpec, type Recipe, runLoop, runRecipe, specBacklog } from "ralph";

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
