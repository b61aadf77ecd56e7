// Written by tools/embed_recipes.mjs from recipes/*.ts: edit those, then run it.
// deno-fmt-ignore-file

/** The text of every built-in recipe by its name. */
export const RECIPE_TEXTS: Readonly<Record<string, string>> = {
  "exec": `import {
  defineRecipe,
  type ExecArgs,
  gateRun,
  gateUnderstand,
  plan,
  prdBacklog,
  type Recipe,
  runLoop,
  runRecipe,
  stops,
  understand,
} from "ralph";

const recipe: Recipe<ExecArgs> = defineRecipe<ExecArgs>({
  name: "exec",
  description: "plan a goal, understand the code, implement it: each by consent",

  async run(ralph, { goal, resume = false, ...asked }) {
    const planned = await plan(ralph, { goal, resume });
    if (planned.status !== "approved") return planned;

    const gate = await gateUnderstand(ralph, planned, {
      mode: asked.understand ?? "auto",
      maxIterations: asked.maxUnderstandIterations ?? "auto",
    });
    if (gate.status === "aborted") return gate;
    if (gate.status === "approved") {
      const understood = await understand(ralph, gate);
      if (stops(understood)) return understood;
    }

    const backlog = prdBacklog(ralph);
    const go = await gateRun(ralph, backlog, { maxIterations: asked.maxRunIterations ?? "auto" });
    return go.status === "approved" ? await runLoop(ralph, backlog, go) : go;
  },
});

export default recipe;
await runRecipe(recipe, import.meta);
`,
  "feature": `import {
  defineRecipe,
  featureBacklog,
  featureInterface,
  type GoalArgs,
  lockFeature,
  openFeature,
  openServices,
  type Recipe,
  runLoop,
  runRecipe,
} from "ralph";

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
`,
  "gsd": `import { defineRecipe, type GoalArgs, gsdBacklog, type Recipe, runLoop, runRecipe } from "ralph";

const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "gsd",
  description: "the plans of a GSD project, one a fresh agent, each verified by the commands that it names",
  run: (ralph) => runLoop(ralph, gsdBacklog(ralph)),
});

export default recipe;
await runRecipe(recipe, import.meta);
`,
  "spec": `import { commitPlan, defineRecipe, type GoalArgs, planSpec, type Recipe, runLoop, runRecipe, specBacklog } from "ralph";

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
`,
  "sprint": `import { defineRecipe, type GoalArgs, openSprint, type Recipe, runLoop, runRecipe } from "ralph";

/** The sprint in the folder that stands in the place of a goal; without one, the only sprint there is. */
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
`,
  "todo": `import { defineRecipe, type Recipe, runLoop, runRecipe, todoBacklog } from "ralph";

const recipe: Recipe = defineRecipe({
  name: "todo",
  description: "work off TODO.md",
  run: (ralph) => runLoop(ralph, todoBacklog(ralph, { checks: ralph.config.verify.default })),
});
export default recipe;
await runRecipe(recipe, import.meta);
`,
};
