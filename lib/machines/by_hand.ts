import type { AttemptJob, Elsewhere, MadeElsewhere } from "../context/elsewhere.ts";
import { ofCode, RalphError } from "../errors/ralph_error.ts";
import { commitAt } from "../git/refs.ts";
import { outputFrom } from "../git/run_git.ts";
import type { Repository } from "../git/repository.ts";
import { type JobHead, jobOf, madeOf, withoutWork } from "./coordinator.ts";
import { attemptRef, type Job, jobRef, type JobResult } from "./job.ts";
import { createJobCommits, fetchRefs, lightJob, readJob, readResult } from "./remote.ts";
import type { SharedRun } from "./shared_journal.ts";

/** A job that was handed out so often without a result is given up. */
const MOST_HANDED_OUT = 5;

export interface ByHandOptions {
  readonly repository: Repository;
  readonly head: JobHead;
  readonly shared: SharedRun;
  /** `null`: jobs are taken. Else results are landed, and these were given, of all that are on the remote. */
  readonly told: readonly JobResult[] | null;
}

/** Workers that are not waited for: one call hands jobs out, another one takes their results. */
export class ByHand implements Elsewhere {
  readonly takesMore: boolean;
  /** Jobs that are out, with the commits that hold them. */
  readonly out: { readonly id: string; readonly job: Job; readonly commit: string }[] = [];
  readonly settledIds: string[] = [];
  readonly #options: ByHandOptions;
  readonly #commitOf: (job: Job) => Promise<string>;
  /** Ids of attempts whose results are here. */
  readonly #results = new Set<string>();

  constructor(options: ByHandOptions) {
    this.#options = options;
    this.#commitOf = createJobCommits(options.repository);
    this.takesMore = options.told === null;
  }

  /** Brings what the remote has of these attempts here. */
  async fetch(ids: readonly string[]): Promise<void> {
    const { repository, shared, told } = this.#options;
    const wanted = new Set(told?.length === 0 ? ids : told?.map(({ attempt }) => attempt.id));
    const landing = ids.filter((id) => wanted.has(id) && shared.results.has(id));
    const jobs = ids.filter((id) => shared.jobs.has(id));
    await fetchRefs(repository, [...jobs.map(jobRef), ...landing.map(attemptRef)]);
    for (const id of landing) this.#results.add(id);
  }

  /** How often an attempt has been handed out, this call included. */
  timesTaken(id: string): number {
    const { shared, told } = this.#options;
    return (shared.taken[id] ?? 0) + (told === null ? 1 : 0);
  }

  async attempt(one: AttemptJob): Promise<MadeElsewhere | null> {
    const { repository, told, shared } = this.#options;
    const { id } = one.attempt;
    if (this.#results.has(id)) return await this.#made(one);
    const given = told?.find(({ attempt }) => attempt.id === id);
    if (given !== undefined) return await madeOf(repository, one, given, null);
    if (told === null && (shared.taken[id] ?? 0) >= MOST_HANDED_OUT) {
      return withoutWork(one, { status: "blocked", message: `handed out ${MOST_HANDED_OUT} times without a result` });
    }
    this.out.push(await this.#jobOf(one));
    return null;
  }

  settled(id: string): Promise<void> {
    this.settledIds.push(id);
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #made(one: AttemptJob): Promise<MadeElsewhere> {
    const { repository, told } = this.#options;
    const made = readResult(repository, one.attempt.id).then((pushed) => {
      const given = told?.find(({ attempt }) => attempt.id === one.attempt.id) ?? pushed.result;
      return madeOf(repository, one, given, pushed);
    });
    return await made.catch(ofCode("job-invalid", ({ message }) => withoutWork(one, { status: "blocked", message })));
  }

  /** As an earlier call has handed it out; one of another version of Ralph is made anew. */
  async #jobOf(one: AttemptJob): Promise<ByHand["out"][number]> {
    const { repository, head } = this.#options;
    const { id } = one.attempt;
    const ref = jobRef(id);
    if (await commitAt(repository, ref) !== null) {
      try {
        const { job, commit } = await readJob(repository, ref, head.ralph);
        return { id, job: lightJob(job), commit };
      } catch (error) {
        if (!RalphError.isInstance(error) || error.code === "git-failed") throw error;
      }
    }
    const job = jobOf(head, one);
    const commit = await this.#commitOf(job);
    await outputFrom(repository, ["update-ref", ref, commit]);
    return { id, job: lightJob(job), commit };
  }
}
