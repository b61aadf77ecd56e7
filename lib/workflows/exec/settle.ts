import { fingerprintOf, isOver, reasonOf, withFailure, withoutFailure } from "../../backlog/attempts.ts";
import type { Attempt, Item, Settlement } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { headlineOf } from "../../backlog/verdict.ts";
import { localDate } from "../../host/local_date.ts";
import { presentPaths } from "../../host/files.ts";
import { PLAN_TRANSCRIPT_FILE, PROGRESS_FILE, type Story } from "./types.ts";

/** A settlement is written here. */
interface Place {
  readonly ralph: Pick<RalphContext, "host" | "root" | "state">;
  /** The PRD. */
  readonly file: string;
  /** Changes its stories. */
  readonly change: (to: (story: Story) => Story) => Promise<void>;
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
export function printOf({ title, acceptanceCriteria }: Story): string {
  return fingerprintOf([title, acceptanceCriteria]);
}

/** Records what became of an attempt in the PRD, and of a story that is over in the progress file. */
export async function settleStory(
  item: Item<Story>,
  attempt: Attempt,
  { ralph, file, change }: Place,
): Promise<Settlement> {
  async function record(result: ProgressEntry["result"], detail: string): Promise<void> {
    const date = localDate(ralph.host.clock.now());
    const entry = { attemptId: attempt.id, date, storyId: item.id, title: item.title, result, detail };
    await ralph.state.update(PROGRESS_FILE, (before) => withProgress(before, entry));
  }
  const isThis = (story: Story): boolean => story.id === item.id && printOf(story) === item.fingerprint;
  if (attempt.status === "verified" || attempt.status === "unverified") {
    await change((story) => isThis(story) ? { ...story, passes: true, notes: withoutFailure(story.notes) } : story);
    const result = attempt.status === "verified" ? "passed" : "unverified";
    const detail = (attempt.verification?.results ?? []).map(({ name }) => name).join(", ");
    await record(result, detail);
    const stateSubject = `ralph: ${item.id} ${result}`;
    const subject = `feat: ${item.id} - ${item.title}`;
    // the transcript has the gates' decisions, taken after it was committed with the plan
    const paths = [file, PROGRESS_FILE, ...await presentPaths(ralph.root, [PLAN_TRANSCRIPT_FILE])];
    return { status: "passed", commit: { subject, stateSubject, body: stateSubject, paths, work: true } };
  }
  if (attempt.status === "interrupted") return { status: "open" };

  const reason = reasonOf(attempt);
  const said = `attempt ${attempt.number} ${attempt.status}: ${reason}`;
  await change((story) => isThis(story) ? { ...story, passes: false, notes: withFailure(story.notes, said) } : story);
  const parked = isOver(attempt);
  if (parked) await record("parked", headlineOf(reason));
  const paths = parked ? [file, PROGRESS_FILE] : [file];
  const commit = { subject: `ralph: ${item.id} ${parked ? "parked" : "failed"}`, paths, work: false };
  return parked ? { status: "parked", reason, commit } : { status: "open", reason, commit };
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
