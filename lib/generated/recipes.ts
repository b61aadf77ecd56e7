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
  "todo": `import { type Backlog, defineRecipe, type RalphContext, RalphError, type Recipe, runLoop, runRecipe } from "ralph";

const FILE = "TODO.md";
const BOX = /^(\\s*- \\[)([ x])(\\] )(.+)$/;

/** A Markdown TODO list as a backlog: \`- [ ] Do this\` becomes \`- [x] Do this\` once its checks have passed. */
function todo({ config, state }: RalphContext): Backlog<null> {
  const checks = config.verify.default.map((command) => ({ name: command, command }));
  const titles = async (mark: " " | "x"): Promise<string[]> => {
    const text = await state.read(FILE);
    if (text === null) {
      throw new RalphError("state-missing", { details: { path: FILE }, hint: "list tasks: \`- [ ] task\`" });
    }
    return text.split("\\n").map((line) => BOX.exec(line)).flatMap((box) => box?.[2] === mark ? [box[4] ?? ""] : []);
  };
  const mark = (title: string, to: " " | "x") => (line: string): string =>
    BOX.exec(line)?.[4] === title ? line.replace(BOX, \`$1\${to}$3$4\`) : line;
  return {
    name: "todo-example",
    stateFiles: [FILE],
    unverified: "block",
    async overview({ parked }) {
      const [open, passed] = [await titles(" "), (await titles("x")).length];
      const unchecked = checks.length === 0 ? open : [];
      return { total: open.length + passed, passed, open: open.length, parked: parked.length, unchecked };
    },
    async next({ inFlight, parked }) {
      const open = await titles(" ");
      const free = open.find((title) => !inFlight.includes(title) && !parked.some(({ id }) => id === title));
      if (free !== undefined) return { status: "item", item: { id: free, kind: "task", title: free, data: null } };
      if (inFlight.length > 0) return { status: "waiting" };
      if (open.length === 0) return { status: "done", verdict: "verified" };
      return { status: "blocked", reasons: parked.map(({ reason }) => reason) };
    },
    work({ title }, { previous }) {
      const failure = previous !== null && "message" in previous
        ? \`The last attempt failed: \${previous.message}\\n\\n\`
        : "";
      const prompt =
        \`Do this one task of \${FILE}: \${title}\\n\\n\${failure}When it is done, end with <ralph>DONE</ralph>.\`;
      return Promise.resolve({ prompt, checks });
    },
    async settle({ title }, attempt) {
      const passed = attempt.status === "verified" || attempt.status === "unverified";
      const change = mark(title, passed ? "x" : " ");
      await state.update(FILE, (text) => text?.split("\\n").map(change).join("\\n") ?? null);
      if (passed) return { status: "passed", commit: { subject: \`todo: \${title}\`, paths: [FILE], work: true } };
      const reason = "message" in attempt ? attempt.message : attempt.status;
      const open = attempt.status === "interrupted" || (attempt.number < 3 && attempt.status !== "blocked");
      return open ? { status: "open", reason } : { status: "parked", reason };
    },
  };
}

const run: Recipe["run"] = (ralph) => runLoop(ralph, todo(ralph));
const recipe: Recipe = defineRecipe({ name: "todo", description: "work off TODO.md", backlog: todo, run });
export default recipe;
await runRecipe(recipe, import.meta);
`,
};
