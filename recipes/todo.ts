import { type Backlog, defineRecipe, type RalphContext, RalphError, type Recipe, runLoop, runRecipe } from "ralph";

const FILE = "TODO.md";
const BOX = /^(\s*- \[)([ x])(\] )(.+)$/;

/** A Markdown TODO list as a backlog: `- [ ] Do this` becomes `- [x] Do this` once its checks have passed. */
function todo({ config, state }: RalphContext): Backlog<null> {
  const checks = config.verify.default.map((command) => ({ name: command, command }));
  const titles = async (mark: " " | "x"): Promise<string[]> => {
    const text = await state.read(FILE);
    if (text === null) {
      throw new RalphError("state-missing", { details: { path: FILE }, hint: "list tasks: `- [ ] task`" });
    }
    return text.split("\n").map((line) => BOX.exec(line)).flatMap((box) => box?.[2] === mark ? [box[4] ?? ""] : []);
  };
  const mark = (title: string, to: " " | "x") => (line: string): string =>
    BOX.exec(line)?.[4] === title ? line.replace(BOX, `$1${to}$3$4`) : line;
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
        ? `The last attempt failed: ${previous.message}\n\n`
        : "";
      const prompt =
        `Do this one task of ${FILE}: ${title}\n\n${failure}When it is done, end with <ralph>DONE</ralph>.`;
      return Promise.resolve({ prompt, checks });
    },
    async settle({ title }, attempt) {
      const passed = attempt.status === "verified" || attempt.status === "unverified";
      const change = mark(title, passed ? "x" : " ");
      await state.update(FILE, (text) => text?.split("\n").map(change).join("\n") ?? null);
      if (passed) return { status: "passed", commit: { subject: `todo: ${title}`, paths: [FILE], work: true } };
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
