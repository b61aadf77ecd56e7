import { describe, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { formatPrd } from "../../lib/workflows/exec/format.ts";
import { todoBacklog } from "../../lib/backlog/todo.ts";
import { type BacklogContract, backlogContract } from "../../lib/testing/backlog_contract.ts";
import { loopWorld } from "../loop/loop_world.ts";

const STORY = {
  id: "US-1",
  title: "a",
  acceptanceCriteria: ["Verify: `test -f a`"],
  priority: 1,
  passes: false,
  notes: "",
};
const PRD = formatPrd({ branchName: "main", userStories: [STORY, { ...STORY, id: "US-2", priority: 2 }] });

function contractOf(name: string, cases: BacklogContract<never, never>["open"], worlds: AsyncDisposable[]): void {
  describe(`${name} keeps the backlog contract`, () => {
    for (const one of backlogContract({ open: cases })) {
      test(one.name, async () => {
        try {
          await one.run();
        } finally {
          for (const world of worlds.splice(0)) await world[Symbol.asyncDispose]();
        }
      });
    }
  });
}

const worlds: AsyncDisposable[] = [];

contractOf("memoryBacklog()", async () => {
  const backlog = memoryBacklog(["a", "b"].map((id) => ({ id, title: id, checks: ["true"] })));
  return { backlog: backlog as never, snapshot: async () => JSON.stringify(await backlog.overview({ parked: [] })) };
}, worlds);

contractOf("todoBacklog()", async () => {
  const world = await loopWorld(async () => {}, {
    files: { "TODO.md": "# list\n- [ ] a\n- [ ] b\n```\n- [ ] no\n```\n" },
  });
  worlds.push(world);
  const open = () => todoBacklog(world.ralph, { checks: ["true"] });
  return {
    backlog: open() as never,
    reopen: async () => open() as never,
    snapshot: async () => await world.ralph.state.read("TODO.md") ?? "",
  };
}, worlds);

contractOf("prdBacklog()", async () => {
  const world = await loopWorld(async () => {}, { files: { "scripts/ralph/prd.json": PRD } });
  worlds.push(world);
  const open = () => prdBacklog(world.ralph);
  const state = async () =>
    `${await world.ralph.state.read("scripts/ralph/prd.json")}\n${await world.ralph.state.read(
      "scripts/ralph/progress.txt",
    )}`;
  return { backlog: open() as never, reopen: async () => open() as never, snapshot: state };
}, worlds);
