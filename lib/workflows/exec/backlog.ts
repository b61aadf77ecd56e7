import { listedStory, storyChecks, storyOverview } from "../stories.ts";
import type { LoopDefaults, RalphContext } from "../../context/context.ts";
import { stateInvalid, stateMissing } from "../../errors/ralph_error.ts";
import { newestArchive } from "../../git/archive.ts";
import type { RootedRepository } from "../../git/repository.ts";
import { type Listed, nextOf, passedOf } from "../../backlog/list.ts";
import * as exec from "./types.ts";
import type { GatedBacklog, GateTexts } from "../../recipe/gate_run.ts";
import { begunPlan, formatPrd, parsePrd, repeatedIds } from "./format.ts";
import * as attempts from "../../backlog/attempts.ts";
import type { Attempt, Item, Settlement } from "../../backlog/types.ts";
import { localDate } from "../../host/local_date.ts";
import { presentPaths } from "../../host/files.ts";

/** The backlog needs these parts of the context. */
export interface PrdBacklogContext extends Pick<RalphContext, "config" | "host" | "repository" | "root" | "state"> {
  readonly loop?: Pick<LoopDefaults, "anyOrder">;
}

/** The place of the PRD. */
export interface PrdBacklogOptions {
  /** Relative to the root. @default "scripts/ralph/prd.json" */
  readonly file?: string;
}

const GATE: GateTexts = {
  items: { one: "story", many: "stories" },
  command: "ralph run",
  plan: 'ralph plan "<goal>"',
  record: async (...decision) => await (await import("./plan/state.ts")).recordDecision(...decision),
};

/** An item of this backlog carries this. */
export type PrdItemData = exec.Story;

/**
 * The strict PRD of the exec workflow: one story an iteration, lowest priority first. The format has no room for attempts and parked stories: they live in the loop's journal.
 *
 * @throws {RalphError} state-missing, state-invalid from every call that reads the file
 * @example Work off the stories of scripts/ralph/prd.json
 * ```ts
 * import { prdBacklog, runLoop } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * const story = { id: "US-001", title: "Add a.txt", acceptanceCriteria: ["Verify: `test -f a.txt`"], priority: 1, passes: false, notes: "" };
 * await using ralph = await testContext({
 *   files: { "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [story] }) },
 *   agent: { turns: [{ write: { "a.txt": "a" } }] },
 * });
 * console.log((await runLoop(ralph, prdBacklog(ralph))).status); // passed
 * ```
 */
export function prdBacklog(
  ralph: PrdBacklogContext,
  options: PrdBacklogOptions = {},
): GatedBacklog<PrdItemData, unknown> {
  const { file = exec.PRD_FILE } = options;
  const anyOrder = ralph.loop?.anyOrder;
  const { load, change } = prdIn(ralph, file);
  const known = new WeakMap<exec.Story, Listed<exec.Story>>();
  const entryOf = (story: exec.Story): Listed<exec.Story> => {
    const entry = known.get(story) ?? listedStory(story, printOf(story), storyChecks(story, ralph.config));
    known.set(story, entry);
    return entry;
  };
  const listed = async (): Promise<readonly Listed<exec.Story>[]> => (await load()).userStories.map(entryOf);
  return {
    name: "exec",
    gate: GATE,
    stateFiles: [file],
    ownFiles: [exec.PROGRESS_FILE, exec.PLAN_TRANSCRIPT_FILE, exec.PLAN_STATE_FILE],
    unverified: "block",
    concurrent: true,
    runsDirectory: exec.EXEC_RUNS,
    async brief() {
      const { branchName, userStories } = await load();
      return {
        goal: begunPlan(await ralph.state.read(exec.PLAN_STATE_FILE))?.goal ?? null,
        branch: userStories.length === 0 ? "" : branchName, // nothing is made for a PRD that asks for nothing
        fingerprint: attempts.fingerprintOf(userStories.map((story) => [story.id, printOf(story)])),
      };
    },

    overview: async ({ parked }) =>
      storyOverview(await listed(), { isGivenUp: (item) => attempts.isParked(item, parked), anyOrder }),

    async next(look) {
      const stories = await listed();
      if (stories.length > 0) return nextOf(stories, look, (open) => attempts.startable(open, { ...look, anyOrder }));
      return { status: "blocked", reasons: [`${file} has no stories: \`ralph plan "<goal>"\` writes them`] };
    },

    passed: async () => passedOf(await listed()),

    async reopen(ids, reason) {
      await change((story) => ids.includes(story.id) ? notPassed(story, reason) : story);
      const subject = `ralph: ${ids.join(", ")} sent back by the final check`;
      return { status: "open", reason, commit: { subject, paths: [file], work: false } };
    },

    async work(item, context) {
      const checks = storyChecks(item.data, ralph.config);
      const branch = await ralph.repository?.currentBranch() ?? (await load()).branchName;
      const { storyPrompt } = await import("./prompt.ts"); // with the prompts' texts: `ralph status` needs none
      return { prompt: await storyPrompt(item.data, { ...context, root: ralph.root, branch, checks }), checks };
    },

    async judge(_item, turn, { checked, nonce, repository = ralph.repository }) {
      if (checked && turn.changedFiles.some((path) => path !== file)) return { status: "done" };
      return await (await import("./claim.ts")).claimOf(turn, nonce, repository);
    },

    settle: (item, attempt) => settleStory(item, attempt, { ralph, file, change }),
  };
}

