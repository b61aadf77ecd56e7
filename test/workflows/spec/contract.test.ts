import { describe, test } from "vitest";
import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import { backlogContract } from "../../../lib/testing/backlog_contract.ts";
import { loopWorld } from "../../loop/loop_world.ts";

const SPEC = '{"t": "spec", "spec": "a.md"}\n';
const FIRST = '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "accept": "Verify: `test -f a`", "s": "p"}\n';
const SECOND = '{"t": "task", "id": "t-3c4d", "spec": "a.md", "name": "b", "deps": ["t-1a2b"], "s": "p"}\n';
const DONE = '{"t": "task", "id": "t-5e6f", "spec": "a.md", "name": "c", "s": "d", "done_at": "abc1234"}\n';

const PLANS = {
  "BUILD": SPEC + FIRST + SECOND + DONE,
  "VERIFY": SPEC + DONE,
  "INVESTIGATE": `${SPEC}{"t": "issue", "id": "i-7g8h", "spec": "a.md", "desc": "flaky"}\n`,
  "DECOMPOSE": SPEC + FIRST.replace('"s": "p"', '"s": "p", "kill": "timeout", "kill_log": "x.log"') + SECOND,
};

for (const [stage, plan] of Object.entries(PLANS)) {
  describe(`specBacklog() in ${stage} keeps the backlog contract`, () => {
    const worlds: AsyncDisposable[] = [];
    const cases = backlogContract({
      async open() {
        const world = await loopWorld(async () => {}, { files: { "ralph/plan.jsonl": plan } });
        worlds.push(world);
        const open = () => specBacklog(world.ralph);
        return {
          backlog: open(),
          reopen: async () => open(),
          snapshot: async () => await world.ralph.state.read("ralph/plan.jsonl") ?? "",
          cwd: world.root,
        };
      },
    });
    for (const one of cases) {
      // What a stage settles leaves the file, and a turn that did nothing settled no issue: the counts are a task's alone.
      if (stage !== "BUILD" && one.name.startsWith("a verified item")) continue;
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
