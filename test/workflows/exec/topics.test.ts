import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CODEBASE_MAP_FILE } from "../../../lib/workflows/exec/types.ts";
import { topicsBacklog } from "../../../lib/workflows/exec/understand/understand.ts";
import { keepsContract } from "../../testing/keeps_contract.ts";
import { contextOn, replying, testRepository } from "./exec_context.ts";

keepsContract("topicsBacklog()", async () => {
  const repository = testRepository({ [CODEBASE_MAP_FILE]: "## Next Topics\n- [ ] one\n- [ ] two\n" });
  const ralph = await contextOn(repository, { agent: replying("") });
  return {
    backlog: topicsBacklog(ralph),
    reopen: async () => topicsBacklog(ralph),
    snapshot: async () => await ralph.state.read(CODEBASE_MAP_FILE) ?? "",
    root: repository.root,
    async turn({ data }, cwd) {
      const map = join(cwd, CODEBASE_MAP_FILE);
      const text = readFileSync(map, "utf8").replace(`[ ] ${data.topic}`, `[x] ${data.topic}`);
      writeFileSync(map, `${text}\n- known\n`);
      return { changedFiles: [CODEBASE_MAP_FILE] };
    },
    async [Symbol.asyncDispose]() {
      await ralph[Symbol.asyncDispose]();
      repository[Symbol.dispose]();
    },
  };
});
