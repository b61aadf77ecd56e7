import {
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

  async run(ralph, { goal, resume = false, base, ...asked }) {
    const mode = asked.understand ?? "auto";
    const planned = await plan(ralph, { goal, resume, andRun: mode, ...(base === undefined ? {} : { base }) });
    if (planned.status !== "approved") return planned;

    const gate = await gateUnderstand(ralph, planned, {
      mode,
      maxIterations: asked.maxUnderstandIterations ?? "auto",
    });
    if (gate.status === "aborted") return gate;
    if (gate.status === "approved") {
      const understood = await understand(ralph, gate);
      if (stops(understood) && !understood.gaveUp) return understood;
    }

    const backlog = prdBacklog(ralph);
    const go = await gateRun(ralph, backlog, {
      maxIterations: asked.maxRunIterations ?? "auto",
      consent: planned.consents?.run,
    });
    return go.status === "approved" ? await runLoop(ralph, backlog, go) : go;
  },
});

export default recipe;
await runRecipe(recipe, import.meta);
