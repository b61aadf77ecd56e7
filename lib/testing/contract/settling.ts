import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { createStateFiles } from "../../backlog/state_files.ts";
import type { Attempt, Backlog, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import { pathsOutside } from "../../checks/guards.ts";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import { createGit } from "../../git/run_git.ts";
import { createHost } from "../../host/create_host.ts";
import { copyPath, readText, removePath, temporaryDirectory, writeAtomic, writePlain } from "../../host/files.ts";
import { type Bench, must, type Rules, same, SILENT_TURN, STATUSES } from "./bench.ts";

type Status = Attempt["status"];

const PASSES: readonly Status[] = ["verified", "unverified"];

/** An item that fails every time has to be out of the way after so many attempts. */
const MOST_ATTEMPTS = 20;

/** The duties of record() and settle(), and how failed attempts end. */
export const SETTLING: Rules = {
  async "record() of an item that began, called twice, leaves what one call leaves"(bench) {
    const item = await bench.taken();
    const once = await bench.snapshot();

    await bench.backlog.record?.({ type: "item-began", item });

    same(await bench.snapshot(), once, "the store after the second record()");
  },

  ...forEach(STATUSES, (status) => [
    `settle() of an attempt that is ${status}, called twice, leaves what one call leaves and answers the same`,
    async (bench) => {
      const item = await bench.taken();
      const attempt = await bench.attempt(item, status);
      const first = await bench.settle(item, attempt);
      const once = await bench.snapshot();

      const second = await bench.settle(item, attempt);

      same(await bench.snapshot(), once, "the store after the second settle()");
      same(second.status, first.status, "the second settlement");
    },
  ]),
  ...forEach(PASSES, (status) => [
    `an item that is ${status} is not given again, and is counted`,
    async (bench) => {
      const item = await bench.item();
      const before = await bench.overview();

      const settlement = await bench.end(item, status);

      same(settlement.status, "passed", `the settlement of an attempt that is ${status}`);
      await bench.kill();
      must(!(await bench.offered()).includes(item.id), `${item.id} was given again although it has passed`);
      if (item.exclusive === true || item.checksOnly === true) return;
      const after = await bench.overview();
      same(after.passed, before.passed + 1, "overview().passed");
      if (before.open !== null) same(after.open, before.open - 1, "overview().open");
    },
  ]),
  ...forEach(STATUSES.filter((status) => !PASSES.includes(status)), (status) => [
    `an attempt that is ${status} passes nothing, whatever its turn has done`,
    async (bench) => {
      const item = await bench.item();
      const { passed } = await bench.overview();

      const settlement = await bench.end(item, status);

      must(settlement.status !== "passed", `an attempt that is ${status} must not pass`);
      same((await bench.overview()).passed, passed, "overview().passed");
    },
  ]),

  async "a pass is reverted when the same attempt is settled as failed: its commit was refused"(bench) {
    const item = await bench.item();
    const { passed } = await bench.overview();
    await bench.begin(item);
    const attempt = await bench.attempt(item, "verified");
    const { commit } = await bench.settle(item, attempt);
    if (commit?.work !== true) return; // no hook of the repository sees a commit of state

    const refused = { ...await bench.attempt(item, "failed"), reason: "commit-refused", verification: null } as Attempt;
    const settlement = await bench.settle(item, { ...refused, last: false });

    must(settlement.status !== "passed", "a pass must be reverted when its commit was refused");
    same((await bench.overview()).passed, passed, "overview().passed");
    if (settlement.status === "open" && item.preparatory !== true) {
      same((await bench.item()).id, item.id, "the next item");
    }
  },

  async "an interrupted attempt leaves the item open, after a kill as well"(bench) {
    const item = await bench.taken();
    await bench.kill();

    const settlement = await bench.settle(item, await bench.attempt(item, "interrupted"));

    same(settlement.status, "open", "the settlement of an interrupted attempt");
    if (item.preparatory !== true) same((await bench.item()).id, item.id, "the next item");
  },

  "an item that fails comes again while it has attempts left": (bench) => comesAgain(bench, "failed"),
  "an item that is not done comes again while it has attempts left": (bench) => comesAgain(bench, "not-done"),

  async "an item without attempts left is parked, or stops the run"(bench) {
    const item = await bench.taken();

    const { status } = await bench.settle(item, await bench.lastAttempt(item));

    mustEnd(status, "the last attempt must park the item or stop the run");
  },

  async "a blocked attempt leaves the item to a person"(bench) {
    const { status } = await bench.end(await bench.item(), "blocked");

    mustEnd(status, "a blocked attempt must leave the item to a person");
  },

  async "retries end"(bench) {
    const { id } = await bench.item();
    for (let count = 0; count < MOST_ATTEMPTS; count++) {
      const next = await bench.next();
      if (next.status !== "item" || next.item.id !== id) return;
      if ((await bench.end(next.item, "failed")).status === "stop") return;
    }
    throw new Error(`${id} comes again after ${MOST_ATTEMPTS} failed attempts`);
  },

  async "the next attempt's prompt says why the one before failed"(bench) {
    const item = await bench.taken();
    const attempt = await bench.attempt(item, "failed");
    if (attempt.last === true || (await bench.settle(item, attempt)).status !== "open") return;
    const next = await bench.next();
    if (next.status !== "item" || next.item.id !== item.id) return;

    const { prompt } = await bench.work(next.item);

    const text = typeof prompt === "function" ? prompt(null) : prompt;
    if (text !== null) must(text.includes("left a trace"), "the prompt must say why the last attempt failed");
  },
};

function forEach(statuses: readonly Status[], rule: (status: Status) => readonly [name: string, run: Rules[string]]) {
  return Object.fromEntries(statuses.map(rule));
}

function mustEnd(status: Settlement["status"], rule: string): void {
  must(status === "parked" || status === "stop", `${rule} (got: ${status})`);
}

async function comesAgain(bench: Bench, status: Attempt["status"]): Promise<void> {
  const item = await bench.taken();
  const attempt = await bench.attempt(item, status);
  if (attempt.last === true) return; // the backlog's `retries` give it no other one

  const settlement = await bench.settle(item, attempt);

  if (settlement.status === "stop") return;
  same(settlement.status, "open", "the settlement of an attempt that is not the last one");
  if (item.preparatory === true || settlement.reopened !== undefined) return;
  same((await bench.item()).id, item.id, "the next item");
}

/** Cut off, of another shape, and nothing that is text. */
const GARBAGE = ["[{", "42\n", "\u0000\u0001"];

/** A backlog owes this about files: which ones it writes, which ones it reads, and what it says of a broken one. */
export const WRITING: Rules = {
  async "a backlog with state files names the folder that they are in"({ backlog, root }) {
    must(backlog.stateFiles.length === 0 || root !== null, "`root` must be given: the folder of the state files");
  },

  async "what settle() and reopen() write of git's files is in `stateFiles` or in the commit, which names the state"(
    _bench,
    open,
  ) {
    for (const status of STATUSES) {
      const bench = await open();
      if (bench.root === null) return;
      const item = await bench.taken();
      const attempt = await bench.attempt(item, status);
      const before = filesIn(bench.root, bench.backlog);
      const { allow = [] } = await bench.work(item); // what a turn may write is its own
      const { commit } = await bench.settle(item, attempt);
      await checkCommit(bench, before, { commit, allow });
      if (status !== "verified" || bench.backlog.reopen === undefined) continue;
      const passed = filesIn(bench.root, bench.backlog);
      await checkCommit(bench, passed, { commit: (await bench.sendBack([item.id])).commit, allow });
    }
  },

  /** An agent writes the content that the store has when everything has passed, at the first item, which then fails. */
  async "what an agent writes into the store closes no item: state files are restored"(done, open) {
    if (done.root === null) return;
    const start = filesIn(done.root, done.backlog);
    await done.endAll("verified");
    const end = filesIn(done.root, done.backlog);
    const bench = await open();
    const { root, backlog } = bench;
    if (root === null) return;
    const { passed } = await bench.overview();
    const item = await bench.taken();
    const { allow = [] } = await bench.work(item);
    const paths = pathsOutside(changedPaths(start, end), allow);

    const host = createHost();
    await using _processes = host.processes;
    await using folder = await temporaryDirectory("ralph-contract-");
    const state = createStateFiles({ root, directory: folder.path, host, parts: bench.parts });
    await state.adopt(backlog.stateFiles);
    for (const path of paths) await put(join(root, path), end.get(path));
    await state.restore(await state.edited(backlog.stateFiles));
    const attempt = await bench.attempt(item, "failed", { ...await bench.turn(item), changedFiles: paths });
    await bench.settle(item, attempt);

    same((await bench.overview()).passed, passed, "overview().passed after an agent wrote into the store");
  },

  async "work() and judge() look at the item's working tree, which need not be the root"(bench) {
    const { root } = bench;
    if (root === null) return;
    await using folder = await temporaryDirectory("ralph-tree-");
    const tree = join(folder.path, "tree");
    await copyPath(root, tree);
    const item = await bench.item();
    const [here, there] = [await promptIn(bench, item, root), await promptIn(bench, item, tree)];
    same(there.replaceAll(tree, root), here, "the prompt in another working tree");
    must(root === tree || !there.includes(root), "the prompt in another working tree must not name the root");
    await bench.begin(item);
    const claim = await bench.judge(item, await bench.turn(item, tree), tree);
    if (claim !== null) same(claim.status, "done", "the claim of a turn in another working tree");
  },

  async "judge() of a turn that said and changed nothing claims nothing"(bench) {
    const item = await bench.taken();

    const claim = await bench.judge(item, SILENT_TURN);

    if (claim !== null) must(claim.status !== "done", "a turn that said and changed nothing must not be done");
  },

  async "a state file that cannot be read is named in a RalphError, and stays as it is"(_bench, open) {
    for (const garbage of GARBAGE) {
      const bench = await open();
      if (bench.root === null) return;
      for (const path of bench.backlog.stateFiles) {
        const file = join(bench.root, path);
        if (await readText(file) === null) continue;
        await writeAtomic(file, garbage);
        await bench.kill();
        for (const read of [() => bench.overview(), () => bench.next()]) {
          const error = await read().then(() => null, (thrown: unknown) => thrown);
          if (error === null) continue; // such a text means something in this format
          must(
            RalphError.isInstance(error) && error.exitCode === EXIT.usage,
            `${path} holds ${JSON.stringify(garbage)}: expected a RalphError such as state-invalid, got ${
              error instanceof Error ? error.message : JSON.stringify(error)
            }`,
          );
        }
        same(await readText(file), garbage, `what ${path} holds after it was read`);
      }
    }
  },
};

async function checkCommit(
  { root, backlog }: Bench,
  before: StoreFiles,
  { commit, allow }: { readonly commit: SettleCommit | undefined; readonly allow: readonly string[] },
): Promise<void> {
  if (root === null) return;
  const named = commit?.paths ?? [];
  const written = pathsOutside(changedPaths(before, filesIn(root, backlog)), allow);
  for (const path of written) {
    const isNamed = named.includes(path) || backlog.stateFiles.includes(path);
    must(isNamed, `${path} was written, and neither \`stateFiles\` nor the commit names it`);
  }
  const state = written.filter((path) => backlog.stateFiles.includes(path));
  for (const path of await trackedOf(root, state)) must(named.includes(path), `the commit must name ${path}`);
}

async function put(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) await removePath(path);
  else await writePlain(path, text);
}

async function promptIn(bench: Bench, item: Item, cwd: string): Promise<string> {
  const { prompt } = await bench.work(item, cwd);
  return (typeof prompt === "function" ? prompt(null) : prompt) ?? "";
}

/** Files by path, relative to the root, with their text. */
type StoreFiles = ReadonlyMap<string, string>;

/** All files below the root but git's own and those of runs. */
function filesIn(root: string, { runsDirectory = ".ralph/runs" }: Partial<Backlog>): StoreFiles {
  const apart = [".git", runsDirectory];
  const files = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/");
    if (!entry.isFile() || apart.some((folder) => path === folder || path.startsWith(`${folder}/`))) continue;
    files.set(path, readFileSync(join(root, path), "utf8"));
  }
  return files;
}

/** Paths whose text is another one, or that came or went. */
function changedPaths(before: StoreFiles, after: StoreFiles): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

/** The paths that git knows; outside of a repository all of them. */
async function trackedOf(root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const host = createHost();
  await using _processes = host.processes;
  const { exitCode, stdout } = await createGit(host, root)(["ls-files", "-z", "--", ...paths]);
  return exitCode === 0 ? stdout.split("\0").filter((path) => path !== "") : paths;
}
