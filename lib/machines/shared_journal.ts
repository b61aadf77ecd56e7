/**
 * The journal of a run whose jobs are taken and landed by `ralph job`: each call may be in another clone, so that it is on
 * the remote, under `refs/ralph/runs/KEY`, with the work that earlier attempts left. It moves together with the branch, all
 * or nothing: a call that is killed before that has not happened, and of two at once one fails with an error that says so.
 *
 * @module
 */
import { z } from "zod";
import { commitAt, isAncestor } from "../git/refs.ts";
import { jsonIn, objectOr } from "../host/data.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import { journalKeyOf } from "../backlog/attempts.ts";
import type { Backlog } from "../backlog/types.ts";
import { ownFiles, type RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { type Repository, requireRepository, topLevelPaths } from "../git/repository.ts";
import { lineFrom, outputFrom } from "../git/run_git.ts";
import { keptWork } from "../git/work_commit.ts";
import { hashText, LARGEST_LOG, readText, writeAtomic } from "../host/files.ts";
import type { Progress } from "../loop/policy/progress.ts";
import { keyOf } from "../loop/journal/journal_record.ts";
import { attemptRef, jobRef, parsed } from "./job.ts";
import { commitData, dropRefs, fetchRefs, pushRefs, readData, type RefUpdate, remoteRefs } from "./remote.ts";

const FILE = "journal.jsonl";
const WORK = "refs/ralph/work/";

const SPENT: z.ZodType<Spent> = z.strictObject({
  startedAt: z.number(),
  turns: z.int(),
  tokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  idleTurns: z.int(),
  stalledTurns: z.int(),
});
const SHARED = z.strictObject({
  v: z.literal(1),
  spent: SPENT.nullable(),
  taken: z.record(z.string(), z.int()),
  work: z.record(z.string().startsWith(WORK).regex(/^[\w./-]+$/), z.string().regex(/^[0-9a-f]{40,64}$/)),
});

/** The total that the calls of a run have used together: limits are the run's. */
export type Spent = Pick<Progress, "startedAt" | "turns" | "tokens" | "costUsd" | "idleTurns" | "stalledTurns">;

/** The memory of a run beside its journal. */
export interface RunMemory {
  /** `null`: no call has ended yet. */
  readonly spent: Spent | null;
  /** How often each attempt that is out was handed out. */
  readonly taken: Readonly<Record<string, number>>;
}

/**
 * Brings this clone to where the run is, in whichever clone its last step was.
 *
 * @throws {RalphError} job-stale, job-clone-unfit, state-invalid, git-failed
 */
export async function openSharedRun<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  project: string,
): Promise<SharedRun> {
  const repository = requireRepository(ralph);
  const key = await journalKeyOf(backlog);
  const branch = (ralph.loop.branch ?? (await backlog.brief?.())?.branch) || await repository.currentBranch();
  const shallow = await lineFrom(repository, ["rev-parse", "--is-shallow-repository"]) === "true";
  if (shallow) throw unfit("it is shallow, and items are merged by their common history");
  if (branch === null) throw unfit("no branch is checked out");
  const ref = `refs/ralph/runs/${hashText(JSON.stringify([project, key.backlog, key.scope, branch])).slice(0, 16)}`;
  const heads = `refs/heads/${branch}`;
  const there = await remoteRefs(repository, [ref, heads, "refs/ralph/jobs/*", "refs/ralph/attempts/*"]);
  await ensureAhead(repository, branch, there.get(heads) ?? null);
  const run = new SharedRun(ralph, { repository, key, ref, heads, there, stateFiles: backlog.stateFiles });
  await run.adopt(ralph.journal.open(key));
  return run;
}

/** A run as the remote has it. */
export class SharedRun implements RunMemory {
  spent: Spent | null = null;
  taken: Readonly<Record<string, number>> = {};
  /** Ids of attempts whose jobs and results are on the remote. */
  readonly jobs: ReadonlySet<string>;
  readonly results: ReadonlySet<string>;
  readonly #ralph: RalphContext;
  readonly #parts: SharedParts;
  #before: Before = { head: null, journal: "", state: new Map() };

