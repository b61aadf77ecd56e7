import { isObject, jsonIn } from "../../host/data.ts";
import type * as journal from "../../backlog/journal_types.ts";
import type { Attempt, Item, PassedRecord } from "../../backlog/types.ts";
import type { Judging } from "./judging_history.ts";

interface OfItem {
  readonly itemId: string;
  readonly fingerprint: string | null;
}

/** Hashes of files by their paths; `null` for one that is gone. */
export type Work = journal.SettlingWork["work"];

/** The fields of a line of each kind. */
export interface LineFields {
  readonly begun: Omit<journal.BegunAttempt, "id"> & { readonly item: Item; readonly attemptId: string };
  readonly kept: journal.KeptRecord & { readonly itemId: string };
  readonly settling: OfItem & journal.SettlingWork & { readonly attempt: Attempt };
  readonly settled: OfItem & journal.SettledEnd & { readonly attemptId: string };
  readonly stowed: journal.Stowed & { readonly itemId: string };
  readonly started: { readonly itemId: string; readonly head: string };
  readonly baseline: OfItem & { readonly green: boolean; readonly isWorkedOn?: boolean };
  readonly passed: { readonly record: PassedRecord };
  readonly reopened: { readonly ids: readonly string[]; readonly reason: string };
  readonly "run-ended": { readonly passed?: boolean; readonly head?: string | null; readonly isDoubted?: boolean };
  readonly noticed: { readonly notices: readonly journal.NoticeRecord[]; readonly lack?: journal.Lack | undefined };
  readonly judging: { readonly judging: Judging };
  readonly parked: OfItem & { readonly reason: string };
  readonly left: { readonly itemId: string; readonly kept: Work } & Pick<journal.SettledEnd, "overwritten">;
  readonly brief: { readonly record: journal.BriefRecord };
  readonly "brief-restored": object;
  readonly "clean-start": { readonly absent: readonly string[] };
  readonly "clean-finding": { readonly command: string; readonly why: string | null };
  readonly "clean-forgotten": object;
  readonly told: { readonly itemId: string; readonly text: string };
  readonly unparked: { readonly ids?: readonly string[] };
}

export type LineType = keyof LineFields;

/** A line of one kind, in one backlog's journal. */
export type LineOf<Type extends LineType> = {
  [One in Type]: { readonly type: One; readonly v: 1; readonly key: string } & LineFields[One];
}[Type];

/** One line of the journal. */
export type JournalLine = LineOf<LineType>;

type Fits = (value: unknown) => boolean;

const isOwn = object({ subjects: isTexts, trailers: isTexts });

/** A line of each kind must hold this so that it can be read. A kind that is missing here does not compile. */
const SHAPES: Readonly<Record<LineType, Readonly<Record<string, Fits>>>> = {
  begun: {
    item: object({ id: isText }),
    userPaths: isTexts,
    attemptId: isText,
    number: (value) => typeof value === "number",
    head: optional(isHash),
    branch: optional(isHash),
    apart: optional(isFlag),
  },
  kept: { itemId: isText, head: isHash, work: (value) => isObject(value) && Object.entries(value).every(isKept) },
  settling: {
    itemId: isText,
    attempt: object({ status: isText }),
    work: isObject,
    fold: optional(object({ head: isText, onto: isText, ref: optional(isText), own: isOwn })),
    landing: optional(object({ tip: isText, commit: isText, own: optional(isOwn) })),
  },
  stowed: { itemId: isText, ref: isText, isBack: isFlag },
  started: { itemId: isText, head: isText },
  settled: {
    itemId: isText,
    settlement: object({ status: isText }),
    kept: isObject,
    overwritten: optional(isFound),
    passed: optional(isPassed),
  },
  baseline: { itemId: isText, green: isFlag },
  passed: { record: isPassed },
  reopened: { ids: isTexts, reason: isText },
  parked: { itemId: isText, reason: isText },
  left: { itemId: isText, kept: isObject, overwritten: optional(isFound) },
  brief: {
    record: object({ files: (value) => isObject(value) && Object.values(value).every(isHash), folders: isTexts }),
  },
  "brief-restored": {},
  "clean-start": { absent: isTexts },
  "clean-finding": { command: isText, why: isHash },
  "clean-forgotten": {},
  "run-ended": { passed: optional(isFlag), head: optional(isHash) },
  noticed: {
    notices: listOf(object({ kind: isText, subject: isText, message: isText })),
    lack: optional((value) => value === "checks" || value === "claims" || value === "end"),
  },
  judging: { judging: object({ steps: Array.isArray, items: Array.isArray }) },
  told: { itemId: isText, text: isText },
  unparked: { ids: optional(isTexts) },
};

/** True for a line that can be added up. */
export function isRecord(value: unknown): value is JournalLine {
  if (!isObject(value) || value["v"] !== 1 || !isKey(value["key"])) return false;
  const { type } = value;
  return typeof type === "string" && Object.hasOwn(SHAPES, type) && object(SHAPES[type as LineType])(value);
}

/** A backlog's key in the journal, as one string. */
export function keyOf(key: journal.JournalKey): string {
  return JSON.stringify([key.backlog, key.scope]);
}

/** As `keyOf()` writes it. */
function isKey(value: unknown): boolean {
  const key = typeof value === "string" ? jsonIn(value) : null;
  return Array.isArray(key) && isText(key[0]);
}

/** A path of the tree: what is kept of it is written there. */
function isKept([path, value]: readonly [string, unknown]): boolean {
  const isFacts: Fits = (facts) => facts === null || object({ kind: isText, mode: isMode })(facts);
  const isEntry: Fits = (entry) => /^[0-7]{6} [0-9a-f]{40,64}( N)?$/.test(String(entry));
  const isMode: Fits = (mode) => typeof mode === "number";
  const isBlob: Fits = (blob) => /^[0-9a-f]{40,64}$/.test(String(blob));
  return path.split("/").every((part) => !["", ".", "..", ".git"].includes(part)) &&
    object({
      content: isHash,
      blob: optional(isBlob),
      facts: isFacts,
      staged: optional(isEntry),
      folders: optional(listOf(isMode)),
      codes: isTexts,
    })(value);
}

function isFound(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(object({ content: isHash, ref: isHash }));
}

function isPassed(value: unknown): boolean {
  const isStatus: Fits = (status) => status === "verified" || status === "unverified";
  const checks = listOf(isObject);
  return object({ id: isText, kind: isText, status: isStatus, since: optional(isText), checks })(value);
}

function object(shape: Readonly<Record<string, Fits>>): Fits {
  return (value) => isObject(value) && Object.entries(shape).every(([name, fits]) => fits(value[name]));
}

function optional(fits: Fits): Fits {
  return (value) => value === undefined || fits(value);
}

function listOf(fits: Fits): Fits {
  return (value) => Array.isArray(value) && value.every(fits);
}

function isTexts(value: unknown): boolean {
  return listOf(isText)(value);
}

function isHash(value: unknown): boolean {
  return value === null || isText(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}
