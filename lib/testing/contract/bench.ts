import { isDeepStrictEqual } from "node:util";
import { UNKNOWN_USAGE } from "../../agents/turn_end.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Journal, JournalKey } from "../../backlog/journal_types.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import type * as types from "../../backlog/types.ts";
import { attemptsLeft, withRetries } from "../../loop/policy/attempts.ts";

/** Retries have to end here, whatever the backlog gives. */
const MAX_RETRIES = 3;

/** `work()` gets this for a first attempt. */
export function contextIn(cwd: string): types.WorkContext {
  return { cwd, attempt: 1, previous: null, last: null, nonce: "k3f9ab", claims: [] };
}

/** A backlog under test with a loop's memory: calls it in the loop's order, everything by way of JSON. */
export class Bench {
  readonly #opened: OpenedBacklog<unknown, unknown>;
  readonly #journal: Journal;
  readonly #key: JournalKey;
  readonly root: string | null;
  /** The folder that serves as the working tree where the store has none. */
  readonly cwd: string;
  #backlog: types.Backlog;
  #attempts = 0;

  constructor(opened: OpenedBacklog<unknown, unknown>, journal: Journal) {
    this.#opened = opened;
    this.#journal = journal;
    this.#backlog = opened.backlog;
    this.root = opened.root;
    this.cwd = opened.root ?? ".";
    this.#key = { backlog: opened.backlog.name, scope: opened.backlog.scope ?? "" };
  }

  get backlog(): types.Backlog {
    return this.#backlog;
  }

  /** As the backlog was given them. */
  get parts(): StateFiles["parts"] {
    return this.#opened.state?.parts ?? new Map();
  }

  get view(): types.LoopView {
    return { parked: this.#journal.parked(this.#key), passed: this.#journal.passed(this.#key) };
  }

  snapshot(): Promise<string> {
    return this.#opened.snapshot();
  }

  async next(inFlight: readonly string[] = []): Promise<types.Next<unknown>> {
    return plain(await this.#backlog.next({ ...this.view, inFlight }), "what next() answers");
  }

  /** The item that must be next. */
  async item(): Promise<types.Item> {
    const next = await this.next();
    if (next.status !== "item") throw new Error(`next() must give an item (got: ${JSON.stringify(next)})`);
    return next.item;
  }

  /** Ids of all items that may be in flight together now. */
  async offered(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let next = await this.next(); next.status === "item" && !ids.includes(next.item.id);) {
      ids.push(next.item.id);
      next = await this.next(ids);
    }
    return ids;
  }

  /** The backlog made anew on the same store: the process was killed. */
  async kill(): Promise<void> {
    this.#backlog = await this.#opened.reopen?.() ?? this.#backlog;
  }

  async begin(item: types.Item): Promise<void> {
    this.#attempts += 1;
    const number = this.#journal.history(this.#key, item).length + 1;
    await this.#journal.begun(this.#key, item, { id: this.#id, number, userPaths: [] });
    await this.#backlog.record?.({ type: "item-began", item: wired(item) });
  }

  get #id(): string {
    return `run.${this.#attempts}`;
  }

  /** The item that must be next, begun. */
  async taken(): Promise<types.Item> {
    const item = await this.item();
    await this.begin(item);
    return item;
  }

  async overview(): Promise<types.Overview> {
    return await this.#backlog.overview(this.view);
  }

  async work(item: types.Item, cwd: string = this.cwd): Promise<types.Work> {
    const history = this.#journal.history(this.#key, item);
    const context = { ...contextIn(cwd), attempt: history.length + 1, previous: history.at(-1) ?? null };
    return await this.#backlog.work(wired(item), wired(context));
  }

