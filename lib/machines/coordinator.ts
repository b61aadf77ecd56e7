/**
 * The coordinator's side of a queue: hands attempts out as jobs, and fetches what workers have pushed. Settling, landing and
 * every commit on a branch stay with the loop.
 *
 * @module
 */
import { join, relative } from "node:path";
import type { Attempt } from "../backlog/types.ts";
import { BACKLOG_VERSION } from "../backlog/types.ts";
import type { OpenElsewhere, RalphContext } from "../context/context.ts";
import type { AttemptElsewhere, Elsewhere, MadeElsewhere } from "../context/elsewhere.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { requireRepository } from "../git/require_repository.ts";
import type { Repository } from "../git/types.ts";
import { pathsBetween } from "../git/work_commit.ts";
import { hashText, readText, writeAtomic } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import type { Engine } from "./engine.ts";
import { attemptRef, type Job, type JobResult, repositoryName } from "./job.ts";
import { pushedResult, pushRef, remoteUrl, removeRefs } from "./remote.ts";

/** The lead is kept so often; it lasts three times as long. */
const LEAD_MS = 10_000;
/** Between tries to reach the remote. */
const PAUSES_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];

/** What a coordinator is started with. */
export interface CoordinatorOptions {
  /** Opens the queue of a repository. */
  readonly open: (queue: string) => Promise<Engine>;
  readonly workflow: string;
  /** Ralph's version. */
  readonly version: string;
}

/** The queue of a repository's jobs: a name that pg-boss takes. Pure. */
export function queueName(repository: string): string {
  const readable = repository.replaceAll(/[^\w.-]+/g, "-").slice(-60);
  return `ralph-${readable}-${hashText(repository).slice(0, 8)}`;
}

/** Workers that a queue reaches. */
export function elsewhereBy(options: CoordinatorOptions): OpenElsewhere {
  return async (ralph, { key, scope }) => {
    const repository = requireRepository(ralph);
    const url = await remoteUrl(repository);
    if (url === null) throw new RalphError("remote-missing", { details: { root: ralph.root } });
    const name = repositoryName(url);
    const engine = await options.open(queueName(name));
    const project = relative(repository.topLevel, ralph.root).replaceAll("\\", "/");
    const head = { v: 1, ralph: options.version, backlogVersion: BACKLOG_VERSION } as const;
    const common = { ...head, repository: name, project, workflow: options.workflow, scope };
    const id = hashText(JSON.stringify([project, key.backlog, key.scope])).slice(0, 16);
    const coordinator = new Coordinator(ralph, { engine, common, key: id });
    try {
      await coordinator.takeLead();
    } catch (error) {
      await engine.close();
      throw error;
    }
    return coordinator;
  };
}

interface CoordinatorParts {
  readonly engine: Engine;
  readonly common: Pick<Job, "backlogVersion" | "project" | "ralph" | "repository" | "scope" | "v" | "workflow">;
  /** Of the backlog: one coordinator settles it. */
  readonly key: string;
}

class Coordinator implements Elsewhere {
  readonly #ralph: RalphContext;
  readonly #parts: CoordinatorParts;
  readonly #repository: Repository;
  /** The same for the same clone: the next one takes over at once. */
  #holder = "";
  readonly #pushing = createSlots(1);
  readonly #lost = new AbortController();
  #keeping: Disposable | null = null;
  /** Refs on the remote that are not needed afterwards. */
  readonly #refs = new Set<string>();
  #tip: string | null = null;

  constructor(ralph: RalphContext, parts: CoordinatorParts) {
    this.#ralph = ralph;
    this.#parts = parts;
    this.#repository = requireRepository(ralph);
  }

