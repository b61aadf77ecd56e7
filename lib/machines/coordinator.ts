/**
 * The coordinator's side of a queue: hands attempts out as jobs, and fetches what workers have pushed. Settling, landing and
 * every commit on a branch stay with the loop.
 *
 * @module
 */
import { join, relative, sep } from "node:path";
import { isAncestor, refsBelow } from "../git/refs.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import { type Attempt, BACKLOG_VERSION } from "../backlog/types.ts";
import { note, type OpenElsewhere, type RalphContext } from "../context/context.ts";
import type { AttemptJob, Elsewhere, MadeElsewhere } from "../context/elsewhere.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { type Repository, requireRepository, type WithGit } from "../git/repository.ts";
import { hashText, readText, writeOwn } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import { VERSION } from "../host/version.ts";
import type { Engine, JobEnd } from "./engine.ts";
import { together } from "./together.ts";
import { turnEvent } from "./turn_events.ts";
import { attemptIdIn, attemptRef, type Job, jobRef, type JobResult, repositoryName } from "./job.ts";
import * as remote from "./remote.ts";

/** The lead is kept so often; it lasts three times as long. */
const LEAD_MS = 10_000;
/** Tidying up holds no run for long. */
const SWEEP_PAUSES_MS: readonly number[] = [500, 2_000, 5_000];
/** The words by which a parked item is taken up. */
const TRY_AGAIN = "No worker could do this before; the person who looks after them has it tried again.";
/** Takes the remote's refs of so many settled attempts away at once: each push reads all refs that there are. */
const SWEPT_AT_ONCE = 50;

/** `ralph queue` asks this of a coordinator (`drain`, `cancel`) or of the one that has parked a job's item (`retry`). */
export type Request = "drain" | "cancel" | "retry";
/** Before a request among the keys of those who lead something: one lasts as long as a lead, and goes when it is heard. */
export const ASKS = "asks ";
export const OPERATOR = "operator";

/** @param whom a coordinator's key, or a job's id. Pure. */
export function requestKey(request: Request, whom: string): string {
  return `${ASKS}${request} ${whom}`;
}

/** The fields that all jobs of one backlog share. */
export type JobHead = Omit<Job, keyof AttemptJob>;

/** @throws {RalphError} remote-missing */
export async function jobHead(ralph: RalphContext, workflow: string, scope: string): Promise<JobHead> {
  const { topLevel, git } = requireRepository(ralph);
  const url = await remote.remoteUrl({ git });
  if (url === null) throw new RalphError("remote-missing", { details: { root: ralph.root } });
  const project = relative(topLevel, ralph.root).replaceAll(sep, "/");
  const head = { v: 1, ralph: VERSION, backlogVersion: BACKLOG_VERSION } as const;
  return { ...head, repository: repositoryName(url), project, workflow, scope };
}

/** A job as every machine reads it. Pure. */
export function jobOf(head: JobHead, { judging: { base, steps, items }, ...rest }: AttemptJob): Job {
  return JSON.parse(JSON.stringify({ ...head, ...rest, judging: { base, steps, items } })) as Job;
}

/** The queue of a repository's jobs: a name that pg-boss takes. Pure. */
export function queueName(repository: string): string {
  const readable = repository.replaceAll(/[^\w.-]+/g, "-").slice(-60);
  return `ralph-${readable}-${hashText(repository).slice(0, 8)}`;
}

/** Workers that a queue reaches. @param open opens the queue of a repository */
export function elsewhereBy(open: (queue: string) => Promise<Engine>, workflow: string): OpenElsewhere {
  return async (ralph, { key, scope }) => {
    const head = await jobHead(ralph, workflow, scope);
    const engine = await open(queueName(head.repository));
    const id = hashText(JSON.stringify([head.project, key.backlog, key.scope])).slice(0, 16);
    const coordinator = new Coordinator(ralph, { engine, head, key, id });
    try {
      await coordinator.takeLead();
      await engine.hear((attempt, event) => coordinator.hear(attempt, event));
    } catch (error) {
      await engine.close();
      throw error;
    }
    return coordinator;
  };
}

interface CoordinatorParts {
  readonly engine: Engine;
  readonly head: JobHead;
  readonly key: JournalKey;
  /** The backlog's id: one coordinator settles it. */
  readonly id: string;
}

class Coordinator implements Elsewhere {
  readonly takesMore = true;
  readonly #ralph: RalphContext;
  readonly #parts: CoordinatorParts;
  readonly #repository: Repository;
  readonly #commitOf: (job: Job) => Promise<string>;
  /** The same for the same clone: the next one takes over at once. */
  #holder = "";
  readonly #remote = createSlots(1);
  readonly #lost = new AbortController();
  #keeping: Disposable | null = null;
  /** The lanes of attempts that are out. */
  readonly #lanes = new Map<string, number>();
  /** The end of an attempt: a notice wakes each that is out. */
  readonly #endOf: (id: string) => Promise<JobEnd | undefined>;
  /** A host takes as long for one ref as for many. */
  readonly #push: (update: remote.RefUpdate) => Promise<string | null>;
  readonly #fetch: (ref: string) => Promise<boolean>;
  /** The items of jobs that no worker could do, by their ids: an operator may have them tried again. */
  readonly #givenUp = new Map<string, string>();
  /** Ids of attempts that are not needed on the remote any more. */
  #settled: string[] = [];

