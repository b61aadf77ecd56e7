import { storyChecks } from "../checks.ts";
import { headlineOf } from "../../../backlog/verdict.ts";
import { type Look, parkedIn } from "../../../cli/look.ts";
import { countLine, itemLine } from "../../../cli/item_list.ts";
import { nextOfBacklog, type NextView } from "../../../cli/next_view.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { prdBacklog } from "../backlog.ts";
import type { Prd, Story } from "../types.ts";
import { join } from "node:path";
import type { Next, Overview, ParkedItem } from "../../../backlog/types.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { ownHint } from "../../../cli/validated_file.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { readText } from "../../../host/files.ts";
import { oneLine } from "../../../ui/printable.ts";
import type { Style } from "../../../ui/style.ts";
import { parsePrd } from "../format.ts";
import { findExternal, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";
import { type BegunPlan, begunPlan } from "../plan/begun.ts";

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

/** One story in `ralph status --json`. */
interface StoryStatus {
  readonly id: string;
  readonly title: string;
  readonly state: "passes" | "open" | "parked";
  /** Why it is parked. */
  readonly reason?: string;
  readonly checks: readonly string[];
}

/** The state of the plan and the stories. @throws {RalphError} state-missing */
export async function readStatus(look: Look): Promise<StatusView> {
  const { prd, problem, hint } = await readPrd(look);
  const backlog = prdBacklog(look);
  const parked = prd === null ? [] : await parkedIn(look, backlog);
  const stories = (prd?.userStories ?? []).map((story) => storyStatus(story, look, parked));
  const counts = prd === null ? null : await backlog.overview({ parked });
  const plan = begunPlan(await readText(join(look.root, PLAN_STATE_FILE)));
  return {
    data: { plan, counts, stories },
    lines: linesOf({ plan, counts, stories }, look.style),
    problem,
    hint: hint ?? await hintFor(counts, problem, plan, () => backlog.next({ inFlight: [], parked })),
  };
}

function storyStatus(story: Story, { config }: Look, given: readonly ParkedItem[]): StoryStatus {
  const { id, title, passes } = story;
  const checks = storyChecks(story, config).map(({ name }) => name);
  const reason = passes ? undefined : given.find((one) => one.id === id)?.reason;
  if (reason !== undefined) return { id, title, state: "parked", reason, checks };
  return { id, title, state: passes ? "passes" : "open", checks };
}

/** The PRD, what is wrong with it, and how another tool's plan becomes one. */
interface FoundPrd {
  readonly prd: Prd | null;
  readonly problem: string | null;
  readonly hint: string | null;
}

async function readPrd({ root, state }: Look): Promise<FoundPrd> {
  const text = await state.read(PRD_FILE);
  try {
    const prd = text === null ? null : parsePrd(text, PRD_FILE);
    const [external] = prd === null || prd.userStories.length === 0 ? await findExternal(root) : [];
    return { prd, problem: null, hint: external === undefined ? null : importHint(external) };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { prd: null, problem: error.message, hint: ownHint(error) };
  }
}

async function hintFor(
  counts: Overview | null,
  problem: string | null,
  plan: BegunPlan | null,
  next: () => Promise<Next<unknown>>,
): Promise<string | null> {
  if (problem !== null) return "`ralph validate`";
  if (plan !== null && plan.state !== "done") return "`ralph plan --resume`";
  if (counts === null || counts.total === 0) return '`ralph exec "<goal>"`';
  return hintOf(await next(), COMMANDS);
}

function linesOf(
  { plan, counts, stories }: {
    readonly plan: BegunPlan | null;
    readonly counts: Overview | null;
    readonly stories: readonly StoryStatus[];
  },
  style: Style,
): readonly string[] {
  const { dim } = style;
  return [
    ...(plan === null ? [] : [`plan: ${plan.state} ${dim(`"${oneLine(plan.goal)}"`)}`]),
    ...(counts === null ? [] : [countLine(counts, { items: "stories" }, style)]),
    ...stories.map(({ id, title, state, reason, checks }) => {
      const notes = reason === undefined ? [] : [dim(`parked: ${oneLine(headlineOf(reason))}`)];
      const item = { id, title, notes, isUnchecked: checks.length === 0 };
      return `  ${itemLine({ ...item, state: state === "passes" ? "passed" : state }, style)}`;
    }),
  ];
}
