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
  "todo": `import {
  type Backlog,
  defineRecipe,
  type GoalArgs,
  type RalphContext,
  RalphError,
  type Recipe,
  runLoop,
  runRecipe,
} from "ralph";

const FILE = "TODO.md";
const BOX = /^(\\s*- \\[)( |x)(\\] )(.+)$/;

/** A Markdown TODO list as a backlog: \`- [ ] Do this\` becomes \`- [x] Do this\` once its checks have passed. */
function todo(ralph: RalphContext): Backlog {
  const read = async (): Promise<readonly { line: number; done: boolean; title: string }[]> => {
    const text = await ralph.state.read(FILE);
    if (text === null) {
      throw new RalphError("state-missing", { details: { path: FILE }, hint: "write a list of \`- [ ] task\`" });
    }
    return text.split("\\n").flatMap((content, line) => {
      const [, , mark, , title] = BOX.exec(content) ?? [];
      return title === undefined ? [] : [{ line, done: mark === "x", title }];
    });
  };
  const checks = ralph.config.verify.default.map((command) => ({ name: command, command }));
  return {
    name: "todo-example",
    stateFiles: [FILE],
    unverified: "block",
    async overview({ parked }) {
      const tasks = await read();
      const open = tasks.filter(({ done }) => !done);
      const unchecked = checks.length === 0 ? open.map(({ title }) => title) : [];
      return {
        total: tasks.length,
        passed: tasks.length - open.length,
        open: open.length,
        parked: parked.length,
        unchecked,
      };
    },
    async next({ parked, inFlight }) {
      const open = (await read()).filter(({ done, title }) => !done && !parked.some(({ id }) => id === title));
      const free = open.find(({ title }) => !inFlight.includes(title));
      if (free !== undefined) {
        return { status: "item", item: { id: free.title, kind: "task", title: free.title, data: free.line } };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      return parked.length > 0
        ? { status: "blocked", reasons: parked.map(({ reason }) => reason) }
        : { status: "done", verdict: "verified" };
    },
    work: (item, { previous }) =>
      Promise.resolve({
        prompt: \`Do this one task of \${FILE}: \${item.title}\\n\\nEnd with the line <ralph>DONE</ralph>.\\n\\n\` +
          (previous !== null && "message" in previous ? \`The last attempt failed: \${previous.message}\\n\` : ""),
        checks,
      }),
    async settle(item, attempt) {
      if (attempt.status === "verified" || attempt.status === "unverified") {
        const tick = (content: string): string =>
          BOX.exec(content)?.[4] === item.title ? content.replace(BOX, "$1x$3$4") : content;
        await ralph.state.update(FILE, (text) => text?.split("\\n").map(tick).join("\\n") ?? null);
        return { status: "passed", commit: { subject: \`todo: \${item.title}\`, paths: [FILE], work: true } };
      }
      const reason = "message" in attempt ? attempt.message : attempt.status;
      return attempt.number >= 3 || attempt.status === "blocked"
        ? { status: "parked", reason }
        : { status: "open", reason };
    },
  };
}

const recipe: Recipe<GoalArgs> = defineRecipe<GoalArgs>({
  name: "todo",
  description: "work off TODO.md",
  run: (ralph) => runLoop(ralph, todo(ralph)),
});
export default recipe;
await runRecipe(recipe, import.meta);
`,
};
