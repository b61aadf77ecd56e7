/**
 * The parts of an attempt that backlogs use: why one failed, what the next prompt says of it, and which item an attempt
 * was at.
 *
 * @module
 */
import { afterWords, quoted } from "../prompts/render.ts";
import type { ProviderConfig } from "../config/load.ts";
import { hashText } from "../host/files.ts";
import type { JournalKey, Lack } from "./journal_types.ts";
import type { Attempt, Backlog, FailureReason, Item, ParkedItem, PassedRecord, Verification } from "./types.ts";

/**
 * Why an attempt did not pass, as reports and notes show it. Pure.
 *
 * @example Say why
 * ```ts
 * import { type Attempt, reasonOf } from "ralph/backlog";
 *
 * const say = (attempt: Attempt): string => `not done: ${reasonOf(attempt)}`;
 * console.log(typeof say); // function
 * ```
 */
export function reasonOf(attempt: Attempt): string {
  if ("message" in attempt) return attempt.message;
  if (attempt.status === "trespassed") return `wrote outside the allowed paths: ${attempt.paths.join(", ")}`;
  return attempt.status;
}

/** An attempt of which nothing is known: Ralph was stopped, or nothing came back. Pure. */
export function interruptedAttempt(
  { id, number }: Pick<Attempt, "id" | "number">,
): Pick<Attempt<never>, "claim" | "id" | "number" | "turn" | "verification"> & { readonly status: "interrupted" } {
  return { id, number, claim: null, turn: null, verification: null, status: "interrupted" };
}

/**
 * The attempt leaves the item to a person: it is blocked, or the loop gives the item no other one. Pure.
 *
 * @example In `settle()`
 * ```ts
 * import { type Attempt, isOver, reasonOf } from "ralph/backlog";
 *
 * const settled = (attempt: Attempt) => ({ status: isOver(attempt) ? "parked" : "open", reason: reasonOf(attempt) });
 * console.log(typeof settled); // function
 * ```
 */
export function isOver(attempt: Attempt): boolean {
  return attempt.status === "blocked" || attempt.last === true;
}

/**
 * The words of a prompt about the attempt before. Pure.
 *
 * @param noted why the item did not pass last time, as its notes say: where no attempt is known, since another run made it
 * @example In a prompt
 * ```ts
 * import { failureOf } from "ralph/backlog";
 *
 * console.log(failureOf(null)); // Nothing: this is the first attempt.
 * ```
 */
export function failureOf(previous: Attempt | null, noted: string | null = null): string {
  if (previous === null) return noted === null ? "Nothing: this is the first attempt." : quotedLines(noted);
  if (previous.status === "interrupted") {
    const left =
      "An earlier attempt ended without a verdict. What it changed is still in the working tree: look at it first.";
    return noted === null ? left : `${left}\n\n${quotedLines(noted)}`;
  }
  if ("message" in previous && previous.number === 0) return quotedLines(previous.message); // no turn's: what came after it
  if ("message" in previous) return afterWords(`Attempt ${previous.number} ${previous.status}:`, previous.message);
  return `Attempt ${previous.number} ended as ${previous.status}.`;
}

/** A single line stays as it is, unless it would be a heading, a list or the like. */
function quotedLines(text: string): string {
  return /\n|^\W/.test(text.trim()) ? quoted(text) : text;
}

/**
 * A hash of what an item asks for: with another text it is another item, whatever its id. Pure.
 *
 * @example Two texts
 * ```ts
 * import { fingerprintOf } from "ralph/backlog";
 *
 * console.log(fingerprintOf("add a") === fingerprintOf("add b")); // false
 * ```
 */
export function fingerprintOf(asked: string | readonly unknown[]): string {
  return hashText(typeof asked === "string" ? asked : JSON.stringify(asked)).slice(0, 16);
}

/**
 * Tells whether the journal has given up on the item as it is now. Pure.
 *
 * @example In `next()`
 * ```ts
 * import { isParked } from "ralph/backlog";
 *
 * console.log(isParked({ id: "1", fingerprint: "abc" }, [])); // false
 * ```
 */
