import type { Lack } from "../../backlog/verdict.ts";
import type { Fold } from "../../git/types.ts";
import type { BriefRecord, JournalLanding, NoticeRecord } from "../../backlog/journal_types.ts";
import type { Attempt, Item, PassedRecord, Settlement } from "../../backlog/types.ts";
import type { Judging } from "./judging_history.ts";

/** A line of one backlog. */
export interface Named {
  readonly v: 1;
  readonly key: string;
}
interface OfItem extends Named {
  readonly itemId: string;
  readonly fingerprint: string | null;
}
/** Hashes of files by their paths; `null` for one that is gone. */
export type Work = Readonly<Record<string, string | null>>;

/** One line of the journal. */
export type JournalLine =
  | (Named & {
    readonly type: "begun";
    readonly item: Item;
    readonly attemptId: string;
    readonly number: number;
    readonly userPaths: readonly string[];
    readonly head?: string | null;
    readonly apart?: boolean;
  })
  | (OfItem & {
    readonly type: "settling";
    readonly attempt: Attempt;
    readonly work: Work;
    readonly fold?: Fold;
    readonly landing?: JournalLanding;
  })
  | (OfItem & {
    readonly type: "settled";
    readonly attemptId: string;
    readonly settlement: Settlement;
    readonly kept: Work;
    readonly passed?: PassedRecord;
  })
  | (Named & { readonly type: "stowed"; readonly itemId: string; readonly ref: string; readonly isBack: boolean })
  | (Named & { readonly type: "started"; readonly itemId: string; readonly head: string })
  | (OfItem & { readonly type: "baseline"; readonly green: boolean; readonly isWorkedOn?: boolean })
  | (Named & { readonly type: "passed"; readonly record: PassedRecord })
  | (Named & { readonly type: "reopened"; readonly ids: readonly string[]; readonly reason: string })
  | (Named & {
    readonly type: "run-ended";
    readonly passed?: boolean;
    readonly head?: string | null;
    readonly isDoubted?: boolean;
  })
  | (Named & { readonly type: "noticed"; readonly notices: readonly NoticeRecord[]; readonly lack?: Lack })
  | (Named & { readonly type: "judging"; readonly judging: Judging })
  | (OfItem & { readonly type: "parked"; readonly reason: string })
  | (Named & { readonly type: "left"; readonly itemId: string; readonly kept: Work })
  | (Named & { readonly type: "brief"; readonly record: BriefRecord })
  | (Named & { readonly type: "brief-restored" })
  | (Named & { readonly type: "clean-start"; readonly absent: readonly string[] })
  | (Named & { readonly type: "clean-finding"; readonly command: string; readonly why: string | null })
  | (Named & { readonly type: "unparked" | "clean-forgotten" });

type Fields = Readonly<Record<string, unknown>>;

/** A line of each kind must hold this so that it can be read. A kind that is missing here does not compile. */
const SHAPES: Readonly<Record<JournalLine["type"], (fields: Fields) => boolean>> = {
  begun: ({ item, userPaths, attemptId, number, head, apart }) =>
    isObject(item) && isText(item["id"]) && isTexts(userPaths) && isText(attemptId) && typeof number === "number" &&
    isHead(head) && (apart === undefined || typeof apart === "boolean"),
  settling: ({ itemId, attempt, work, fold, landing }) =>
    isText(itemId) && isObject(attempt) && isText(attempt["status"]) && isObject(work) &&
    (fold === undefined || isFold(fold)) && (landing === undefined || isLanding(landing)),
  stowed: ({ itemId, ref, isBack }) => isText(itemId) && isText(ref) && typeof isBack === "boolean",
  started: ({ itemId, head }) => isText(itemId) && isText(head),
  settled: ({ itemId, settlement, kept, passed }) =>
    isText(itemId) && isObject(settlement) && isText(settlement["status"]) && isObject(kept) &&
    (passed === undefined || isPassed(passed)),
  baseline: ({ itemId, green }) => isText(itemId) && typeof green === "boolean",
  passed: ({ record }) => isPassed(record),
  reopened: ({ ids, reason }) => isTexts(ids) && isText(reason),
  parked: ({ itemId, reason }) => isText(itemId) && isText(reason),
  left: ({ itemId, kept }) => isText(itemId) && isObject(kept),
  brief: ({ record }) => isBrief(record),
  "brief-restored": () => true,
  "clean-start": ({ absent }) => isTexts(absent),
  "clean-finding": ({ command, why }) => isText(command) && (why === null || isText(why)),
  "clean-forgotten": () => true,
  "run-ended": ({ passed, head }) => (passed === undefined || typeof passed === "boolean") && isHead(head),
  noticed: ({ notices, lack }) =>
    Array.isArray(notices) && (lack === undefined || lack === "checks" || lack === "claims") &&
    notices.every((one) => isObject(one) && isText(one["kind"]) && isText(one["subject"]) && isText(one["message"])),
  judging: ({ judging }) => isObject(judging) && Array.isArray(judging["steps"]) && Array.isArray(judging["items"]),
  unparked: () => true,
};

/** True for a line that can be added up. */
export function isRecord(value: unknown): value is JournalLine {
  if (!isObject(value) || value["v"] !== 1 || !isKey(value["key"])) return false;
  const { type } = value;
  return typeof type === "string" && Object.hasOwn(SHAPES, type) && SHAPES[type as JournalLine["type"]](value);
}

/** The content of a line, or `null` when it is no JSON. */
export function parseLine(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** As `keyOf()` writes it. */
function isKey(value: unknown): boolean {
  const key = typeof value === "string" ? parseLine(value) : null;
  return Array.isArray(key) && isText(key[0]);
}

function isPassed(value: unknown): boolean {
  return isObject(value) && isText(value["id"]) && isText(value["kind"]) &&
    (value["status"] === "verified" || value["status"] === "unverified") &&
    (value["since"] === undefined || isText(value["since"])) &&
    Array.isArray(value["checks"]) && value["checks"].every(isObject);
}

function isFold(value: unknown): boolean {
  if (!isObject(value) || !isText(value["head"]) || !isText(value["onto"]) || !isObject(value["own"])) return false;
  return isTexts(value["own"]["subjects"]) && isTexts(value["own"]["trailers"]);
}

function isBrief(value: unknown): boolean {
  if (!isObject(value) || !isObject(value["files"]) || !isTexts(value["folders"])) return false;
  return Object.values(value["files"]).every((hash) => hash === null || isText(hash));
}

function isLanding(value: unknown): boolean {
  return isObject(value) && isText(value["tip"]) && isText(value["commit"]);
}

function isHead(value: unknown): boolean {
  return value === undefined || value === null || isText(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
