/**
 * The common part of the PRDs of several workflows: stories that pass, in the order of their priority.
 *
 * @module
 */
import { failureIn, failureOf, largestGroup, withoutFailure } from "../backlog/attempts.ts";
import type { Attempt, Check, Item, Overview, PassedItem } from "../backlog/types.ts";
import { noChecks, storyCommands } from "../backlog/verify_commands.ts";
import { branchProblems, type FileFindings, placeholderProblems } from "../cli/validated_file.ts";
import type { Config } from "../config/types.ts";
import { quoted } from "../prompts/parts.ts";
import type { Validated } from "./workflow.ts";

/** A story of a PRD. */
export interface PrdStory {
  readonly id: string;
  readonly title: string;
  readonly acceptanceCriteria: readonly string[];
  readonly priority: number;
  readonly passes: boolean;
}

/** Lowest priority first; the order of the file on a tie. Pure. */
export function inOrder<Story extends PrdStory>(stories: readonly Story[]): readonly Story[] {
  return stories.toSorted((one, other) => one.priority - other.priority);
}

/** True for stories that ask for the same. Pure. */
export function sameCriteria(one: Pick<PrdStory, "acceptanceCriteria">, other: typeof one): boolean {
  return JSON.stringify(one.acceptanceCriteria) === JSON.stringify(other.acceptanceCriteria);
}

/** The counts of a PRD. Pure. */
export function storyCounts<Story extends PrdStory>(
  stories: readonly Story[],
  { isGivenUp, checksOf, anyOrder }: {
    readonly isGivenUp: (story: Story) => boolean;
    readonly checksOf: (story: Story) => readonly Check[];
    readonly anyOrder: boolean | undefined;
  },
): Overview {
  const open = stories.filter(({ passes }) => !passes);
  const left = open.filter((story) => !isGivenUp(story));
  return {
    total: stories.length,
    passed: stories.length - open.length,
    open: left.length,
    atOnce: anyOrder === true ? left.length : largestGroup(left.map(({ priority }) => priority)),
    parked: open.length - left.length,
    unchecked: left.filter((story) => checksOf(story).length === 0).map(({ id }) => id),
  };
}

/** A command as a check of a story: its own where it is not one that all share. Pure. */
export function commandCheck(command: string, { id }: Pick<PrdStory, "id">, shared: readonly string[]): Check {
  return { name: command, command, scope: id, ...(shared.includes(command) ? {} : { own: true }) };
}

/** The commands of a story: those that hold for every one, then its own, each once. Pure. */
export function commandsOf(story: PrdStory, { verify }: Pick<Config, "verify">): readonly string[] {
  return [...new Set([...verify.default, ...storyCommands(story)])];
}

/** The stories that pass, for the final check. Pure. */
export function passedStories<Story extends PrdStory>(
  stories: readonly Story[],
  printOf: (story: Story) => string,
  checksOf: (story: Story) => readonly Check[],
): readonly PassedItem[] {
  return stories.filter(({ passes }) => passes).map((story) => ({
    id: story.id,
    title: story.title,
    fingerprint: printOf(story),
    checks: checksOf(story),
  }));
}

/** A story as an item of the loop. Pure. */
export function storyItem<Story extends PrdStory>(story: Story, fingerprint: string): Item<Story> {
  const { id, title, acceptanceCriteria: criteria, priority } = story;
  return { id, kind: "story", title, criteria, priority, fingerprint, data: story };
}

/** A story's prompt says this of its attempts. */
export interface AttemptFacts {
  readonly attempt: number;
  readonly nonce: string;
  readonly previous: Attempt | null;
}

/** The values of a story's prompt that its attempts and notes give. Pure. */
export function attemptValues(
  notes: string,
  { attempt, nonce, previous }: AttemptFacts,
): Readonly<Record<"attempt" | "failure" | "nonce" | "notes", string>> {
  const kept = withoutFailure(notes);
  const failure = failureIn(notes);
  return {
    attempt: String(attempt),
    nonce,
    failure: previous === null && failure === null ? "" : failureOf(previous, failure),
    notes: kept.trim() === "" ? "" : quoted(kept),
  };
}

/** The faults of a PRD whose form is right: its branch, and commands that check nothing or are not there. */
export async function storyFindings(
  validated: Validated,
  branchName: string,
  stories: readonly {
    readonly story: PrdStory;
    /** The commands that the story itself names. */
    readonly own: readonly string[];
    /** No check is known for it. */
    readonly unchecked: boolean;
  }[],
): Promise<Required<FileFindings>> {
  const open = stories.filter(({ story }) => !story.passes);
  return {
    problems: await branchProblems(validated, branchName),
    empty: stories.flatMap(({ story, own }) => placeholderProblems(story.id, own)),
    warnings: [
      ...open.filter(({ unchecked }) => unchecked).map(({ story }) => `${story.id}: names no check and cannot pass`),
      ...open.flatMap(({ story }) => noChecks(story)),
    ],
  };
}

/** The checks of a story: those that hold for every one, then its own. Pure. */
export function storyChecks(story: PrdStory, config: Pick<Config, "verify">): readonly Check[] {
  return commandsOf(story, config).map((command) => commandCheck(command, story, config.verify.default));
}
