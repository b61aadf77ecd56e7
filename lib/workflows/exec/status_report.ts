import { join } from "node:path";
import { PLAN_STATE_FILE, PRD_FILE } from "./paths.ts";
import { parsePrd } from "./format.ts";
import type { Prd } from "./types.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { readText } from "../../host/files.ts";
import { readLockHolder } from "../../host/read_lock_holder.ts";
import { ownFiles } from "../../context/own_files.ts";
import type { Overview } from "../../backlog/types.ts";
import type { Invocation } from "../../cli/command.ts";
import type { Place } from "../../cli/workspace.ts";
import { type StateView, viewState } from "./state_view.ts";

/** What `ralph status` tells; the JSON form is this very object. */
export interface StatusReport {
  readonly root: string;
  readonly workflow: string;
  /** Why this workflow. */
  readonly why: string;
  /** `null`: detached, or no repository. */
  readonly branch: string | null;
  readonly agent: string | null;
  /** The run that is at work here. */
  readonly running: { readonly pid: number; readonly purpose: string; readonly since: string } | null;
  readonly plan: { readonly goal: string; readonly state: string } | null;
  readonly counts: Overview | null;
  readonly stories: readonly StoryStatus[];
  /** Why the stories cannot be read. */
  readonly problem: string | null;
  /** The command to run next. */
  readonly hint: string;
}

/** One story in it. */
export interface StoryStatus {
  readonly id: string;
  readonly title: string;
  readonly state: "passes" | "open" | "parked";
  /** Why it is parked. */
  readonly reason?: string;
  readonly checks: readonly string[];
}

/** Reads everything, takes no lock, changes nothing. @throws {RalphError} root-missing, config-invalid, usage */
export async function readStatus({ host }: Pick<Invocation, "host">, place: Place): Promise<StatusReport> {
  const view = await viewState({ host }, place);
  const { root, workflow, repository, config } = view;
  const { prd, problem } = await readPrd(view);
  const given = prd === null ? [] : await view.parked();
  const stories = prd?.userStories.map((story): StoryStatus => {
    const parked = given.find(({ id }) => id === story.id);
    const checks = [...new Set([...config.verify.default, ...storyCommands(story)])];
    const { id, title } = story;
    if (story.passes) return { id, title, state: "passes", checks };
    return parked === undefined
      ? { id, title, state: "open", checks }
      : { id, title, state: "parked", reason: parked.reason, checks };
  }) ?? [];
  const counts = prd === null ? null : await view.backlog.overview({ parked: given });
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  const plan = await readPlan(root);
  return {
    root,
    workflow: workflow.name,
    why: workflow.why,
    branch: await repository?.currentBranch() ?? null,
    agent: config.provider.command ?? config.provider.preset ?? null,
    running: holder === null ? null : { pid: holder.pid, purpose: holder.purpose, since: holder.since },
    plan,
    counts,
    stories,
    problem,
    hint: hintFor(counts, problem, plan),
  };
}

async function readPrd(view: StateView): Promise<{ readonly prd: Prd | null; readonly problem: string | null }> {
  const text = await view.state.read(PRD_FILE);
  if (text === null) return { prd: null, problem: null };
  try {
    return { prd: parsePrd(text, PRD_FILE), problem: null };
  } catch (error) {
    if (RalphError.isInstance(error)) return { prd: null, problem: error.message };
    throw error;
  }
}

/** Only what is shown; `ralph validate` says what is wrong with the file. */
async function readPlan(root: string): Promise<StatusReport["plan"]> {
  const text = await readText(join(root, PLAN_STATE_FILE));
  const [, goal] = /"goal":\s*("(?:[^"\\]|\\.)*")/.exec(text ?? "") ?? [];
  const [, state] = /"state":\s*"([a-z_]+)"/.exec(text ?? "") ?? [];
  return goal === undefined || state === undefined ? null : { goal: JSON.parse(goal) as string, state };
}

function hintFor(counts: Overview | null, problem: string | null, plan: StatusReport["plan"]): string {
  if (problem !== null) return "`ralph validate`";
  if (plan !== null && plan.state !== "done") return "`ralph plan --resume`";
  if (counts === null || counts.total === 0) return '`ralph exec "<goal>"`';
  if ((counts.open ?? 0) > 0) return "`ralph run`";
  if (counts.parked > 0) return "`ralph run --retry-blocked`";
  return "`ralph verify`";
}
