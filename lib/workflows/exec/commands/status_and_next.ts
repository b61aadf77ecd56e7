import { headlineOf } from "../../../backlog/verdict.ts";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { type Look, parkedIn } from "../../../cli/look.ts";
import { itemLines, type NextView, withoutItem } from "../../../cli/next_view.ts";
import { prdBacklog } from "../backlog.ts";
import type { Prd, Story } from "../types.ts";
import { join } from "node:path";
import type { Overview } from "../../../backlog/types.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { ownHint } from "../../../cli/validated_file.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { readText } from "../../../host/files.ts";
import { oneLine } from "../../../ui/printable.ts";
import type { Style } from "../../../ui/style.ts";
import { parsePrd } from "../format.ts";
import { findExternal, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, PRD_FILE } from "../paths.ts";

/** What the next iteration would take of the PRD. */
export async function readNext(look: Look): Promise<NextView> {
  const { config, style } = look;
  const backlog = prdBacklog(look);
  const parked = await parkedIn(look, backlog);
  const next = await backlog.next({ inFlight: [], parked });
  if (next.status !== "item") {
    const retry = parked.length > 0 ? "ralph run --retry-blocked" : null;
    return withoutItem(next, { done: "every story passes", retry });
  }
  const { id, kind, title, data, checksOnly } = next.item;
  const story = kind === "story" ? data as Story : null;
  const criteria = story?.acceptanceCriteria ?? [];
  const checks = story === null ? [] : [...new Set([...config.verify.default, ...storyCommands(story)])];
  return {
    blocked: false,
    data: { status: "item", id, kind, title, acceptanceCriteria: criteria, checks },
    item: checksOnly === true
      ? ["every story passes; next: all their checks once more (`ralph verify`)"]
      : itemLines({ id, title, criteria, checks }, style),
  };
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

interface PlanStatus {
  readonly goal: string;
  readonly state: string;
}

/** The state of the plan and the stories. @throws {RalphError} state-missing */
export async function readStatus(look: Look): Promise<StatusView> {
  const { root, config } = look;
  const { prd, problem, hint } = await readPrd(look);
  const backlog = prdBacklog(look);
  const given = prd === null ? [] : await parkedIn(look, backlog);
  const stories = prd?.userStories.map((story): StoryStatus => {
    const parked = given.find(({ id }) => id === story.id);
    const checks = [...new Set([...config.verify.default, ...storyCommands(story)])];
    const { id, title } = story;
    if (story.passes) return { id, title, state: "passes", checks };
    return parked === undefined
      ? { id, title, state: "open", checks }
      : { id, title, state: "parked", reason: parked.reason, checks };
  }) ?? [];
  const counts = prd === null ? null : await backlog.overview({ parked: given });
  const plan = await readPlan(root);
  return {
    data: { plan, counts, stories },
    lines: linesOf({ plan, counts, stories }, look.style),
    problem,
    hint: hint ?? hintFor(counts, problem, plan),
  };
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

/** Only what is shown; `ralph validate` says what is wrong with the file. */
async function readPlan(root: string): Promise<PlanStatus | null> {
  const text = await readText(join(root, PLAN_STATE_FILE));
  const [, goal] = /"goal":\s*("(?:[^"\\]|\\.)*")/.exec(text ?? "") ?? [];
  const [, state] = /"state":\s*"([a-z_]+)"/.exec(text ?? "") ?? [];
  return goal === undefined || state === undefined ? null : { goal: JSON.parse(goal) as string, state };
}

function hintFor(counts: Overview | null, problem: string | null, plan: PlanStatus | null): string {
  if (problem !== null) return "`ralph validate`";
  if (plan !== null && plan.state !== "done") return "`ralph plan --resume`";
  if (counts === null || counts.total === 0) return '`ralph exec "<goal>"`';
  if ((counts.open ?? 0) > 0) return "`ralph run`";
  if (counts.parked > 0) return "`ralph run --retry-blocked`";
  return "`ralph verify`";
}

function linesOf(
  { plan, counts, stories }: {
    readonly plan: PlanStatus | null;
    readonly counts: Overview | null;
    readonly stories: readonly StoryStatus[];
  },
  { dim, good, warn, symbols }: Style,
): readonly string[] {
  const lines = plan === null ? [] : [`plan: ${plan.state} ${dim(`"${oneLine(plan.goal)}"`)}`];
  if (counts !== null) {
    const { total, passed, open, parked } = counts;
    lines.push(`stories: ${passed}/${total} pass, ${open} open${parked === 0 ? "" : `, ${warn(`${parked} parked`)}`}`);
  }
  for (const story of stories) {
    const mark = { passes: good(symbols.passed), open: dim(symbols.open), parked: warn(symbols.warning) }[story.state];
    const note = story.state === "parked" ? dim(` parked: ${oneLine(headlineOf(story.reason ?? ""))}`) : "";
    const unchecked = story.state !== "passes" && story.checks.length === 0 ? warn(" no check") : "";
    lines.push(`  ${mark} ${oneLine(story.id)}  ${oneLine(story.title)}${note}${unchecked}`);
  }
  return lines;
}