/** The PRD in its file. The same text is read many times an iteration: it is parsed once. */
function prdIn({ root, repository, state }: PrdBacklogContext, file: string) {
  let last: { readonly text: string; readonly prd: exec.Prd } | null = null;

  function parse(text: string): exec.Prd {
    if (last?.text === text) return last.prd;
    const prd = parsePrd(text, file);
    const repeated = repeatedIds(prd);
    if (repeated.length > 0) throw stateInvalid(file, repeated.join("; "));
    last = { text, prd };
    return prd;
  }

  return {
    async load(): Promise<exec.Prd> {
      const text = await state.read(file);
      if (text !== null) return parse(text);
      throw stateMissing(file, await wayTo({ root, repository }));
    },
    async change(to: (story: exec.Story) => exec.Story): Promise<void> {
      await state.update(file, (text) => {
        if (text === null) return null;
        const prd = parse(text);
        const userStories = prd.userStories.map(to);
        if (JSON.stringify(userStories) === JSON.stringify(prd.userStories)) return text;
        last = { prd: { ...prd, userStories }, text: formatPrd({ ...prd, userStories }) };
        return last.text;
      });
    },
  };
}

/** How a PRD that is missing is had. */
async function wayTo({ root, repository }: RootedRepository): Promise<string> {
  const branch = await repository?.currentBranch() ?? null;
  if (repository !== null && branch !== null && await newestArchive(repository, branch) !== null) {
    return `\`ralph restore --branch ${branch}\` lays it in as \`ralph finish\` took it off`;
  }
  const { findExternal, importHint } = await import("./import/find_external.ts");
  const [external] = await findExternal(root);
  return external === undefined ? '`ralph plan "<goal>"` writes it' : importHint(external);
}

/** A settlement is written here. */
interface Place {
  readonly ralph: Pick<RalphContext, "host" | "root" | "state">;
  /** The PRD. */
  readonly file: string;
  /** Changes its stories. */
  readonly change: (to: (story: exec.Story) => exec.Story) => Promise<void>;
}

/** One story's line in `progress.txt`. */
export interface ProgressEntry {
  /** `<run>.<iteration>`: by it the line is never written twice. */
  readonly attemptId: string;
  /** Local day, `YYYY-MM-DD`. */
  readonly date: string;
  readonly storyId: string;
  readonly title: string;
  readonly result: "passed" | "unverified" | "parked";
  /** The checks that ran, or why the story was given up. */
  readonly detail: string;
}

/** Distinguishes a story from another one with the same id. */
export function printOf({ title, acceptanceCriteria }: exec.Story): string {
  return attempts.fingerprintOf([title, acceptanceCriteria]);
}

/** Records what became of an attempt in the PRD, and of a story that is over in the progress file. */
export async function settleStory(
  item: Item<exec.Story>,
  attempt: Attempt,
  { ralph, file, change }: Place,
): Promise<Settlement> {
  async function record(result: ProgressEntry["result"], detail: string): Promise<void> {
    const date = localDate(ralph.host.clock.now());
    const entry = { attemptId: attempt.id, date, storyId: item.id, title: item.title, result, detail };
    await ralph.state.update(exec.PROGRESS_FILE, (before) => withProgress(before, entry));
  }
  const isThis = (story: exec.Story): boolean => story.id === item.id && printOf(story) === item.fingerprint;
  if (attempt.status === "verified" || attempt.status === "unverified") {
    await change((story) =>
      isThis(story) ? { ...story, passes: true, notes: attempts.withoutFailure(story.notes) } : story
    );
    const result = attempt.status === "verified" ? "passed" : "unverified";
    await record(result, (attempt.verification?.results ?? []).map(({ name }) => name).join(", "));
    const stateSubject = `ralph: ${item.id} ${result}`;
    const subject = `feat: ${item.id} - ${item.title}`;
    // the transcript has the gates' decisions, taken after it was committed with the plan
    const paths = [file, exec.PROGRESS_FILE, ...await presentPaths(ralph.root, [exec.PLAN_TRANSCRIPT_FILE])];
    return { status: "passed", commit: { subject, stateSubject, body: stateSubject, paths, work: true } };
  }
  if (attempt.status === "interrupted") return { status: "open" };

  const reason = attempts.reasonOf(attempt);
  const said = `attempt ${attempt.number} ${attempt.status}: ${reason}`;
  await change((story) => isThis(story) ? notPassed(story, said) : story);
  const parked = attempts.isOver(attempt);
  if (parked) await record("parked", attempts.headlineOf(reason));
  const paths = parked ? [file, exec.PROGRESS_FILE] : [file];
  const commit = { subject: `ralph: ${item.id} ${parked ? "parked" : "failed"}`, paths, work: false };
  return parked ? { status: "parked", reason, commit } : { status: "open", reason, commit };
}

function notPassed(story: exec.Story, why: string): exec.Story {
  return { ...story, passes: false, notes: attempts.withFailure(story.notes, why) };
}

/** The text of `progress.txt` with the entry at its end; the same text when the attempt has its line already. */
export function withProgress(text: string | null, entry: ProgressEntry): string {
  const before = text ?? "";
  const tag = `(${entry.attemptId})`;
  if (before.split("\n").some((line) => line.startsWith("- ") && line.endsWith(tag))) return before;
  const detail = entry.detail.replaceAll(/\s+/g, " ").trim();
  const words = `${entry.date} ${entry.storyId} ${entry.title}: ${entry.result}${detail === "" ? "" : `, ${detail}`}`;
  return `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}- ${words.replaceAll("\n", " ")} ${tag}\n`;
}
