import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Repository } from "../../git/types.ts";
import { hashText, pathExists, readText, writeAtomic } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import type { Attempt, Backlog, Check, Item, ParkedItem, Settlement } from "../../backlog/types.ts";
import { localDate } from "../../host/local_date.ts";
import { EXEC_RUNS, PLAN_TRANSCRIPT_FILE, PRD_FILE, PROGRESS_FILE } from "./paths.ts";
import { withProgress } from "./progress.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import { finalChecks, reopened } from "./final_checks.ts";
import { formatPrd, parsePrd } from "./format.ts";
import { withFailure, withoutFailure } from "../../backlog/notes.ts";
import type { Prd, Story } from "./types.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";

/** What the backlog needs of the context. */
export interface PrdBacklogContext {
  readonly root: string;
  readonly config: Config;
  readonly state: StateFiles;
  readonly repository: Repository | null;
  readonly host: Host;
}

/** Where the PRD is. */
export interface PrdBacklogOptions {
  /** Relative to the root. @default "scripts/ralph/prd.json" */
  readonly file?: string;
}

/** What an item of this backlog carries: a story, or all of them for the checks at the end. */
export type PrdItemData = Story | readonly Story[];

/**
 * The strict PRD of the exec workflow: one story an iteration, lowest priority first; after the last one every story's
 * checks once more. The format has no room for attempts and parked stories: they live in the loop's journal.
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
export function prdBacklog(ralph: PrdBacklogContext, options: PrdBacklogOptions = {}): Backlog<PrdItemData> {
  const { file = PRD_FILE } = options;
  let confirmed: string | null = null;
  let last: { readonly text: string; readonly prd: Prd } | null = null;

  /** The same text is read many times an iteration: it is parsed once. */
  function parse(text: string): Prd {
    if (last?.text !== text) last = { text, prd: parsePrd(text, file) };
    return last.prd;
  }

  async function load(): Promise<Prd> {
    const text = await ralph.state.read(file);
    if (text !== null) return parse(text);
    throw new RalphError("state-missing", { details: { path: file }, hint: '`ralph plan "<goal>"` writes it' });
  }

  async function change(to: (story: Story) => Story): Promise<void> {
    await ralph.state.update(file, (text) => {
      if (text === null) return null;
      const prd = parse(text);
      const userStories = prd.userStories.map(to);
      const same = userStories.every((story, index) => isSame(story, prd.userStories[index]));
      return same ? text : formatPrd({ ...prd, userStories });
    });
  }

  function checksOf(story: Story): readonly Check[] {
    const commands = new Set([...ralph.config.verify.default, ...storyCommands(story)]);
    return [...commands].map((command) => ({ name: command, command, scope: story.id }));
  }

  async function settleStory(item: Item<Story>, attempt: Attempt): Promise<Settlement> {
    const isThis = (story: Story): boolean => story.id === item.id && fingerprintOf(story) === item.fingerprint;
    if (attempt.status === "verified" || attempt.status === "unverified") {
      const notes = withoutFailure(item.data.notes);
      await change((story) => isThis(story) ? { ...story, passes: true, notes } : story);
      const result = attempt.status === "verified" ? "passed" : "unverified";
      await record(attempt, item, result, (attempt.verification?.results ?? []).map(({ name }) => name).join(", "));
      const stateSubject = `ralph: ${item.id} ${result}`;
      const subject = `feat: ${item.id} - ${item.title}`;
      // the transcript has the gates' decisions, taken after it was committed with the plan
      const paths = [file, PROGRESS_FILE, ...await existing(PLAN_TRANSCRIPT_FILE)];
      return { status: "passed", commit: { subject, stateSubject, body: stateSubject, paths, work: true } };
    }
    if (attempt.status === "interrupted") return { status: "open" };

    const reason = reasonOf(attempt);
    const notes = withFailure(item.data.notes, `attempt ${attempt.number} ${attempt.status}: ${reason}`);
    await change((story) => isThis(story) ? { ...story, passes: false, notes } : story);
    const parked = attempt.status === "blocked" || attempt.number >= ralph.config.maxRetries;
    if (parked) await record(attempt, item, "parked", reason.split("\n")[0] ?? "");
    const paths = parked ? [file, PROGRESS_FILE] : [file];
    const commit = { subject: `ralph: ${item.id} ${parked ? "parked" : "failed"}`, paths, work: false };
    return parked ? { status: "parked", reason, commit } : { status: "open", reason, commit };
  }

  async function existing(path: string): Promise<readonly string[]> {
    return await pathExists(join(ralph.root, path)) ? [path] : [];
  }

  async function record(
    attempt: Attempt,
    item: Item,
    result: "passed" | "unverified" | "parked",
    detail: string,
  ): Promise<void> {
    const path = join(ralph.root, PROGRESS_FILE);
    const before = await readText(path);
    const date = localDate(ralph.host.clock.now());
    const after = withProgress(before, {
      attemptId: attempt.id,
      date,
      storyId: item.id,
      title: item.title,
      result,
      detail,
    });
    if (after !== before) await writeAtomic(path, after);
  }

  return {
    name: "exec",
    stateFiles: [file],
    unverified: "block",
    runsDirectory: EXEC_RUNS,
    branch: async () => (await load()).branchName,

    async overview({ parked }) {
      const { userStories } = await load();
      const open = userStories.filter(({ passes }) => !passes);
      const given = open.filter((story) => isParked(story, parked));
      const left = open.filter((story) => !given.includes(story));
      return {
        total: userStories.length,
        passed: userStories.length - open.length,
        open: left.length,
        parked: given.length,
        unchecked: left.filter((story) => checksOf(story).length === 0).map(({ id }) => id),
      };
    },

    async next({ inFlight, parked }) {
      const { userStories } = await load();
      if (userStories.length === 0) {
        return { status: "blocked", reasons: [`${file} has no stories: \`ralph plan "<goal>"\` writes them`] };
      }
      const open = userStories.filter(({ passes }) => !passes);
      const story = open.filter((one) => !inFlight.includes(one.id) && !isParked(one, parked))
        .toSorted((one, other) => one.priority - other.priority)[0];
      if (story !== undefined) {
        const fingerprint = fingerprintOf(story);
        const { id, title, acceptanceCriteria: criteria } = story;
        return { status: "item", item: { id, kind: "story", title, criteria, fingerprint, data: story } };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      if (open.length > 0) {
        return { status: "blocked", reasons: parked.map(({ id, reason }) => `${id}: ${reason}`) };
      }
      const checks = userStories.flatMap(checksOf);
      const verdict = userStories.every((one) => checksOf(one).length > 0) ? "verified" : "unverified";
      const fingerprint = hashText(JSON.stringify(userStories.map(fingerprintOf)));
      if (checks.length === 0 || confirmed === fingerprint) return { status: "done", verdict };
      const title = "Every story's checks once more";
      return {
        status: "item",
        item: {
          id: "final-checks",
          kind: "checks",
          title,
          exclusive: true,
          checksOnly: true,
          fingerprint,
          data: userStories,
        },
      };
    },

    async work(item, context) {
      if (isStories(item.data)) return { prompt: null, checks: finalChecks(item.data, checksOf) };
      const checks = checksOf(item.data);
      const { branchName } = await load();
      const { storyPrompt } = await import("./story_prompt.ts"); // with the prompts' texts: `ralph status` needs none
      return {
        prompt: await storyPrompt(item.data, { ...context, root: ralph.root, branch: branchName, checks }),
        checks,
      };
    },

    async judge(item, turn, { checked, nonce }) {
      if (checked || isStories(item.data)) return { status: "done" };
      return await (await import("./claim.ts")).claimOf(turn, nonce, ralph.repository);
    },

    async settle(item, attempt) {
      if (!isStories(item.data)) return await settleStory(item as Item<Story>, attempt);
      if (attempt.status === "interrupted") return { status: "open" };
      if (attempt.status !== "failed" || attempt.verification?.status !== "failed") {
        confirmed = item.fingerprint ?? null;
        return { status: "passed" };
      }
      if (attempt.number >= ralph.config.maxRetries) return { status: "stop", as: "failed", reason: attempt.message };
      const again = reopened(item.data, attempt.verification.failures);
      await change((story) => again.get(story.id) ?? story);
      const ids = [...again.keys()].join(", ");
      const commit = { subject: `ralph: ${ids} reset`, body: `ralph: ${ids} reset`, paths: [file], work: false };
      return { status: "open", reason: attempt.message, commit, reopened: [...again.keys()] };
    },
  };
}

function isSame(story: Story, before: Story | undefined): boolean {
  return story === before || JSON.stringify(story) === JSON.stringify(before);
}

/** What a story asks for: another text is another story, whatever its id. */
function fingerprintOf({ title, acceptanceCriteria }: Story): string {
  return hashText(JSON.stringify([title, acceptanceCriteria])).slice(0, 16);
}

function isParked(story: Story, parked: readonly ParkedItem[]): boolean {
  return parked.some(({ id, fingerprint }) => id === story.id && fingerprint === fingerprintOf(story));
}

function isStories(data: PrdItemData): data is readonly Story[] {
  return Array.isArray(data);
}

function reasonOf(attempt: Attempt): string {
  if ("message" in attempt) return attempt.message;
  if (attempt.status === "trespassed") return `wrote outside the allowed paths: ${attempt.paths.join(", ")}`;
  return attempt.status;
}
