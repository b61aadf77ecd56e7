/**
 * Who works on an issue: a ref of the remote, moved by compare-and-swap, so that of several runners one wins, with no
 * server of ours. A runner that lives moves its claims; one that is seen unchanged for two heartbeats may be taken over.
 *
 * @module
 */
import { z } from "zod";
import { ofCode, RalphError } from "../errors/ralph_error.ts";
import type { Redactor } from "../events/redact.ts";
import type { WithGit } from "../git/repository.ts";
import { lineFrom, outputFrom } from "../git/run_git.ts";
import { jsonIn } from "../host/data.ts";
import { hashText, readText, writeOwn } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import type { Clock, Ids } from "../host/types.ts";
import { commitData, pushRefs, type RefUpdate } from "../machines/remote.ts";
import type { Claim, PushedBranch, Update } from "../generated/trackers.ts";
import { CLAIM_SCHEMA, UPDATE_SCHEMA } from "./schema.ts";
import type { Tracker } from "./types.ts";

const FOLDER = "refs/ralph/claims/";
const TIMEOUT_MS = 10 * 60_000;
/** Git's and hosts' words for a lack of rights. */
const NO_RIGHT_REGEXP = /denied|forbidden|error: 403|not permitted|read.only|not allowed|protected/i;

/** An issue as it is claimed. */
export type Claimed = Pick<Claim, "asks" | "id">;

export type { Update };

interface Seen {
  readonly commit: string;
  /** `null`: another version wrote it, and knows what it means. */
  readonly claim: Claim | null;
  /** When this process saw it first; its own clock. */
  readonly since: number;
}

export interface ClaimsOptions {
  readonly repository: WithGit;
  readonly remote: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `github owner/name`. */
  readonly tracker: string;
  /** The same for the same clone: a run that was killed continues with its own claims. */
  readonly holder: string;
  readonly heartbeatMs: number;
  /** Takes up again whatever others gave up on. */
  readonly retryBlocked: boolean;
  /** There is one runner, and why. */
  readonly onAlone: (why: string) => void;
}

/** `held`: this runner's, now. `theirs`: another's. `offline`: the remote does not say. */
type Hold = "held" | "theirs" | "offline";

