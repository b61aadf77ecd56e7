import { join, relative, sep } from "node:path";
import { createStateFiles } from "../../backlog/state_files.ts";
import type { Backlog, Item, SettleCommit } from "../../backlog/types.ts";
import { pathsOutside } from "../../checks/guards.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { createHost } from "../../host/create_host.ts";
import { copyPath, readText, removePath, temporaryDirectory, writeAtomic, writePlain } from "../../host/files.ts";
import { type Bench, must, type Rules, same, SILENT_TURN, STATUSES } from "./bench.ts";
import { readdirSync, readFileSync } from "node:fs";
import { createGit } from "../../git/run_git.ts";

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
