import { join } from "node:path";
import { note, type RalphContext } from "../../context/context.ts";
import { holdWork, keepGone, keepReset, letGo, readWork } from "../../git/history.ts";
import { type Repository, requireRepository, type TreeSnapshot } from "../../git/repository.ts";
import { outputFrom, pathsBetween } from "../../git/run_git.ts";
import { readReflog, type Tags } from "../../git/tags.ts";
import { takeOff } from "../../git/take_out.ts";
import { jsonIn, objectOr } from "../../host/data.ts";
import { readText, writeOwn } from "../../host/files.ts";
import { factsOf } from "../../host/path_facts.ts";
import { sidesOf } from "./damage.ts";
import type { Uncommitted } from "./uncommitted.ts";
import type { RunLine } from "../settle/run_line.ts";

/** Watches what a person has not committed, and their branches, notes and stashes, while something runs that is no turn. */
export interface Watch {
  /** Keeps the work. `held`: a turn follows, which may have git forget a stash; `null`: no branches are watched */
  begin(
    itemId: string | null,
    before: TreeSnapshot,
    how: { readonly isSaid: boolean; readonly held: boolean | null },
  ): Promise<void>;
  /** The files are as they may be: what `by` has left. A person's newer versions are kept, and their commits named. */
  again(now: TreeSnapshot, by: string): Promise<void>;
  /** Keeps branches, notes and stashes that are gone. @returns a sentence for each */
  gone(name: string): Promise<readonly string[]>;
  /** HEAD is where it may be: Ralph has committed. */
  committed(): Promise<void>;
  /** Restores what is gone or reverted, or was committed. No process is started if nothing was touched. */
  look(by: string): Promise<void>;
}

/** @param line the branch of the run, where the tree is the project's own */
export function createWatch(ralph: RalphContext, uncommitted: Uncommitted, line?: RunLine): Watch {
  const repository = requireRepository(ralph);
  const refs = createRefWatch(ralph);
  let kept: TreeSnapshot | null = null;
  let head: string | null = null;
  let stamps: ReadonlyMap<string, string | undefined> = new Map();
  const said = new Set<string>();
  const stampOf = (path: string): string | undefined => factsOf(join(repository.topLevel, path))?.stamp;
  const commitNow = async (): Promise<string | null> => (await repository.head()).head;

  async function again(now: TreeSnapshot, by: string | null): Promise<void> {
    if (by !== null) await nameOthers(ralph, head, now, by);
    kept = await uncommitted.renew(now);
    head = now.head;
    refs.moved();
    stamps = new Map(uncommitted.paths().map((path) => [path, stampOf(path)]));
  }

  async function restore(before: TreeSnapshot, by: string): Promise<void> {
    const now = await repository.snapshot();
    const isMoved = before.head !== null && head !== null && before.head !== head;
    const committed = isMoved ? await pathsBetween(repository, before.head ?? "", head ?? "") : [];
    // what was committed before that is its committer's
    const contents = new Map([...committed.map((path) => [path, "committed"] as const), ...now.contents]);
    const { isTouched } = await uncommitted.restore({ ...before, head }, { ...now, contents }, false, by);
    await again(isTouched ? await repository.snapshot() : now, by);
  }

  return {
    async begin(itemId, before, { isSaid, held }) {
      await uncommitted.keep(itemId, before, isSaid);
      await again(before, null);
      if (held !== null) await refs.begin(before.branch, held);
    },
    again,
    gone: (name) => refs.gone(name, kept?.head ?? null),
    async committed() {
      head = await commitNow() ?? head;
      refs.moved();
    },
    async look(by) {
      await line?.hold(by);
      const isTouched = [...stamps].some(([path, stamp]) => stampOf(path) !== stamp);
      const at = await repository.head();
      const isMoved = kept !== null && at.head !== head;
      if (isMoved && head !== null && at.head !== null && at.branch === kept!.branch) {
        const off = await takeOff(repository, { from: head, to: at.head, run: ralph.run.id });
        if (off !== null && !said.has(off)) note(ralph, "warn", `${by} ${off}`);
        if (off !== null) said.add(off);
      }
      await refs.look(by, kept?.head ?? null);
      if (kept !== null && (isTouched || (stamps.size > 0 && isMoved))) await restore(kept, by);
      else if (isMoved) head = await commitNow();
    },
  };
}