  constructor(ralph: RalphContext, parts: SharedParts) {
    this.#ralph = ralph;
    this.#parts = parts;
    const ids = (folder: string): ReadonlySet<string> =>
      new Set([...parts.there.keys()].filter((ref) => ref.startsWith(folder)).map((ref) => ref.slice(folder.length)));
    this.jobs = ids(jobRef(""));
    this.results = ids(attemptRef(""));
  }

  /** @param out attempts that this clone has handed out */
  async adopt(out: readonly unknown[]): Promise<void> {
    await this.#adopt(out);
    const { repository, heads } = this.#parts;
    const state = new Map<string, string | null>();
    for (const path of this.#parts.stateFiles) state.set(path, await this.#ralph.state.read(path));
    this.#before = { head: await commitAt(repository, heads), journal: await this.#text(), state };
  }

  async #adopt(out: readonly unknown[]): Promise<void> {
    const { repository, ref, there } = this.#parts;
    const theirs = there.get(ref) ?? null;
    const ours = await commitAt(repository, ref);
    if (theirs === null) {
      if (ours === null) return;
      if (out.length > 0) throw stale("the run has ended elsewhere");
      return void await outputFrom(repository, ["update-ref", "-d", ref]);
    }
    const file = ownFiles(repository, this.#ralph.root).journal;
    if (theirs !== ours) {
      const text = this.#lines("own", await this.#text());
      const known = ours === null ? "" : this.#lines("own", await outputFrom(repository, ["show", `${ours}:${FILE}`]));
      if (text !== known) throw stale("this clone has a journal of its own that the remote has not");
      await fetchRefs(repository, [ref]);
    }
    const { data } = await readData(repository, ref);
    const shared = parsed(SHARED, data, `run under ${ref}`);
    this.spent = shared.spent;
    this.taken = shared.taken;
    if (theirs === ours) return; // what is here may be further on: a call that was killed
    const input = Object.entries(shared.work).map(([name, commit]) => `update ${name} ${commit}\n`).join("");
    await outputFrom(repository, ["update-ref", "--stdin"], { input });
    const run = this.#lines("own", await outputFrom(repository, ["show", `${ref}:${FILE}`]));
    await writeAtomic(file, `${this.#lines("others", await this.#text())}${run}`);
    await this.#ralph.journal.refresh();
  }

  /**
   * Pushes journal, branch and refs of attempts, all or nothing.
   *
   * @param memory `null`: the run is over, and not needed any more
   * @param attempts by their ids: the commits of jobs that are out, which the remote is to have, and what is settled
   * @throws {RalphError} job-stale, git-failed
   */
  async push(
    memory: RunMemory | null,
    { out, settled }: { readonly out: ReadonlyMap<string, string>; readonly settled: readonly string[] },
  ): Promise<void> {
    const { repository, ref, heads, there } = this.#parts;
    const own = [...settled.map(jobRef), ...settled.map(attemptRef)];
    const commit = memory === null ? null : await this.#commit(memory);
    const updates: readonly RefUpdate[] = [
      { ref: heads, commit: await commitAt(repository, heads) },
      ...[...out].map(([id, job]) => ({ ref: jobRef(id), commit: job, from: there.get(jobRef(id)) ?? null })),
      ...own.filter((one) => there.has(one)).map((one) => ({ ref: one, commit: null })),
      ...commit === null && !there.has(ref) ? [] : [{ ref, commit, from: there.get(ref) ?? null }],
    ];
    const problem = await pushRefs(repository, updates.filter((one) => one.commit !== there.get(one.ref)));
    if (problem !== null) {
      await this.#undo([...out.keys()]);
      throw stale(problem);
    }
    const moved = commit === null ? `delete ${ref}\n` : `update ${ref} ${commit}\n`;
    const gone = own.map((one) => `delete ${one}\n`).join("");
    await outputFrom(repository, ["update-ref", "--stdin"], { input: `${moved}${gone}` });
  }

  /** Another call was first: what was taken or landed here has not been. Results stay on the remote, and land again. */
  async #undo(taken: readonly string[]): Promise<void> {
    const { repository, heads, there } = this.#parts;
    const { head, journal } = this.#before;
    const now = await commitAt(repository, heads);
    if (now !== head && !await this.#goBack(now, head)) return;
    await writeAtomic(ownFiles(repository, this.#ralph.root).journal, journal);
    await dropRefs(repository, taken.map(jobRef).filter((ref) => !there.has(ref)));
    await this.#ralph.journal.refresh();
  }

  /**
   * Work that was landed here is no longer on the branch, and kept by a ref.
   *
   * @returns false where changes of a person's are in the way: then all stays as it is
   */
  async #goBack(now: string | null, head: string | null): Promise<boolean> {
    if (now === null || head === null) return false;
    const { repository, stateFiles } = this.#parts;
    const { state } = this.#ralph;
    await outputFrom(repository, ["update-ref", `refs/ralph/lost/land-${now.slice(0, 16)}`, now]);
    // state that no commit has yet is Ralph's own, and would be in the way
    for (const path of topLevelPaths(this.#ralph, stateFiles)) {
      await repository.git(["checkout", "--quiet", now, "--", path]);
    }
    if ((await repository.git(["reset", "--quiet", "--keep", head])).exitCode !== 0) return false;
    for (const [path, text] of this.#before.state) if (text !== null) await state.update(path, () => text);
    await state.adopt(stateFiles);
    return true;
  }

  async #text(): Promise<string> {
    return await readText(ownFiles(this.#parts.repository, this.#ralph.root).journal, LARGEST_LOG) ?? "";
  }

  /** The lines of this backlog, or the others: work on those is not the remote's, and theirs is not this clone's. */
  #lines(of: "others" | "own", text: string): string {
    const own = keyOf(this.#parts.key);
    return text.split("\n").filter((line) => {
      const read = objectOr(jsonIn(line));
      return "key" in read && (read["key"] === own) === (of === "own");
    }).map((line) => `${line}\n`).join("");
  }

  async #commit({ spent, taken }: RunMemory): Promise<string> {
    const { repository } = this.#parts;
    const text = this.#lines("own", await this.#text());
    const blob = await lineFrom(repository, ["hash-object", "-w", "--stdin"], { input: text });
    const tree = await lineFrom(repository, ["mktree"], { input: `100644 blob ${blob}\t${FILE}\n` });
    const work = Object.fromEntries(await this.#work());
    const parents = [...new Set(Object.values(work))];
    const data: z.infer<typeof SHARED> = { v: 1, spent, taken: { ...taken }, work };
    return await commitData(repository, tree, parents, { subject: "ralph: a run by jobs", data });
  }

  /** The work that attempts of this run left. Other work that this clone keeps is nothing of the remote's. */
  async #work(): Promise<ReadonlyMap<string, string>> {
    const { repository, key } = this.#parts;
    const work = new Map(await keptWork(repository, keyOf(key)));
    for (const { ref } of this.#ralph.journal.stowed(key).values()) {
      const commit = await commitAt(repository, ref);
      if (commit !== null) work.set(ref, commit);
    }
    return work;
  }
}

interface SharedParts {
  readonly repository: Repository;
  readonly key: JournalKey;
  readonly ref: string;
  /** The branch's. */
  readonly heads: string;
  /** Refs of the remote. */
  readonly there: ReadonlyMap<string, string>;
  /** Relative to the root. */
  readonly stateFiles: readonly string[];
}

/** As it was before this call. */
interface Before {
  /** The branch. */
  readonly head: string | null;
  /** The journal's text. */
  readonly journal: string;
  /** Texts of state files. */
  readonly state: ReadonlyMap<string, string | null>;
}

/** The work that others have landed is here: this clone's branch goes on from there. */
async function ensureAhead(repository: Repository, branch: string, theirs: string | null): Promise<void> {
  if (theirs === null) return;
  const heads = `refs/heads/${branch}`;
  const ours = await commitAt(repository, heads);
  if (ours === theirs) return;
  if (ours === null) {
    throw unfit(`the remote has a branch ${branch}, and this clone has none: \`git switch ${branch}\``);
  }
  if (await isAncestor(repository, theirs, ours)) return;
  throw stale(`the branch ${branch} of the remote has commits that this clone has not`);
}

function stale(problem: string): RalphError {
  return new RalphError("job-stale", { details: { problem } });
}

function unfit(problem: string): RalphError {
  return new RalphError("job-clone-unfit", { details: { problem } });
}