  /** Plays the agent's turn at the item. */
  async turn(item: types.Item, cwd: string = this.cwd): Promise<ClaimingTurn> {
    const done = { text: "<ralph>DONE</ralph>", lines: ["<ralph>DONE</ralph>"] };
    return { ...SILENT_TURN, ...(await this.#opened.turn?.(item, cwd) ?? done) };
  }

  async judge(
    item: types.Item,
    { claims, ...turn }: ClaimingTurn,
    cwd: string = this.cwd,
  ): Promise<types.Claim<unknown> | null> {
    const claim = await this.#backlog.judge?.(wired(item), turn, { ...contextIn(cwd), claims, checked: false });
    return claim === undefined ? null : plain(claim, "what judge() answers");
  }

  /** An attempt at the item that ended like this: its turn did what it had to, but where it says that it did not. */
  async attempt(
    item: types.Item,
    status: types.Attempt["status"],
    turn: ClaimingTurn | null = null,
  ): Promise<types.Attempt> {
    const didNothing = status === "not-done" || status === "blocked";
    const taken = turn ?? (didNothing ? SILENT_TURN : await this.turn(item));
    const judged = await this.judge(item, taken);
    const claim: types.Claim<unknown> = didNothing
      ? { ...judged, status, reason: `${status} by the agent` }
      : { ...judged, status: "done" };
    const history = this.#journal.history(this.#key, item);
    const attempt = attemptOf(status, { id: this.#id, number: history.length + 1, claim, turn: taken });
    const left = attemptsLeft(this.#backlog, item, attempt, MAX_RETRIES);
    return wired(withRetries(attempt, history, { left, sameFailure: Infinity }));
  }

  /** A turn that brought nothing; the item has no attempt left. */
  async lastAttempt(item: types.Item): Promise<types.Attempt> {
    return { ...await this.attempt(item, "failed", SILENT_TURN), last: true };
  }

  async settle(item: types.Item, attempt: types.Attempt): Promise<types.Settlement> {
    await this.#journal.settling(this.#key, item, attempt, { work: {} });
    const settlement = plain(await this.#backlog.settle(wired(item), wired(attempt)), "what settle() answers");
    const isPass = attempt.status === "verified" || attempt.status === "unverified";
    const passed = settlement.status === "passed" && isPass
      ? { passed: await this.#record(item, attempt.status as types.PassedRecord["status"]) }
      : {};
    await this.#journal.settled(this.#key, item, attempt, { settlement, kept: {}, ...passed });
    return settlement;
  }

  /** From its beginning to `settle()`. */
  async end(item: types.Item, status: types.Attempt["status"]): Promise<types.Settlement> {
    await this.begin(item);
    return await this.settle(item, await this.attempt(item, status));
  }

  /** Every item is given up on or passes, as `status` says. @returns how next() ended, or the settlement that stopped it */
  async endAll(status: types.Attempt["status"]): Promise<types.Next<unknown> | types.Settlement> {
    for (let count = 0; count < 30; count++) {
      const next = await this.next();
      if (next.status !== "item") return next;
      await this.begin(next.item);
      const attempt = await (status === "failed" ? this.lastAttempt(next.item) : this.attempt(next.item, status));
      const settlement = await this.settle(next.item, attempt);
      if (settlement.status === "stop") return settlement;
    }
    throw new Error(`30 ${status} attempts have not come to an end`);
  }

  /** As the final check sends items back. */
  async sendBack(ids: readonly string[]): Promise<types.Settlement> {
    const settlement = await this.#backlog.reopen?.(ids, "it fails at the end");
    must(settlement !== undefined, "reopen() is missing");
    await this.#journal.reopen(this.#key, ids, "it fails at the end");
    return plain(settlement, "what reopen() answers");
  }

  async #record(item: types.Item, status: types.PassedRecord["status"]): Promise<types.PassedRecord> {
    const { checks } = await this.work(item);
    const commands = checks.flatMap(({ name, command, scope }) =>
      command === undefined ? [] : [{ name, command, ...(scope === undefined ? {} : { scope }) }]
    );
    const { id, kind, fingerprint = null } = item;
    return { id, kind, fingerprint, status, commit: null, checks: commands };
  }
}

/** Opens a fresh store; it is disposed when the case has ended. */
export type Open = (store?: ContractStore) => Promise<Bench>;

/** Cases by their names. Each has a bench on a fresh store, and may open more. */
export type Rules = Readonly<Record<string, (bench: Bench, open: Open) => Promise<void>>>;

/** Every way in which an attempt ends. */
export const STATUSES: readonly types.Attempt["status"][] = [
  "verified",
  "unverified",
  "not-done",
  "failed",
  "blocked",
  "interrupted",
  "trespassed",
  "agent-unusable",
];

/** A turn with what it asked for. */
export type ClaimingTurn = types.Turn & { readonly claims: readonly ClaimLine[] };

/** A turn that said and changed nothing. */
export const SILENT_TURN: ClaimingTurn = {
  claims: [],
  end: { reason: "completed" },
  text: "",
  lines: [],
  usage: UNKNOWN_USAGE,
  transcript: "",
  durationMs: 0,
  changedFiles: [],
  base: null,
  head: null,
};

/** The attempt as the loop hands it to `settle()`. */
export function attemptOf(
  status: types.Attempt["status"],
  { turn: taken, ...made }: Pick<types.Attempt, "claim" | "id" | "number"> & { readonly turn: ClaimingTurn },
): types.Attempt {
  const { text: _text, lines: _lines, claims: _claims, ...turn } = taken;
  const known = { ...made, turn, verification: null };
  const message = `the ${status} attempt ${made.id} left a trace`;
  switch (status) {
    case "verified":
      return { ...known, status, verification: { status: "passed", results: [resultOf(true)] } };
    case "unverified":
    case "interrupted":
      return { ...known, status };
    case "failed": {
      const failures = [{ ...resultOf(false), tail: message }];
      return {
        ...known,
        status,
        reason: "checks-failed",
        message,
        verification: { status: "failed", results: failures, failures },
      };
    }
    case "trespassed":
      return { ...known, status, paths: ["outside.txt"], diff: message };
    case "not-done":
    case "blocked":
    case "agent-unusable":
      return { ...known, status, message };
  }
}

function resultOf(ok: boolean): types.CheckResult {
  return { name: "check", scope: "", ok, exitCode: ok ? 0 : 1, tail: "", durationMs: 1 };
}

/** A copy that went through JSON: items and attempts may be computed on another machine. */
export function wired<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** @throws {Error} when the value is no plain JSON @returns a copy that went through it */
export function plain<Value>(value: Value, what: string): Value {
  const copy = wired(value);
  if (!isDeepStrictEqual(copy, value)) throw new Error(`${what} must be plain JSON (got: ${JSON.stringify(value)})`);
  return copy;
}

/** @throws {Error} when the two differ */
export function same(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected)) throw new Error(`${what} must be ${shown(expected)} (got: ${shown(found)})`);
}

/** @throws {Error} when the condition does not hold */
export function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The parts of a turn that matter: its words and changes, and its requests by `ralph task …`, `issue …`, `step …`. */
export interface ContractTurn extends Partial<types.Turn> {
  /** @default none */
  readonly claims?: readonly ClaimLine[];
}

/** A fresh store with the backlog on it. Disposed after the case. */
export interface OpenedBacklog<Data, Findings> extends Partial<AsyncDisposable> {
  readonly backlog: types.Backlog<Data, Findings>;
  /** The same store, read by a backlog made anew: as after a kill. Absent: the store is lost with the process. */
  readonly reopen?: () => Promise<types.Backlog<Data, Findings>>;
  /** The store's content, to be compared: without times. */
  readonly snapshot: () => Promise<string>;
  /** Absolute path of the folder that holds the store's files; `null`: it has none. */
  readonly root: string | null;
  /** The store by which the backlog reads and writes its files; needed where only a part of a file is state. */
  readonly state?: StateFiles;
  /**
   * Does in the tree `cwd` what an agent does for the item, and gives what matters of the turn.
   * @default it says `<ralph>DONE</ralph>`
   */
  readonly turn?: (item: types.Item<Data>, cwd: string) => Promise<ContractTurn>;
}

/**
 * `checked`: at least two open items where the format has room for them, each with a check. `unchecked`: the first item
 * names no check at all.
 */
export type ContractStore = "checked" | "unchecked";

/** A backlog under test, and how to begin anew. */
export interface BacklogContract<Data, Findings> {
  /** A fresh store. `unchecked` is asked for only where the backlog blocks what no check has seen. */
  open(store: ContractStore): Promise<OpenedBacklog<Data, Findings>>;
}

/** One thing that every backlog owes, to be run by the test runner of your choice. Throws when it is not kept. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}