/** The claims of one tracker's issues. */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #oneAtATime = createSlots(1);
  #seen: ReadonlyMap<string, Seen> = new Map();
  /** Nothing of this runner is on the remote. */
  isAlone = false;
  /** The commits that this process pushed last, and when, by both clocks: one of them stands still while the machine sleeps. */
  readonly #pushed = new Map<string, { readonly commit: string; readonly at: number; readonly wall: number }>();
  #isRenewing = false;
  #tree: string | null = null;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Reads all claims. @returns false where the remote cannot be asked */
  async look(): Promise<boolean> {
    return await this.#oneAtATime.run(() => this.#look());
  }

  /** The claim of another runner; `null` where none is in the way. */
  inTheWay(claimed: Claimed): Pick<Claim, "holder" | "state"> | null {
    const seen = this.#seen.get(this.#refOf(claimed.id));
    if (seen === undefined || this.#mayTake(seen, claimed)) return null;
    return seen.claim ?? { holder: "another version of Ralph", state: "working" };
  }

  /**
   * Claims it, or says how it ended; with a branch: moves both, or neither. The remote is not asked about a claim that is
   * younger than a heartbeat: nobody else can have it.
   *
   * @param branch the branch on the remote, and its new commit
   */
  async hold(claimed: Claimed, state: Claim["state"] = "working", branch?: PushedBranch): Promise<Hold> {
    return await this.#oneAtATime.run(async () =>
      state === "working" && this.#isFresh(claimed) ? "held" : await this.#hold(claimed, state, branch, true)
    );
  }

  /** The issues that this runner has claimed and not ended. */
  working(): readonly Claimed[] {
    return this.#own().map(({ claim }) => claim);
  }

  /** Shows that this runner lives; nothing while it is still doing so. */
  async renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      for (const { id } of this.working()) {
        await this.#oneAtATime.run(async () => {
          const claim = this.working().find((one) => one.id === id); // none: it has ended meanwhile
          if (claim !== undefined) await this.#hold(claim, "working", undefined, true);
        });
      }
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Another runner is at work on something. */
  hasOthers(): boolean {
    return [...this.#seen.values()].some(({ claim }) =>
      claim?.state === "working" && claim.holder !== this.#options.holder
    );
  }

  /** Lets go of these issues, as far as it has not ended them. */
  async letGo(ids: readonly string[]): Promise<void> {
    await this.#oneAtATime.run(async () => {
      for (const { ref, commit } of this.#own().filter(({ claim }) => ids.includes(claim.id))) {
        // one that stays runs out by itself
        await pushRefs(this.#remote(), [{ ref, commit: null, from: commit }]).catch(() => null);
        this.#seen = new Map([...this.#seen].filter(([one]) => one !== ref));
      }
    });
  }

  #own(): readonly { readonly ref: string; readonly commit: string; readonly claim: Claim }[] {
    if (this.isAlone) return [];
    return [...this.#seen].flatMap(([ref, { commit, claim }]) =>
      claim?.holder === this.#options.holder && claim.state === "working" ? [{ ref, commit, claim }] : []
    );
  }

  async #hold(
    claimed: Claimed,
    state: Claim["state"],
    branch: PushedBranch | undefined,
    again: boolean,
  ): Promise<Hold> {
    if (this.isAlone) return "held";
    const ref = this.#refOf(claimed.id);
    const seen = this.#seen.get(ref);
    if (seen !== undefined && !this.#mayTake(seen, claimed)) return "theirs";
    const { tracker, holder, ids, clock } = this.#options;
    const { id, asks } = claimed;
    const claim: Claim = { v: 1, tracker, id, holder, beat: ids.random(12), asks, state };
    this.#tree ??= await lineFrom(this.#remote(), ["mktree"], { input: "" });
    const commit = await commitData(this.#remote(), this.#tree, [], { subject: `ralph: claim ${id}`, data: claim });
    const updates: readonly RefUpdate[] = [
      { ref, commit, from: seen?.commit ?? null },
      ...branch === undefined ? [] : [{ ref: `refs/heads/${branch.name}`, commit: branch.commit }],
    ];
    const [at, wall] = [clock.steady(), clock.now()]; // others may see it before this process hears of it
    const refused = await this.#push(updates);
    if (refused === "offline" || this.isAlone) return this.isAlone ? "held" : "offline";
    if (refused === null) {
      this.#pushed.set(ref, { commit, at, wall });
      this.#seen = new Map(this.#seen).set(ref, { commit, claim, since: at });
      return "held";
    }
    if (!await this.#look()) return "offline";
    const now = this.#seen.get(ref);
    if (now !== undefined && !this.#mayTake(now, claimed)) return "theirs";
    // an answer that was lost, or a branch that is further than this one
    return again && now?.commit !== seen?.commit ? await this.#hold(claimed, state, branch, false) : "offline";
  }

  #isFresh({ id, asks }: Claimed): boolean {
    const { clock, heartbeatMs } = this.#options;
    const ref = this.#refOf(id);
    const [seen, pushed] = [this.#seen.get(ref), this.#pushed.get(ref)];
    if (pushed === undefined || seen?.commit !== pushed.commit) return false;
    const age = Math.max(clock.steady() - pushed.at, clock.now() - pushed.wall);
    return age < heartbeatMs && seen.claim?.state === "working" && seen.claim.asks === asks;
  }

  async #push(updates: readonly RefUpdate[]): Promise<string | null> {
    return await pushRefs(this.#remote(), updates).catch(ofCode("git-failed", ({ message }) => {
      if (this.#pushed.size === 0 && NO_RIGHT_REGEXP.test(message)) this.#alone(message);
      return "offline";
    }));
  }

  async #look(): Promise<boolean> {
    if (this.isAlone) return true;
    const { repository: { git }, remote, clock, tracker } = this.#options;
    const words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", "--no-auto-maintenance"];
    const end = await git([...words, remote, `+${FOLDER}*:${FOLDER}*`], { timeoutMs: TIMEOUT_MS });
    if (end.exitCode !== 0) {
      // an address has no name
      if (/[:/]/.test(remote) || (await git(["remote", "get-url", remote])).exitCode === 0) return false;
      this.#alone(`there is no remote ${remote}`);
      return true;
    }
    const format = "--format=%(objectname) %(refname) %(contents:body)";
    const listed = await outputFrom(this.#remote(), ["for-each-ref", format, FOLDER]);
    const now = new Map<string, Seen>();
    for (const line of listed.split("\n").filter((one) => one !== "")) {
      const [commit = "", ref = "", ...body] = line.split(" ");
      const known = this.#seen.get(ref);
      const read = CLAIM_SCHEMA.safeParse(jsonIn(body.join(" ")));
      if (read.success && read.data.tracker !== tracker) continue;
      const claim = read.success ? read.data : null;
      now.set(ref, known?.commit === commit ? known : { commit, claim, since: clock.steady() });
    }
    this.#seen = now;
    return true;
  }

  #mayTake({ claim, since }: Seen, { asks }: Claimed): boolean {
    const { holder, heartbeatMs, clock, retryBlocked } = this.#options;
    if (claim === null) return false;
    if (claim.holder === holder) return true;
    if (claim.state === "working") return clock.steady() - since >= 2 * heartbeatMs;
    return claim.asks !== asks || (claim.state === "blocked" && retryBlocked);
  }

  #alone(why: string): void {
    this.isAlone = true;
    this.#options.onAlone(why);
  }

  #remote(): WithGit & { readonly remote: string } {
    return { git: this.#options.repository.git, remote: this.#options.remote };
  }

  #refOf(id: string): string {
    return `${FOLDER}${id.replaceAll(/[^\w-]+/g, "")}-${hashText(`${this.#options.tracker} ${id}`).slice(0, 12)}`;
  }
}

