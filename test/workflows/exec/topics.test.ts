import { describe, test } from "vitest";
import { CODEBASE_MAP_FILE } from "../../../lib/workflows/exec/paths.ts";
import { topicsBacklog } from "../../../lib/workflows/exec/understand/topics.ts";
import { backlogContract } from "../../../lib/testing/backlog_contract.ts";
import { contextOn, replying, testRepository } from "./exec_context.ts";

describe("topicsBacklog() keeps the backlog contract", () => {
  const worlds: { dispose(): Promise<void> }[] = [];
  const cases = backlogContract({
    async open() {
      const repository = testRepository({ [CODEBASE_MAP_FILE]: "## Next Topics\n- [ ] one\n- [ ] two\n" });
      const ralph = await contextOn(repository, { agent: replying("") });
      worlds.push({
        async dispose() {
          await ralph[Symbol.asyncDispose]();
          repository[Symbol.dispose]();
        },
      });
      const backlog = topicsBacklog(ralph);
      const snapshot = async (): Promise<string> => await ralph.state.read(CODEBASE_MAP_FILE) ?? "";
      return { backlog, reopen: () => Promise.resolve(topicsBacklog(ralph)), snapshot };
    },
  });

  for (const one of cases) {
    test(one.name, async () => {
      try {
        await one.run();
      } finally {
        for (const world of worlds.splice(0)) await world.dispose();
      }
    });
  }
});
