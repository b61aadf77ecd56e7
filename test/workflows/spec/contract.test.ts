import type { ClaimLine } from "../../../lib/backlog/claims.ts";
import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import type { SpecItem } from "../../../lib/workflows/spec/item.ts";
import { planBacklog } from "../../../lib/workflows/spec/plan_spec.ts";
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
  "BUILD, two at once": SPEC + FIRST + SECOND.replace('"deps": ["t-1a2b"]', '"accept": "Verify: `test -f b`"'),
  "VERIFY": SPEC + DONE,
  "INVESTIGATE": SPEC + ISSUE,
  "DECOMPOSE": SPEC + FIRST.replace('"s": "p"', '"s": "p", "kill": "timeout", "kill_log": "x.log"') + SECOND,
};

const PART = { t: "task", id: "t-9i0j", spec: "a.md", name: "part", s: "p" };

/** The agent asks for this by `ralph task …` and `ralph issue …`. */
function asked({ kind, id }: Pick<SpecItem, "id" | "kind">): Pick<ClaimLine, "command" | "id" | "record"> {
  switch (kind) {
    case "BUILD":
      return { command: "task done", id };
    case "VERIFY":
      return { command: "task accept" };
    case "INVESTIGATE":
      return { command: "issue done", id: "i-7g8h" };
    default:
      return { command: "task add", id: PART.id, record: kind === "PLAN" ? PART : { ...PART, parent: "t-1a2b" } };
  }
}

function storeOn(world: World) {
  return {
    snapshot: async () => await world.ralph.state.read(PLAN) ?? "",
    root: world.root,
    turn: async (item: Pick<SpecItem, "id" | "kind">) => ({ claims: [{ v: 1 as const, at: 0, ...asked(item) }] }),
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
