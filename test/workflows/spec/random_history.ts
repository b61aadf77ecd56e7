/**
 * Histories of a plan, made by acting on branches, with the truth of every task kept by those who act: nothing here
 * compares versions of the file. A task belongs to one branch at a time, as it does among people who talk to each other.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Random, randomNumbers } from "./random_numbers.ts";

type Mark = number;

/** The actors know this of a task. */
export interface Truth {
  outcome: "pending" | "done" | "accepted" | "rejected" | "cancelled";
  created: Mark;
  done: Mark | null;
  accepted: Mark | null;
  cancelled: Mark | null;
  rejected: { commit: Mark; reason: string }[];
  readded: Mark[];
}

interface Task {
  id: string;
  s: "p" | "d" | null;
  doneAt: string | null;
  lastDone: { at: string; mark: Mark } | null;
  truth: Truth;
}

interface State {
  readonly tasks: Map<string, Task>;
  /** Tombstone lines. */
  tombs: { id: string; doneAt: string; reason: string }[];
}

type Act = (state: State, mark: Mark) => void;

interface Branch {
  name: string;
  state: State;
  owned: Set<string>;
  tip: Mark;
  /** The acts since the fork: a rebase does them again. */
  acts: Act[];
  undo: { act: Act } | null;
}

/** A history in a repository, with what is true of its tasks. */
export interface MadeHistory {
  readonly tasks: ReadonlyMap<string, Truth>;
  /** Mark to commit. */
  readonly commits: ReadonlyMap<Mark, string>;
  readonly path: string;
}

const AUTHORS = [
  "Ada | Lovelace <ada|x@example.com>",
  'Ünï "q" O\'Neil <uni@example.com>',
  "a b <$(x)`y`@example.com>",
  "名前 <na,me@example.com>",
];