  /** @throws {RalphError} queue-led */
  async takeLead(): Promise<void> {
    const file = join(this.#repository.ralphDirectory, "coordinator");
    this.#holder = await readText(file) ?? "";
    if (this.#holder === "") await writeAtomic(file, this.#holder = this.#ralph.host.ids.random(24));
    if (!await this.#parts.engine.lead(this.#parts.key, this.#holder)) throw new RalphError("queue-led");
    this.#keeping = this.#ralph.host.clock.every(LEAD_MS, () => void this.#keepLead());
  }

  async attempt(one: AttemptElsewhere): Promise<MadeElsewhere> {
    const { engine } = this.#parts;
    const signal = AbortSignal.any([one.signal, this.#lost.signal]);
    const job = await this.#patiently(() => this.#jobOf(one));
    let isSubmitted = false;
    for (;;) {
      if (this.#lost.signal.aborted) throw new RalphError("queue-led");
      if (one.signal.aborted) {
        await engine.cancel([one.id]);
        return this.#without(one, { status: "interrupted" });
      }
      isSubmitted ||= await this.#ask(() => engine.submit(one.id, job).then(() => true)) ?? false;
      const end = isSubmitted ? await this.#ask(async () => (await engine.ended([one.id])).get(one.id)) : undefined;
      if (end?.status === "done") return await this.#fetched(one, end.result);
      if (end?.status === "failed") {
        return this.#without(one, { status: "blocked", message: `no worker could do it: ${end.message}` });
      }
      await engine.change(signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeping?.[Symbol.dispose]();
    const { engine, key } = this.#parts;
    if (!this.#lost.signal.aborted) {
      await this.#sweep();
      await engine.resign(key, this.#holder).catch(() => {}); // it ends by itself
    }
    await engine.close();
  }

  /** What was fetched here, now or by a run that was killed, is settled: it is not needed on the remote any more. */
  async #sweep(): Promise<void> {
    const listed = await this.#repository.git(["for-each-ref", "--format=%(refname)", "refs/ralph/attempts/"]);
    const fetched = listed.stdout.split("\n").filter((ref) => ref !== "");
    await removeRefs(this.#repository, [...new Set([...this.#refs, ...fetched])]);
    const input = fetched.map((ref) => `delete ${ref}\n`).join("");
    if (input !== "") await this.#repository.git(["update-ref", "--stdin"], { input });
  }

  /** A database that does not answer for a moment has not decided anything. */
  async #ask<T>(act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      const message = `the queue does not answer: ${error instanceof Error ? error.message : String(error)}`;
      this.#ralph.events.emit({ type: "note", level: "warn", message });
      return undefined;
    }
  }

  async #keepLead(): Promise<void> {
    try {
      if (!await this.#parts.engine.lead(this.#parts.key, this.#holder)) this.#lost.abort();
    } catch {
      // no one else can take it either while the database is away
    }
  }

  async #jobOf({ id, number, item, base, left, judging, signal: _, ...rest }: AttemptElsewhere): Promise<Job> {
    const tip = `refs/ralph/tips/${this.#parts.key}`;
    if (this.#tip !== base) {
      await this.#replace(tip, base);
      this.#tip = base;
    }
    const leftRef = `refs/ralph/left/${id}`;
    if (left !== null) await this.#replace(leftRef, left);
    return {
      ...this.#parts.common,
      ...rest,
      attempt: { id, number },
      item,
      judging: { base: judging.base, steps: judging.steps, items: judging.items },
      base: { ref: tip, commit: base },
      left: left === null ? null : { ref: leftRef, commit: left },
    };
  }

  /** The remote, one thing at a time; a line that is down for a moment does not end a night's run. */
  async #patiently<T>(act: () => Promise<T>): Promise<T> {
    for (const pause of PAUSES_MS) {
      try {
        return await this.#pushing.run(act);
      } catch (error) {
        if (!RalphError.isInstance(error) || error.code !== "git-failed") throw error;
        this.#ralph.events.emit({ type: "note", level: "warn", message: `${error.message}: tried again` });
        await this.#ralph.host.clock.sleep(pause, this.#ralph.signal);
      }
    }
    return await this.#pushing.run(act);
  }

  /** Only the leader moves these. */
  async #replace(ref: string, commit: string): Promise<void> {
    this.#refs.add(ref);
    const { stdout } = await this.#repository.git(["ls-remote", "origin", ref], { timeoutMs: 60_000 });
    const from = /^[0-9a-f]{40,64}/.exec(stdout)?.[0] ?? null;
    if (from === commit) return;
    if (!await pushRef(this.#repository, { ref, commit }, from)) throw new RalphError("queue-led");
  }

  /** What a worker says is compared with what it pushed, and with what was asked for. */
  async #fetched(one: AttemptElsewhere, told: JobResult): Promise<MadeElsewhere> {
    const ref = attemptRef(one.id);
    this.#refs.add(ref);
    const result = await this.#patiently(() => pushedResult(this.#repository, one.id));
    const made = await madeOf(this.#repository, one, told, result);
    if (typeof made !== "string") return made;
    return this.#without(one, { status: "blocked", message: `the result of ${told.worker} is not used: ${made}` });
  }

  #without(
    { id, number }: AttemptElsewhere,
    end: { readonly status: "interrupted" } | { readonly status: "blocked"; readonly message: string },
  ): MadeElsewhere {
    const attempt: Attempt = { id, number, claim: null, turn: null, verification: null, ...end };
    return { attempt, work: null };
  }
}

/** An attempt as a worker pushed it, or what is wrong with it. */
export async function madeOf(
  repository: Pick<Repository, "git">,
  { id, number }: Pick<AttemptElsewhere, "id" | "number">,
  told: JobResult,
  pushed: JobResult | null,
): Promise<MadeElsewhere | string> {
  if (pushed === null) return `${attemptRef(id)} is not on the remote`;
  if (told.commit !== pushed.commit) return "it says another commit than it pushed";
  const { attempt, commit, own } = pushed;
  if (attempt.id !== id || attempt.number !== number) return "it is of another attempt";
  if (commit === null) return { attempt, work: null };
  const { stdout: parents } = await repository.git(["rev-parse", `${commit}^@`]);
  const base = parents.trim();
  const { exitCode } = await repository.git(["merge-base", "--is-ancestor", base, "HEAD"]);
  if (exitCode !== 0) return "its commit is not on one of this branch";
  return { attempt, work: { base, commit, own, paths: await pathsBetween(repository, base, commit) } };
}
