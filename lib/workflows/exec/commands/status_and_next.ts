import { storyChecks } from "../checks.ts";
import { headlineOf } from "../../../backlog/verdict.ts";
import { type Look, parkedIn } from "../../../cli/look.ts";
import { countLine, itemLine } from "../../../cli/item_list.ts";
import { nextOfBacklog, type NextView } from "../../../cli/next_view.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { prdBacklog } from "../backlog.ts";
import { join } from "node:path";
import type { StatusView } from "../../../cli/status_view.ts";
import { ownHint } from "../../../cli/validated_file.ts";
import { readText } from "../../../host/files.ts";
import { oneLine } from "../../../ui/printable.ts";
import { readOrError } from "../../read_or_error.ts";
import { parsePrd } from "../format.ts";
import { findExternal, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";
import { begunPlan } from "../plan/begun.ts";

const COMMANDS = { run: "ralph run", retry: "ralph run --retry-blocked" };

/** The story that the next iteration would take from the PRD. */
export async function readNext(look: Look): Promise<NextView> {
  const backlog = prdBacklog(look);
  const next = await backlog.next({ inFlight: [], parked: await parkedIn(look, backlog) });
  return await nextOfBacklog(look, backlog, next, {
    done: "every story passes",
    retry: COMMANDS.retry,
    dataOf: ({ criteria }) => ({ acceptanceCriteria: criteria }),
  });
}

/** The state of the plan and the stories. @throws {RalphError} state-missing */
export async function readStatus(look: Look): Promise<StatusView> {
  const { root, config, style: { dim } } = look;
  const text = await look.state.read(PRD_FILE);
  const { value: prd, error } = await readOrError(() => text === null ? null : parsePrd(text, PRD_FILE));
  const isEmpty = error === null && (prd?.userStories ?? []).length === 0;
  const [external] = isEmpty ? await findExternal(root) : [];
  const backlog = prdBacklog(look);
  const parked = prd === null ? [] : await parkedIn(look, backlog);
  const counts = prd === null ? null : await backlog.overview({ parked });
  const plan = begunPlan(await readText(join(root, PLAN_STATE_FILE)));
  const stories = (prd?.userStories ?? []).map(({ id, title, passes, ...story }) => {
    const checks = storyChecks({ id, title, passes, ...story }, config).map(({ name }) => name);
    const reason = passes ? undefined : parked.find((one) => one.id === id)?.reason;
    if (reason !== undefined) return { id, title, state: "parked" as const, reason, checks };
    return { id, title, state: passes ? "passes" as const : "open" as const, checks };
  });
  const hint = external === undefined ? ownHint(error) : importHint(external);
  return {
    data: { plan, counts, stories },
    lines: [
      ...(plan === null ? [] : [`plan: ${plan.state} ${dim(`"${oneLine(plan.goal)}"`)}`]),
      ...(counts === null ? [] : [countLine(counts, { items: "stories" }, look.style)]),
      ...stories.map(({ id, title, state, reason, checks }) => {
        const notes = reason === undefined ? [] : [dim(`parked: ${oneLine(headlineOf(reason))}`)];
        const item = { id, title, notes, isUnchecked: checks.length === 0 };
        return `  ${itemLine({ ...item, state: state === "passes" ? "passed" : state }, look.style)}`;
      }),
    ],
    problem: error?.message ?? null,
    hint: hint ?? await stepHint(),
  };

  async function stepHint(): Promise<string | null> {
    if (error !== null) return "`ralph validate`";
    if (plan !== null && plan.state !== "done") return "`ralph plan --resume`";
    if (counts === null || counts.total === 0) return '`ralph exec "<goal>"`';
    return hintOf(await backlog.next({ inFlight: [], parked }), COMMANDS);
  }
}