/** Names the commits that stay, since nothing says that they are a turn's; in a worker's tree none does. */
async function nameOthers(
  ralph: RalphContext,
  from: string | null,
  { branch, head }: Pick<TreeSnapshot, "branch" | "head">,
  by: string,
): Promise<void> {
  const repository = requireRepository(ralph);
  const sides = await sidesOf(repository, branch === null ? null : from, head);
  const others = sides.others.filter((commit) => !repository.made(commit));
  if (others.length === 0) return;
  const named = ["log", "--no-walk=unsorted", "--abbrev=10", "--format=%h %s", ...others.slice(0, 20)];
  const commits = (await outputFrom(repository, named)).trim().replaceAll("\n", ", ");
  note(ralph, "info", `stays: committed while ${by} ran, by a person or a process that hides whose it is: ${commits}`);
}

/** Watches branches, notes, stashes, and what HEAD leaves. */
function createRefWatch(ralph: RalphContext) {
  const repository = requireRepository(ralph);
  const refused = new Set<string>();
  let work: Tags = new Map();
  let written = "";
  let count = 0;
  let logged = 0;
  const moves = (): string => readReflog(repository.gitDirectory).slice(logged);
  async function gone(name: string, head: string | null): Promise<readonly string[]> {
    const found = readWork(repository, null);
    const lost = await keepGone(repository, { before: work, head }, found, name);
    const said = [...lost, ...await keepReset(repository, moves(), name)];
    const now = said.length === 0 ? found : readWork(repository, null);
    work = new Map([...now].filter(([one]) => work.has(one)));
    return said;
  }
  return {
    gone,
    /** HEAD is where it may be. */
    moved: () => void (logged = readReflog(repository.gitDirectory).length),
    /** @param held a turn follows, which may have git forget a stash */
    async begin(branch: string | null, held: boolean): Promise<void> {
      work = readWork(repository, branch);
      if (!held) return;
      const known = [...work].filter(([, hash]) => !refused.has(hash));
      const fresh = await holdWork(repository, new Map(known), ralph.run.root);
      const names = known.filter(([, hash]) => fresh.includes(hash)).map(([name]) => name).join(", ");
      if (names !== "") note(ralph, "warn", `git does not hold these while turns run: ${names}`);
      for (const hash of fresh) refused.add(hash);
      const text = JSON.stringify(Object.fromEntries(work));
      if (text !== written) await writeOwn(fileOf(repository), written = text);
    },
    async look(by: string, head: string | null): Promise<void> {
      const now = readWork(repository, null);
      if (moves() === "" && [...work].every(([name, hash]) => now.get(name) === hash)) return;
      for (const said of await gone(`${ralph.run.id}.look-${++count}`, head)) {
        note(ralph, "warn", said.replace("while the turn ran", `while ${by} ran`).replace(/^the turn /, `${by} `));
      }
    },
  };
}

/** The branches, notes and stashes before a turn: one in which Ralph is killed is compared with them. */
function fileOf({ ralphDirectory }: Pick<Repository, "ralphDirectory">): string {
  return join(ralphDirectory, "work-before.json");
}

/** Keeps what a turn took away in which Ralph was killed. */
export async function keepGoneOfKilled(ralph: RalphContext): Promise<void> {
  const repository = requireRepository(ralph);
  const before = new Map(
    Object.entries(objectOr(jsonIn(await readText(fileOf(repository))))).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    ),
  );
  const now = readWork(repository, null);
  for (const said of await keepGone(repository, { before, head: null, isOver: true }, now, `${ralph.run.id}.killed`)) {
    note(ralph, "warn", said.replace("while the turn ran", "since the turn in which Ralph was stopped"));
  }
  await letGo(repository, ralph.run.root);
}
