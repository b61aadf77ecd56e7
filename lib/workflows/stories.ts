/**
 * The common part of the PRDs of several workflows: stories that pass, in the order of their priority.
 *
 * @module
 */
import { failureIn, failureOf, largestGroup, withoutFailure } from "../backlog/attempts.ts";
import { type Listed, openOf, overviewOf } from "../backlog/list.ts";
import type { Check, Item, Overview, WorkContext } from "../backlog/types.ts";
import { noChecks, storyCommands } from "../backlog/verify_commands.ts";
import { branchProblems, type FileFindings, placeholderProblems } from "../cli/validated_file.ts";
import type { Config } from "../config/load.ts";
import { quoted } from "../prompts/render.ts";
import type { Validated } from "./workflow.ts";

/** One user story of a PRD: what one iteration works on. */
export interface PrdStory {
  /** Such as `US-001`. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  /** A criterion ``Verify: `cmd` `` names a check. */
  readonly acceptanceCriteria: readonly string[];
  /** The lowest comes first. */
  readonly priority: number;
  /** Set by Ralph alone, after every check of the story passed. */
  readonly passes: boolean;
  /** A person's notes, and behind them the last failure's reason. */
  readonly notes: string;
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
export function storyOverview<Story extends PrdStory>(
  stories: readonly Listed<Story>[],
  { isGivenUp, anyOrder }: {
    readonly isGivenUp: (item: Item<Story>) => boolean;
    readonly anyOrder: boolean | undefined;
  },
): Overview {
  const priorities = openOf(stories, isGivenUp).map(({ item }) => item.data.priority);
  return {
    ...overviewOf(stories, isGivenUp),
    atOnce: anyOrder === true ? priorities.length : largestGroup(priorities),
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

/** A story as an entry of a list. Pure. */
export function listedStory<Story extends PrdStory>(
  story: Story,
  fingerprint: string,
  checks: readonly Check[],
): Listed<Story> {
  const { id, title, acceptanceCriteria: criteria, priority, passes: done } = story;
  return { item: { id, kind: "story", title, criteria, priority, fingerprint, data: story }, checks, done };
}

/** An item's prompt says this of its attempts. */
export type AttemptFacts = Pick<WorkContext, "attempt" | "nonce" | "previous">;

/** An item's prompt is made from these, beside the item. */
export interface PromptFacts extends AttemptFacts {
  readonly root: string;
  readonly checks: readonly Check[];
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

/** The checks of a story as its prompt lists them; `none`: said where there are none. Pure. */
export function listedChecks(checks: readonly Check[], none: string): string {
  if (checks.length === 0) return none;
  return checks.map(({ name, command, about }) =>
    command === undefined ? `- ${name}${about === undefined ? "" : `: ${about}`}` : `- \`${name}\``
  ).join("\n");
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
    refused: stories.flatMap(({ story, own }) => placeholderProblems(story.id, own)),
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