export interface OutboxOptions {
  /** Absolute path. */
  readonly file: string;
  readonly tracker: Tracker;
  readonly claims: Claims;
  /** No secret leaves with a comment. */
  readonly redactor: Redactor;
  readonly warn: (message: string) => void;
  /** Another runner has the issue: its work is nobody's to propose. */
  readonly onLost: (update: Update) => Promise<void>;
}

/** The updates in a file. */
export async function readOutbox(file: string): Promise<readonly Update[]> {
  const read = z.array(UPDATE_SCHEMA).safeParse(jsonIn(await readText(file)));
  return read.success ? read.data : [];
}

/** The updates of one clone. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #oneAtATime = createSlots(1);
  #updates: readonly Update[] | null = null;
  /** Why the last one was not sent. */
  reason: string | null = null;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The ones that wait. */
  async waiting(): Promise<readonly Update[]> {
    return this.#updates ??= await readOutbox(this.#options.file);
  }

  /** Replaces what was to be said of the issue before. */
  async put(update: Update): Promise<void> {
    await this.#oneAtATime.run(async () => {
      await this.#keep([...(await this.waiting()).filter(({ id }) => id !== update.id), update]);
    });
  }

  /** Sends what can be sent. */
  async send(): Promise<void> {
    await this.#oneAtATime.run(async () => {
      this.reason = null;
      for (const update of await this.waiting()) {
        const rest = await this.#restOf(update);
        const others = (await this.waiting()).filter(({ id }) => id !== update.id);
        if (rest !== update) await this.#keep(rest === null ? others : [...others, rest]);
      }
    });
  }

  /** Sends one. @returns the rest that could not be sent; `null`: nothing */
  async #restOf(update: Update): Promise<Update | null> {
    const { tracker, claims, redactor, onLost, warn } = this.#options;
    const { id, asks, text, state, branch } = update;
    // who has the issue at this moment; branch and claim move together
    const held = state === "review"
      ? await claims.hold(update, "passed", branch ?? undefined)
      : await claims.hold(update, state === "blocked" ? "blocked" : "working");
    if (held === "offline") {
      this.reason = "the remote does not take branch and claim";
      return update;
    }
    if (held === "theirs") {
      await onLost(update);
      return null;
    }
    try {
      // the same one for the same text of the issue, whichever run and runner goes on with it
      await tracker.comment(id, `<!-- ralph:${asks.slice(0, 12)}:${id} -->`, redactor.text(text));
      await tracker.state(id, state);
    } catch (error) {
      if (!RalphError.isInstance(error) || !error.code.startsWith("tracker-")) throw error;
      if (error.code !== "tracker-refused") {
        this.reason = error.message;
        return { ...update, branch: null };
      }
      warn(`${id} is not told: ${error.message}`);
    }
    if (state === "open") await claims.letGo([id]); // it is anybody's again
    return null;
  }

  async #keep(updates: readonly Update[]): Promise<void> {
    this.#updates = updates;
    await writeOwn(this.#options.file, JSON.stringify(updates));
  }
}
