/**
 * Issues as items: which of them may be worked on, by which text and checks, and why the others are left alone. Pure.
 *
 * @module
 */
import { fingerprintOf, isParked } from "../backlog/attempts.ts";
import type { Check, Item, LoopView, Overview } from "../backlog/types.ts";
import type { TrackerConfig } from "../config/load.ts";
import { sameName } from "../host/data.ts";
import { type IssueData, ownCommands, seenBody, seenTitle, type Standing, standingOf } from "./trust.ts";
import type { Issue } from "./types.ts";

const MOST_LINES = 30;
const LONGEST_LINE = 300;

/** An issue of the list. */
export interface Entry {
  readonly issue: Issue;
  readonly item: Item<IssueData>;
  /** Someone wants it to be worked on, whatever its text. */
  readonly isWanted: boolean;
  /** Why it is left alone; `null`: it may be worked on. */
  readonly left: string | null;
}

export interface QueueOptions {
  readonly config: TrackerConfig;
  /** Agents and checks reach nothing but the tree. */
  readonly isConfined: boolean;
}

/** The issue as an item. */
export function entryOf(issue: Issue, { config, isConfined }: QueueOptions): Entry {
  const standing = standingOf(issue);
  const isStrange = standing !== "own";
  const { id, url } = issue;
  const data: IssueData = {
    id,
    url,
    // a stranger's words are in the prompt alone: in a commit's subject they could close another issue
    title: isStrange ? `resolve ${id}` : seenTitle(issue),
    text: isStrange ? `${seenTitle(issue)}\n\n${seenBody(issue)}` : seenBody(issue),
    isStrange,
    commands: ownCommands(issue),
  };
  const item: Item<IssueData> = {
    id,
    kind: "issue",
    title: data.title,
    ...isStrange ? { isAdded: true } : { criteria: criteriaIn(data.text) },
    fingerprint: fingerprintOf([data.title, data.text, data.isStrange, data.commands]),
    data,
  };
  return {
    issue,
    item,
    isWanted: offBecause(issue, config) === null,
    left: leftBecause(issue, standing, { config, isConfined }),
  };
}

/** The lines of a text that a request shows, and a reviewer looks at. */
function criteriaIn(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.slice(0, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
}

function leftBecause(issue: Issue, standing: Standing, { config, isConfined }: QueueOptions): string | null {
  const off = offBecause(issue, config);
  if (off !== null) return off;
  if (standing === "strange") {
    const stranger = issue.edits.find(({ by }) => by?.mayWrite !== true)?.by?.name ?? "someone unknown";
    return `${stranger} wrote or edited it and may not write here: set the label ${config.label} (again) once you have read it`;
  }
  if (standing === "asked" && !isConfined) return "its words are a stranger's: it is worked on with `--sandbox` only";
  return null;
}

/** Why nobody wants it to be worked on, whatever its text; `null`: it is wanted. */
function offBecause({ isOpen, labels }: Issue, config: TrackerConfig): string | null {
  const has = (name: string): boolean => labels.some((label) => sameName(label, name));
  const forPeople = config.people.find(has);
  if (!isOpen) return "it is closed";
  if (!has(config.label)) return `it has not the label ${config.label}`;
  return forPeople === undefined ? null : `it is for people (${forPeople})`;
}

/** The order and state of all that is there. */
export interface Standings {
  readonly passed: readonly Entry[];
  /** May be taken up now, in order. */
  readonly ready: readonly Entry[];
  readonly parked: readonly Entry[];
  /** Come later: others are first. */
  readonly later: readonly Entry[];
  readonly left: readonly Entry[];
}

/** The counts that every view shows. */
export function countsOf(
  { passed, ready, later, parked }: Standings,
): Pick<Overview, "passed" | "parked"> & Record<"open" | "total", number> {
  const [done, open, left] = [passed.length, ready.length + later.length, parked.length];
  return { total: done + open + left, passed: done, open, parked: left };
}

/** The end of a reason why work was put away that passed its checks: the issue itself may come again. */
export const NOT_PROPOSED = "this work is not proposed";

/** Sorts the entries by what the journal knows of them. */
export function standingsOf(entries: readonly Entry[], { passed = [], parked: all }: LoopView): Standings {
  const parked = all.filter(({ reason }) => !reason.endsWith(NOT_PROPOSED));
  const isDone = ({ item }: Entry): boolean =>
    passed.some(({ id, fingerprint }) => id === item.id && fingerprint === item.fingerprint);
  const done = new Set(entries.filter(isDone).map(({ item }) => item.id));
  const open = entries.filter(({ item }) => !done.has(item.id));
  const mine = open.filter(({ left }) => left === null);
  const waits = ({ issue }: Entry): boolean => issue.waitsFor.some((id) => !done.has(id));
  return {
    passed: entries.filter(({ item }) => done.has(item.id)),
    left: open.filter(({ left }) => left !== null),
    parked: mine.filter(({ item }) => isParked(item, parked)),
    later: mine.filter((one) => !isParked(one.item, parked) && waits(one)),
    ready: mine.filter((one) => !isParked(one.item, parked) && !waits(one)),
  };
}

/** The checks of an issue: those that it names, then the configuration's. */
export function checksOf({ commands }: IssueData, shared: readonly string[]): readonly Check[] {
  return [
    ...commands.map((command): Check => ({ name: command, command, own: true })),
    ...shared.filter((command) => !commands.includes(command)).map((command) => ({ name: command, command })),
  ];
}
