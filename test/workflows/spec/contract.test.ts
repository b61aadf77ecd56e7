import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import type { SpecItem } from "../../../lib/workflows/spec/item.ts";
import { planBacklog } from "../../../lib/workflows/spec/plan_backlog.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";
import { keepsContract } from "../../testing/keeps_contract.ts";

const PLAN = "ralph/plan.jsonl";
const SPEC = '{"t": "spec", "spec": "a.md"}\n';
const FIRST = '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "accept": "Verify: `test -f a`", "s": "p"}\n';
const SECOND = '{"t": "task", "id": "t-3c4d", "spec": "a.md", "name": "b", "deps": ["t-1a2b"], "s": "p"}\n';
const DONE = '{"t": "task", "id": "t-5e6f", "spec": "a.md", "name": "c", "s": "d", "done_at": "abc1234"}\n';
const ISSUE = '{"t": "issue", "id": "i-7g8h", "spec": "a.md", "desc": "flaky"}\n';

const PLANS = {
  "BUILD": SPEC + FIRST + SECOND + DONE,
  "VERIFY": SPEC + DONE,
  "INVESTIGATE": SPEC + ISSUE,
  "DECOMPOSE": SPEC + FIRST.replace('"s": "p"', '"s": "p", "kill": "timeout", "kill_log": "x.log"') + SECOND,
};

/** What the agent's `ralph task …` and `ralph issue …` make of the plan. */
function worked({ kind, id }: Pick<SpecItem, "kind" | "id">, plan: string): string {
  const without = (name: string): string => plan.split("\n").filter((line) => !line.includes(`"${name}"`)).join("\n");
  switch (kind) {
    case "BUILD":
      return plan.split("\n").map((line) => line.includes(`"id": "${id}"`) ? line.replace('"p"', '"d"') : line)
        .join("\n");
    case "VERIFY":
      return without("d");
    case "INVESTIGATE":
      return without("issue");
    case "DECOMPOSE":
      return plan.includes('"parent"') ? plan : plan +
        '{"t": "task", "id": "t-9i0j", "spec": "a.md", "name": "part", "parent": "t-1a2b", "s": "p"}\n';
    default:
      return plan.includes(FIRST) ? plan : plan + FIRST;
  }
}

function storeOn(world: World) {
  return {
    snapshot: async () => await world.ralph.state.read(PLAN) ?? "",
    root: world.root,
    async turn(item: Pick<SpecItem, "kind" | "id">) {
      await world.ralph.state.update(PLAN, (text) => worked(item, text ?? ""));
      return {};
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

for (const [stage, plan] of Object.entries(PLANS)) {
  keepsContract(`specBacklog() in ${stage}`, async () => {
    const world = await loopWorld(async () => {}, { files: { [PLAN]: plan } });
    return { ...storeOn(world), backlog: specBacklog(world.ralph), reopen: async () => specBacklog(world.ralph) };
  });
}

keepsContract("planBacklog()", async () => {
  const world = await loopWorld(async () => {}, { files: { [PLAN]: SPEC } });
  const backlog = planBacklog(world.ralph, "a.md");
  return { ...storeOn(world), backlog };
});