export function isParked(
  { id, fingerprint }: Pick<Item, "id" | "fingerprint">,
  parked: readonly ParkedItem[],
): boolean {
  return parked.some((one) => one.id === id && one.fingerprint === (fingerprint ?? null));
}

/**
 * Items in the order of their priority that may start beside what is in flight. A priority is an order: nothing of a
 * later one starts while one of an earlier one is open. Pure.
 *
 * @param open all that are open, those in flight among them
 */
export function startable<Story extends Pick<Item, "id" | "priority">>(
  open: readonly Story[],
  { inFlight, anyOrder = false }: { readonly inFlight: readonly string[]; readonly anyOrder?: boolean | undefined },
): readonly Story[] {
  const first = Math.min(...open.map(({ priority = 0 }) => priority));
  const isNext = ({ priority = 0 }: Story): boolean => anyOrder || inFlight.length === 0 || priority === first;
  return open.filter((story) => !inFlight.includes(story.id) && isNext(story))
    .toSorted(({ priority: one = 0 }, { priority: other = 0 }) => one - other);
}

/** Why a backlog is worked off one item after another, whatever was asked for; `null`: it need not be. Pure. */
export function onlyOneReason(
  { name, concurrent }: { readonly name: string; readonly concurrent?: boolean | undefined },
): string | null {
  return concurrent === true ? null : `items of the ${name} backlog follow each other`;
}

/** Why stories are worked on one after another although several could be at once. */
export const ORDERED = "all priorities differ (`--any-order` ignores them)";

/** How many of the numbers are equal, at most: stories of one priority may be worked on at once. Pure. */
export function largestGroup(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** The name of an unseen check among an attempt's results. */
export const UNSEEN_CHECK = "unseen check";

/** Tells whether an attempt failed by its unseen check. Pure. */
export function failedUnseenCheck({ verification }: Attempt): boolean {
  return verification?.results.some(({ name, ok }) => name === UNSEEN_CHECK && !ok) ?? false;
}

/**
 * Why an item is unverified although its checks passed: it failed the unseen one, or its agent did not claim it and no
 * run has been allowed to do without. Pure.
 *
 * @param provider of the configuration
 */
export function doubtOf(
  { status, checks, unclaimed, closed }: PassedRecord,
  { claims }: Pick<ProviderConfig, "claims">,
): "challenge" | "not-claimed" | null {
  if (status !== "unverified") return null;
  if (unclaimed === true) return claims === "optional" || closed === true ? null : "not-claimed";
  return checks.length > 0 ? "challenge" : null;
}

/** The key of a backlog's attempts in the journal: its name, and its scope or the branch that it asks for. */
export async function journalKeyOf<Data, Findings>(
  { name, scope, brief }: Pick<Backlog<Data, Findings>, "brief" | "name" | "scope">,
): Promise<JournalKey> {
  return { backlog: name, scope: scope ?? (await brief?.())?.branch ?? "" };
}

/** Ralph's own part of a story's notes begins here. Its other lines are indented: behind them a person may go on. */
const RALPH_PART = "[ralph] ";
const INDENT = "  ";

/** How much of a failure is kept in the notes, in characters. */
const FAILURE_CHARACTERS = 4000;

/** Notes with the last failure's reason behind what a person wrote. Pure. */
export function withFailure(notes: string, failure: string): string {
  const kept = withoutFailure(notes);
  const shown = failure.length > FAILURE_CHARACTERS
    ? `${failure.slice(0, 200)}\n…${failure.slice(200 - FAILURE_CHARACTERS)}`
    : failure;
  return `${kept}${kept === "" ? "" : "\n"}${RALPH_PART}${shown.replaceAll("\n", `\n${INDENT}`)}`;
}

/** The text that Ralph had added to the notes, or `null`: why the item did not pass last time. Pure. */
export function failureIn(notes: string): string | null {
  const { own } = partsOf(notes);
  return own === null ? null : own.slice(RALPH_PART.length).replaceAll(`\n${INDENT}`, "\n").trim();
}

/** Notes without what Ralph had added. Pure. */
export function withoutFailure(notes: string): string {
  return partsOf(notes).kept;
}

function partsOf(notes: string): { readonly kept: string; readonly own: string | null } {
  const lines = notes.split("\n");
  const from = lines.findIndex((line) => line.startsWith(RALPH_PART));
  if (from === -1) return { kept: notes, own: null };
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith(INDENT));
  const to = length === -1 ? lines.length : from + 1 + length;
  return { kept: [...lines.slice(0, from), ...lines.slice(to)].join("\n"), own: lines.slice(from, to).join("\n") };
}