/** Makes a repository in `folder` with a random history of about `length` commits. */
export function makeHistory(folder: string, seed: number, length: number): MadeHistory {
  const random = randomNumbers(seed);
  const stream: string[] = ["feature done\n"];
  let mark = 0;
  let path = random.chance(0.4) ? "plan.jsonl" : "ralph/plan.jsonl";
  let count = 0;
  let named = 0;

  function commit(branch: Branch, parents: readonly Mark[], message: string, extra = ""): Mark {
    mark += 1;
    const text = `${message} ${mark}`;
    const content = format(branch.state);
    const at = 1_700_000_000 + mark * 60;
    const author = random.pick(AUTHORS);
    stream.push(
      `commit refs/heads/${branch.name}\nmark :${mark}\nauthor ${author} ${at} +0100\ncommitter ${author} ${at} +0000\n`,
      `data ${Buffer.byteLength(text)}\n${text}\n`,
      parents[0] === undefined ? "" : `from :${parents[0]}\n`,
      ...parents.slice(1).map((parent) => `merge :${parent}\n`),
      extra,
      `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    );
    branch.tip = mark;
    return mark;
  }

  function act(branch: Branch, what: string, does: Act): void {
    does(branch.state, mark + 1);
    commit(branch, branch.tip === 0 ? [] : [branch.tip], what);
    branch.acts.push(does);
  }

  const main: Branch = {
    name: "main",
    state: { tasks: new Map(), tombs: [] },
    owned: new Set(),
    tip: 0,
    acts: [],
    undo: null,
  };
  let others: Branch[] = [];
  act(main, "set spec", () => {});

  for (let step = 0; step < length; step++) {
    const kind = random.below(100);
    if (kind < 8 && others.length < 3) {
      others.push(fork(main, `topic/${named++}`, random));
      main.undo = null; // what it would undo may be the branch's by now
    } else if (kind < 20 && others.length > 0) {
      const branch = random.pick(others) as Branch;
      others = others.filter((other) => other !== branch);
      join_(branch, random.below(3));
    } else if (kind < 24 && others.length === 0 && path === "plan.jsonl") {
      rename();
    } else if (kind < 30) {
      const branch = random.pick([main, ...others]) as Branch;
      mark += 1; // a commit that does not touch the plan
      stream.push(
        `commit refs/heads/${branch.name}\nmark :${mark}\ncommitter x <x@example.com> ${
          1_700_000_000 + mark * 60
        } +0000\ndata 1\nx\nfrom :${branch.tip}\n`,
        `M 100644 inline code/${mark}\ndata 1\nx\n`,
      );
      branch.tip = mark;
    } else step_(random.pick([main, ...others]) as Branch);
  }

  function rename(): void {
    const old = path;
    path = "ralph/plan.jsonl";
    commit(main, [main.tip], "rename", `D ${old}\n`);
  }

  function step_(branch: Branch): void {
    const own = [...branch.owned].map((id) => branch.state.tasks.get(id) as Task);
    const revert = branch.undo;
    branch.undo = null;
    if (revert !== null && random.chance(0.15)) return act(branch, "Revert", revert.act);
    const task = random.pick(own);
    if (task === undefined || random.chance(0.3)) {
      const id = `t-${(count++).toString(36).padStart(4, "0")}`;
      branch.owned.add(id);
      act(branch, "add", (state, now) => void state.tasks.set(id, fresh(id, now)));
      branch.undo = { act: (state, now) => remove(state, id, now) };
      return;
    }
    const { id } = task;
    const before = structuredClone(task);
    if (task.s === null) {
      if (random.chance(0.3)) act(branch, "add again", (state, now) => back(state, id, "p", null, now));
    } else if (task.s === "p") {
      if (random.chance(0.2)) {
        act(branch, "cancel", (state, now) => remove(state, id, now));
        branch.undo = { act: (state, now) => back(state, id, "p", null, now) };
      } else {
        const at = (mark + 0x1000000).toString(16);
        act(branch, "done", (state, now) => setDone(state, id, at, now));
        branch.undo = { act: (state) => reopen(state, id) };
      }
    } else if (random.chance(0.4)) {
      const reason = `no | "good" ${mark}`;
      act(branch, "reject", (state, now) => reject(state, id, reason, now));
      branch.undo = {
        act: (state, now) => {
          state.tombs = state.tombs.filter((tomb) => tomb.reason !== reason);
          setDone(state, id, before.doneAt as string, now);
        },
      };
    } else if (random.chance(0.15)) {
      act(branch, "reopen", (state) => reopen(state, id));
    } else {
      act(branch, "accept", (state, now) => remove(state, id, now));
      branch.undo = { act: (state, now) => back(state, id, "d", before.doneAt, now) };
    }
  }

  /** Merge, squash or rebase: the branch's own tasks come to main, and main's tombstones and theirs are joined. */
  function join_(branch: Branch, how: number): void {
    const take = (id: string): void => {
      const theirs = branch.state.tasks.get(id);
      if (theirs !== undefined) main.state.tasks.set(id, theirs);
    };
    const known = new Set(main.state.tombs.map(tombKey));
    const news = branch.state.tombs.filter((tomb) => !known.has(tombKey(tomb)));
    if (how === 0) {
      branch.owned.forEach(take);
      main.state.tombs.push(...news);
      commit(main, [main.tip, branch.tip], `Merge branch '${branch.name}'`);
    } else if (how === 1) {
      // One commit that never tells what was in between.
      const now = mark + 1;
      for (const id of branch.owned) {
        if (!squash(main.state, id, branch.state.tasks.get(id) as Task, news, now)) branch.owned.delete(id);
      }
      main.state.tombs.push(...news);
      commit(main, [main.tip], "squash");
      stream.push(`reset refs/heads/${branch.name}\nfrom :${main.tip}\n\n`);
    } else {
      const onto: Branch = { ...branch, state: main.state, tip: main.tip, acts: [] };
      for (const does of branch.acts) act(onto, "rebased", does);
      main.tip = onto.tip;
      stream.push(`reset refs/heads/main\nfrom :${main.tip}\n\n`);
    }
    for (const id of branch.owned) main.owned.add(id);
    main.undo = null;
  }

  if (path === "plan.jsonl") rename(); // branches that are still open have the old name
  stream.push("done\n");
  const commits = importStream(folder, stream.join(""));
  const tasks = new Map<string, Truth>();
  for (const branch of [main, ...others]) {
    for (const id of branch.owned) tasks.set(id, (branch.state.tasks.get(id) as Task).truth);
  }
  return { tasks, commits, path };
}

function fork(main: Branch, name: string, random: Random): Branch {
  const owned = new Set([...main.owned].filter(() => random.chance(0.4)));
  for (const id of owned) main.owned.delete(id);
  const tasks = new Map([...main.state.tasks].map(([id, task]) => [id, structuredClone(task)]));
  return { name, state: { tasks, tombs: [...main.state.tombs] }, owned, tip: main.tip, acts: [], undo: null };
}

function fresh(id: string, now: Mark): Task {
  return {
    id,
    s: "p",
    doneAt: null,
    lastDone: null,
    truth: { outcome: "pending", created: now, done: null, accepted: null, cancelled: null, rejected: [], readded: [] },
  };
}

function taskIn(state: State, id: string): Task {
  return state.tasks.get(id) as Task;
}

function setDone(state: State, id: string, at: string, now: Mark): void {
  const task = taskIn(state, id);
  const mark = task.lastDone?.at === at ? task.lastDone.mark : now;
  Object.assign(task, { s: "d", doneAt: at, lastDone: { at, mark } });
  Object.assign(task.truth, { outcome: "done", done: mark });
}

function reopen(state: State, id: string): void {
  const task = taskIn(state, id);
  Object.assign(task, { s: "p", doneAt: null });
  Object.assign(task.truth, { outcome: "pending", done: null });
}

function reject(state: State, id: string, reason: string, now: Mark): void {
  const task = taskIn(state, id);
  state.tombs.push({ id, doneAt: task.doneAt as string, reason });
  task.truth.rejected.push({ commit: now, reason });
  reopen(state, id);
}

function remove(state: State, id: string, now: Mark): void {
  const task = taskIn(state, id);
  const isTomb = task.lastDone !== null &&
    state.tombs.some((tomb) => tomb.id === id && tomb.doneAt === task.lastDone?.at);
  if (task.s === "d") Object.assign(task.truth, { outcome: "accepted", accepted: now });
  else if (isTomb || task.truth.rejected.length > 0) {
    Object.assign(task.truth, { outcome: "rejected", done: task.lastDone?.mark ?? null });
  } else Object.assign(task.truth, { outcome: "cancelled", cancelled: now });
  Object.assign(task, { s: null, doneAt: null });
}

function back(state: State, id: string, s: "p" | "d", at: string | null, now: Mark): void {
  const task = taskIn(state, id);
  task.truth.readded.push(now);
  Object.assign(task.truth, { accepted: null, cancelled: null });
  if (s === "d") return setDone(state, id, at as string, now);
  reopen(state, id);
}

/** Applies one commit to a task that lived elsewhere in between. @returns false when it tells nothing */
function squash(state: State, id: string, theirs: Task, news: State["tombs"], now: Mark): boolean {
  const own = state.tasks.get(id);
  const tombs = news.filter((tomb) => tomb.id === id);
  if (own === undefined) {
    if (theirs.s === null) return false;
    const task = fresh(id, now);
    state.tasks.set(id, task);
    if (theirs.s === "d") setDone(state, id, theirs.doneAt as string, now);
    for (const { reason } of tombs) task.truth.rejected.push({ commit: now, reason });
    return true;
  }
  for (const { reason } of tombs) own.truth.rejected.push({ commit: now, reason });
  if (own.s === theirs.s && own.doneAt === theirs.doneAt) return true;
  if (theirs.s === null) {
    const isRejected = own.s === "d" && tombs.some((tomb) => tomb.doneAt === own.doneAt);
    const all = state.tombs;
    state.tombs = [...all, ...tombs];
    remove(state, id, now);
    state.tombs = all;
    if (isRejected) Object.assign(own.truth, { outcome: "rejected", accepted: null });
  } else if (own.s === null) back(state, id, theirs.s, theirs.doneAt, now);
  else if (theirs.s === "d") setDone(state, id, theirs.doneAt as string, now);
  else reopen(state, id);
  return true;
}

function format({ tasks, tombs }: State): string {
  const lines = [...tasks.values()].filter(({ s }) => s !== null).map(({ id, s, doneAt }) =>
    `{"t": "task", "id": "${id}", "spec": "a.md", "name": "do ${id}", "s": "${s}"${
      doneAt === null ? "" : `, "done_at": "${doneAt}"`
    }}`
  );
  const stones = tombs.map(({ id, doneAt, reason }) => JSON.stringify({ t: "reject", id, done_at: doneAt, reason }));
  return ['{"t": "spec", "spec": "a.md"}', ...lines, ...stones].map((line) => `${line}\n`).join("");
}

function tombKey({ id, doneAt, reason }: State["tombs"][number]): string {
  return `${id} ${doneAt} ${reason}`;
}

function importStream(folder: string, stream: string): ReadonlyMap<Mark, string> {
  mkdirSync(folder, { recursive: true });
  const marks = join(folder, ".git", "marks");
  const run = (args: readonly string[], input?: string): string => {
    const done = spawnSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      ...(input === undefined ? {} : { input }),
    });
    if (done.status !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
    return done.stdout;
  };
  run(["init", "-q", "-b", "main"]);
  run(["fast-import", "--quiet", "--done", "--force", `--export-marks=${marks}`], stream);
  const text = run(["-c", "core.pager=cat", "rev-list", "--all", "--count"]) === ""
    ? ""
    : spawnSync("cat", [marks], { encoding: "utf8" }).stdout;
  return new Map(
    text.split("\n").filter(Boolean).map((line) => {
      const [mark = "", hash = ""] = line.slice(1).split(" ");
      return [Number(mark), hash];
    }),
  );
}
