import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { todoBacklog } from "../../lib/backlog/todo.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { formatPrd } from "../../lib/workflows/exec/format.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { keepsContract } from "../testing/keeps_contract.ts";

keepsContract("memoryBacklog()", async (store) => {
  const checks = store === "checked"
    ? ["true", { name: "own", run: async () => ({ ok: true, exitCode: null, tail: "" }) }]
    : [];
  const backlog = memoryBacklog(["a", "b", "c"].map((id) => ({ id, title: id, checks })));
  return { backlog, root: null, snapshot: async () => JSON.stringify(await backlog.passed?.({ parked: [] })) };
});

keepsContract("todoBacklog()", async (store) => {
  const verify = store === "checked" ? ". Verify: `true`" : "";
  const text = `# list\n- [ ] a${verify}\n- [ ] b${verify}\n\`\`\`\n- [ ] no\n\`\`\`\n- [ ] c${verify}\n`;
  const world = await loopWorld(async () => {}, { files: { "TODO.md": text } });
  return {
    backlog: todoBacklog(world.ralph),
    reopen: async () => todoBacklog(world.ralph),
    snapshot: async () => await world.ralph.state.read("TODO.md") ?? "",
    root: world.root,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
});

keepsContract("prdBacklog()", async (store) => {
  const files = ["scripts/ralph/prd.json", "scripts/ralph/progress.txt"] as const;
  const acceptanceCriteria = store === "checked" ? ["Verify: `test -f a`"] : ["it is there"];
  const userStories = ["US-1", "US-2"].map((id) => ({
    id,
    title: `Title of ${id}`,
    acceptanceCriteria,
    priority: 1, // the same: both may be in flight
    passes: false,
    notes: "",
  }));
  const prd = formatPrd({ branchName: "main", userStories });
  const world = await loopWorld(async () => {}, { files: { [files[0]]: prd } });
  return {
    backlog: prdBacklog(world.ralph),
    reopen: async () => prdBacklog(world.ralph),
    async snapshot() {
      const [text, progress] = await Promise.all(files.map((path) => world.ralph.state.read(path)));
      return [text, ...(progress ?? "").split("\n").toSorted()].join("\n"); // a log: in the order of settling
    },
    root: world.root,
    turn: async () => ({ lines: ["<promise>COMPLETE</promise>"], changedFiles: [] }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
});