/** By the ids of unverified items and the notices about them. Pure. */
export function lackOf(
  unverified: readonly string[],
  notices: readonly { readonly kind: string; readonly subject: string }[],
): Lack {
  const isUnclaimed = (id: string): boolean =>
    notices.some(({ kind, subject }) => kind === "not-claimed" && subject === id);
  return unverified.every(isUnclaimed) ? "claims" : "checks";
}

/** How much of all failing checks' output is handed on. */
const MESSAGE_CHARACTERS = 12_000;

/** Printed for a check that failed before the work began. */
export const FAILED_BEFORE: string = ", failed before the run as well";

/** The verdict of a verification on an attempt whose claim is to be believed only as far as that. Pure. */
type Verdict =
  | { readonly status: "verified" | "unverified" | "interrupted" }
  | { readonly status: "failed"; readonly reason: FailureReason; readonly message: string }
  | { readonly status: "agent-unusable" | "blocked"; readonly message: string };

/** `allowUnverified`: a claim may settle an item that names no check. */
export function verdictOf(verification: Verification, allowUnverified: boolean): Verdict {
  switch (verification.status) {
    case "passed":
      return { status: "verified" };
    case "failed": {
      const halted = verification.failures.find(({ halts }) => halts !== undefined);
      if (halted?.halts === "rate-limited") return { status: "interrupted" };
      if (halted !== undefined) return { status: "agent-unusable", message: `${halted.name}: ${halted.tail}` };
      return { status: "failed", reason: "checks-failed", message: describeFailures(verification) };
    }
    case "aborted":
      return { status: "interrupted" };
    case "unverified":
      return allowUnverified
        ? { status: "unverified" }
        : { status: "blocked", message: "no check is named for this item" };
  }
}

/** A first line alone may name the check, but not the reason. */
const BARE_REGEXP = /(?::|: (?:failed|exit \d+)(?:, failed before the run as well)?)$/;
const HEADLINE_CHARACTERS = 300;

/**
 * The one line of a reason that a summary has room for: its first one, with the most telling of those behind it where the
 * first only names a check. Pure.
 */
export function headlineOf(reason: string): string {
  const [first = "", ...rest] = (reason.trim().split(/\n\s*\n/, 1)[0] ?? "").split("\n").map((line) => line.trim());
  const told = /exit \d/.test(first) ? rest.at(-1) : rest[0];
  const line = !BARE_REGEXP.test(first) || told === undefined || told === ""
    ? first
    : `${first}${first.endsWith(":") ? "" : ":"} ${told}`;
  return line.length > HEADLINE_CHARACTERS ? `${line.slice(0, HEADLINE_CHARACTERS)}…` : line;
}

/** The failing checks with exit code and tail, as the next prompt and the story's notes show them. Pure. */
export function describeFailures(verification: Extract<Verification, { readonly status: "failed" }>): string {
  const share = Math.floor(MESSAGE_CHARACTERS / verification.failures.length);
  return verification.failures.map(({ name, exitCode, tail, failedBefore }) => {
    const ended = `${exitCode === null ? "failed" : `exit ${exitCode}`}${failedBefore === true ? FAILED_BEFORE : ""}`;
    const shown = tail.length > share ? `…${tail.slice(-share)}` : tail;
    return `${name}: ${ended}${shown === "" ? "" : `\n${shown}`}`;
  }).join("\n\n");
}