  constructor(ralph: RalphContext, parts: CoordinatorParts) {
    this.#ralph = ralph;
    this.#parts = parts;
    this.#repository = requireRepository(ralph);
    this.#commitOf = remote.createJobCommits(this.#repository);
    this.#endOf = together(async (ids) => {
      const ends = await parts.engine.ended(ids);
      return ids.map((id) => ends.get(id));
    });
    this.#push = together((updates) => this.#patiently(() => remote.pushEach(this.#repository, updates)));
    this.#fetch = together((refs) => this.#patiently(() => remote.fetchEach(this.#repository, refs)));
  }

  /** @throws {RalphError} queue-led */
  async takeLead(): Promise<void> {
    const file = join(this.#repository.ralphDirectory, "coordinator");
    this.#holder = await readText(file) ?? "";
    if (this.#holder === "") await writeOwn(file, this.#holder = this.#ralph.host.ids.random(24));
    const { engine, id } = this.#parts;
    if (!await engine.lead(id, this.#holder)) throw new RalphError("queue-led");
    for (const request of ["drain", "cancel"] as const) await engine.resign(requestKey(request, id), OPERATOR); // of another
    this.#keeping = this.#ralph.host.clock.every(LEAD_MS, () => void this.#keepLead());
  }

  /** The coordinator shows and records events that a worker reports of a turn, like its own. */
  hear(id: string, event: unknown): void {
    const lane = this.#lanes.get(id);
    const known = lane === undefined ? null : turnEvent(event);
    if (known !== null) this.#ralph.events.emit(known, lane);
  }

  async attempt(one: AttemptJob, ended: AbortSignal, lane: number): Promise<MadeElsewhere | null> {
    this.#lanes.set(one.attempt.id, lane);
    try {
      return await this.#attempt(one, ended);
    } finally {
      this.#lanes.delete(one.attempt.id);
    }
  }

  async #attempt(one: AttemptJob, ended: AbortSignal): Promise<MadeElsewhere | null> {
    const { engine } = this.#parts;
    const { id } = one.attempt;
    const signal = AbortSignal.any([ended, this.#lost.signal]);
    const job = await this.#offer(one);
    let isSubmitted = false;
    for (;;) {
      if (this.#lost.signal.aborted) throw new RalphError("queue-led");
      if (ended.aborted) return await this.#withdraw(id) ? withoutWork(one, { status: "interrupted" }) : null;
      isSubmitted ||= await this.#ask(() => engine.submit(id, job).then(() => true)) ?? false;
      if (this.#ralph.steering.stopping.aborted) await this.#ask(() => engine.alter("withdraw", [id]));
      const end = isSubmitted ? await this.#ask(() => this.#surely(id)) : undefined;
      if (end !== undefined) return await this.#madeBy(one, end);
      await engine.change(signal);
    }
  }

  /** The end of a job. One that was given up is marked first: then nobody hands it out again. */
  async #surely(id: string): Promise<JobEnd | undefined> {
    const end = await this.#endOf(id);
    if (end?.status !== "failed") return end;
    await this.#parts.engine.alter("park", [id]);
    return await this.#endOf(id);
  }

  /** The coordinator compares a worker's report with what it pushed, and with what was asked for. */
  async #madeBy(one: AttemptJob, end: JobEnd): Promise<MadeElsewhere> {
    const { attempt: { id }, item } = one;
    const pushed = await this.#fetch(attemptRef(id)) ? await remote.readResult(this.#repository, id) : null;
    if (end.status === "done") return await madeOf(this.#repository, one, end.result, pushed);
    if (pushed !== null) { // its worker died before it said so, or was told too late to give it up
      if (end.status === "failed") await this.#ask(() => this.#parts.engine.alter("forget", [id]));
      return await madeOf(this.#repository, one, pushed.result, pushed);
    }
    if (end.status === "cancelled") return withoutWork(one, { status: "interrupted" });
    this.#givenUp.set(id, item.id);
    return withoutWork(one, { status: "blocked", message: `no worker could do it: ${end.message}` });
  }

  /** @returns false where a worker has ended it: its turn is paid, and its result is for a later run */
  async #withdraw(id: string): Promise<boolean> {
    const { engine } = this.#parts;
    const end = await this.#ask(() => engine.cancel([id]).then(() => engine.ended([id])));
    return end !== undefined && end.get(id)?.status !== "done";
  }

  async settled(id: string): Promise<void> {
    this.#settled.push(id);
    if (this.#settled.length >= SWEPT_AT_ONCE) await this.#sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeping?.[Symbol.dispose]();
    const { engine, id } = this.#parts;
    if (!this.#lost.signal.aborted) {
      await this.#findSettled();
      await this.#sweep();
      await engine.resign(id, this.#holder).catch(() => {}); // it ends by itself
    }
    await engine.close();
  }

  /** Finds attempts that a killed run fetched here, and that are settled. */
  async #findSettled(): Promise<void> {
    const open = new Set(this.#ralph.journal.interrupted(this.#parts.key.backlog).map(({ attemptId }) => attemptId));
    const fetched = (await refsBelow(this.#repository, "refs/ralph/attempts/")).map(attemptIdIn).filter((id) =>
      id !== null && !open.has(id)
    );
    this.#settled = [...new Set([...this.#settled, ...fetched as readonly string[]])];
  }

  async #sweep(): Promise<void> {
    const settled = this.#settled;
    const refs = settled.flatMap((id) => [jobRef(id), attemptRef(id)]);
    this.#settled = [];
    try {
      await this.#patiently(() => remote.removeRefs(this.#repository, refs), SWEEP_PAUSES_MS);
    } catch (error) {
      if (!RalphError.isInstance(error)) throw error;
      this.#settled = [...settled, ...this.#settled];
      note(this.#ralph, "warn", `refs below refs/ralph/ that are not needed stay on the remote: ${error.message}`);
    }
    await remote.dropRefs(this.#repository, refs);
    await remote.tidy(this.#repository);
  }

  /** A database that does not answer for a moment has not decided anything. */
  async #ask<T>(act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      note(this.#ralph, "warn", `the queue does not answer: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  async #keepLead(): Promise<void> {
    try {
      if (!await this.#parts.engine.lead(this.#parts.id, this.#holder)) return this.#lost.abort();
      for (const key of await this.#parts.engine.led()) await this.#obey(key);
    } catch {
      // no one else can take it either while the database is away
    }
  }

  /** A person elsewhere may ask for what one here may. */
  async #obey(key: string): Promise<void> {
    const { engine, id } = this.#parts;
    const { steering } = this.#ralph;
    const [, job = ""] = key.split(`${ASKS}retry `);
    const item = this.#givenUp.get(job);
    if (key === requestKey("drain", id)) await steering.ask({ action: "stop" });
    else if (key === requestKey("cancel", id)) await steering.ask({ action: "stop-now" });
    else if (item !== undefined) await steering.ask({ action: "tell", item, text: TRY_AGAIN });
    else return;
    this.#givenUp.delete(job);
    await engine.resign(key, OPERATOR);
  }

  /** Pushes the job with what it begins with; one that a coordinator which died has pushed is as that one made it. */
  async #offer(one: AttemptJob): Promise<Job> {
    const { head } = this.#parts;
    const { id } = one.attempt;
    const job = jobOf(head, one);
    const commit = await this.#commitOf(job);
    if (await this.#push({ ref: jobRef(id), commit, from: null }) === null) return remote.lightJob(job);
    const known = await this.#patiently(() => remote.pushedJob(this.#repository, id, head.ralph));
    return remote.lightJob(known?.job ?? job);
  }

  /** The remote, one thing at a time. */
  async #patiently<T>(act: () => Promise<T>, pauses?: readonly number[]): Promise<T> {
    return await remote.patiently(this.#ralph, () => this.#remote.run(act), pauses === undefined ? {} : { pauses });
  }
}

/** An attempt that left nothing. Pure. */
export function withoutWork(
  { attempt: { id, number } }: Pick<AttemptJob, "attempt">,
  end: { readonly status: "interrupted" } | { readonly status: "blocked"; readonly message: string },
): MadeElsewhere {
  const attempt: Attempt = { id, number, claim: null, turn: null, verification: null, ...end };
  return { attempt, work: null };
}

/** An attempt as a worker pushed it; `blocked` where that is not what was asked for. */
export async function madeOf(
  repository: WithGit,
  asked: Pick<AttemptJob, "attempt" | "base">,
  told: JobResult,
  pushed: remote.PushedResult | null,
): Promise<MadeElsewhere> {
  const refused = (problem: string): MadeElsewhere =>
    withoutWork(asked, { status: "blocked", message: `the result of ${told.worker} is not used: ${problem}` });
  const { id, number } = asked.attempt;
  if (pushed === null) return refused(`${attemptRef(id)} is not on the remote`);
  const { result, parents, paths } = pushed;
  if (told.commit !== result.commit) return refused("it says another commit than it pushed");
  const { attempt, commit, own } = result;
  if (attempt.id !== id || attempt.number !== number) return refused("it is of another attempt");
  if (commit === null) return { attempt, work: null };
  const [base = "", ...more] = parents;
  // a coordinator that died may have made the job with an earlier commit
  const isOnBranch = base === asked.base || await isAncestor(repository, base, "HEAD");
  if (more.length > 0 || !isOnBranch) return refused("its commit is not on one of this branch");
  return { attempt, work: { base, commit, own, paths } };
}
