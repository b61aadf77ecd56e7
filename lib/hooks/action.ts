import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { turnEnvironment } from "../agents/environment.ts";
import { resolveAgent } from "../agents/registry.ts";
import { restoreBrief } from "../checks/brief/create_brief.ts";
import type { Brief } from "../checks/brief/types.ts";
import { type Agent, note, type RalphContext } from "../context/context.ts";
import { redactorFor } from "../events/redact.ts";
import { discardPaths, mergeChange, type TreeChange } from "../git/merge_change.ts";
import { ownCommit } from "../git/refs.ts";
import { type Repository, requireRepository, rootPaths, topLevelPaths } from "../git/repository.ts";
import { gitFailed, partsOf } from "../git/run_git.ts";
import * as files from "../host/files.ts";
import { openLog } from "../host/log_file.ts";
import { shellInvocation } from "../host/shell.ts";
import { createSlots } from "../host/slots.ts";
import { whenAborted } from "../host/when_aborted.ts";
import type { Hook } from "./hook.ts";
import { hookPrompt } from "./prompt.ts";
import type { HookIteration } from "./runner_types.ts";

/** The iteration that a hook runs for, and the tree that it works in. Paths are absolute. */
export interface HookWorkspace extends HookIteration {
  readonly cwd: string;
  readonly log: string;
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
}

/** How a hook's work ended. `message`: why it failed, or `null`. */
export interface HookEnd {
  readonly exitCode: number | null;
  readonly message: string | null;
}

/** Does what a hook says. Never throws for what the hook did. */
export async function runHookAction(ralph: RalphContext, hook: Hook, workspace: HookWorkspace): Promise<HookEnd> {
  if ("run" in hook) return await runFunction(ralph, hook, workspace);
  const environment = {
    ...await turnEnvironment(ralph, workspace.item),
    ITERATION_TRANSCRIPT: workspace.transcript,
    RALPH_ITERATION: String(workspace.iteration),
    RALPH_HOOK: hook.id,
  };
  if ("command" in hook) return await runShell(ralph, hook, workspace, environment);
  const agent = agentOf(ralph, hook.agent);
  const { end, exitCode } = await agent.runTurn({
    prompt: await hookPrompt(ralph.root, hook, workspace.transcript),
    cwd: workspace.cwd,
    transcript: workspace.log,
    timeoutMs: timeoutOf(ralph, hook),
    idleTimeoutMs: ralph.config.provider.idleTimeout * 1000,
    environment,
    signal: workspace.signal,
    onStart: workspace.onStart,
  });
  if (end.reason === "completed") return { exitCode: exitCode ?? 0, message: null };
  return { exitCode: exitCode ?? null, message: "message" in end ? end.message : end.reason };
}

async function runFunction(
  ralph: RalphContext,
  hook: Extract<Hook, { readonly run: unknown }>,
  { iteration, transcript, cwd, log: file, signal, onStart }: HookWorkspace,
): Promise<HookEnd> {
  onStart(ralph.host.environment.pid);
  const writer = await openLog(file);
  const redactor = redactorFor(ralph.host.environment.variables);
  const log = async (text: string): Promise<void> => writer.write(Buffer.from(redactor.text(text)));
  try {
    const ended = await Promise.race([
      hook.run({ iteration, transcript, cwd, signal, log }),
      refusedOnceAborted(signal),
    ]);
    const exitCode = typeof ended === "object" ? ended.exitCode : 0;
    return { exitCode, message: exitCode === 0 ? null : `exit ${exitCode}` };
  } catch (error) {
    await log(`${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
    return { exitCode: null, message: redactor.text(error instanceof Error ? error.message : String(error)) };
  } finally {
    await writer.close();
  }
}

/** A function that ignores its signal is not waited for. */
async function refusedOnceAborted(signal: AbortSignal): Promise<never> {
  await whenAborted(signal);
  throw new Error("aborted");
}

async function runShell(
  ralph: RalphContext,
  hook: Extract<Hook, { readonly command: string }>,
  { cwd, log: file, signal, onStart }: HookWorkspace,
  environment: Readonly<Record<string, string>>,
): Promise<HookEnd> {
  const writer = await openLog(file);
  const redactor = redactorFor(ralph.host.environment.variables);
  const timeoutMs = timeoutOf(ralph, hook);
  try {
    const end = await ralph.host.processes.run({
      ...await shellInvocation(hook.command, ralph.host.environment),
      cwd,
      environment,
      timeoutMs,
      signal,
      onStart,
      mask: () => redactor.stream(),
      onOutput: (chunk) => writer.write(chunk),
    });
    if (end.reason === "timed-out") {
      return { exitCode: null, message: `had not ended after ${Math.round(timeoutMs / 1000)} s` };
    }
    if (end.reason !== "exited") {
      return { exitCode: null, message: end.reason === "aborted" ? "aborted" : `${end.reason}: ${end.stderr}` };
    }
    const { exitCode } = end;
    return { exitCode, message: exitCode === 0 ? null : `exit ${exitCode ?? end.signal}` };
  } finally {
    await writer.close();
  }
}

function agentOf(ralph: RalphContext, wanted: Hook["agent"]): Agent {
  if (wanted === undefined) return ralph.agent;
  if (typeof wanted === "object" && "runTurn" in wanted) return wanted;
  const named = typeof wanted === "string" ? { name: wanted } : { command: wanted.command };
  return resolveAgent({ ...named, config: ralph.config, host: ralph.host, root: resolve(ralph.root) });
}

function timeoutOf({ config }: RalphContext, { timeoutMs }: Hook): number {
  return timeoutMs ?? config.provider.timeout * 1000;
}

/** A patch whose file name ends so is not brought in yet. */
const PENDING = ".pending.patch";

/** A change that a hook made in a tree of its own. */
export interface HookChange extends TreeChange {
  readonly hook: string;
  readonly iteration: number;
  /** Absolute path of the patch. */
  readonly file: string;
}

/** The subject of a hook's commit. Pure. */
export function hookSubject(hook: string, iteration: number): string {
  return `hook: ${hook} (iteration ${iteration})`;
}

/**
 * Brings a hook's changes into the working tree and commits them; where that cannot be, the patch is kept.
 *
 * @returns the patch that was kept, relative to the root, or `null`
 */
export async function applyChange(ralph: RalphContext, brief: Brief, change: HookChange): Promise<string | null> {
  const { hook, iteration, file, paths } = change;
  const subject = hookSubject(hook, iteration);
  const guarded = rootPaths(ralph, paths).filter((path) => brief.covers(path));
  const reason = guarded.length > 0
    ? `it changes protected files: ${guarded.join(", ")}`
    : await applyTreeChange(ralph, change, subject);
  if (reason === null) {
    await files.removePath(file);
    return null;
  }
  const kept = relative(ralph.root, await keepPatch(file)).replaceAll(sep, "/");
  const message = `${subject}: kept as ${kept}: ${reason}`;
  ralph.events.emit({ type: "note", level: "warn", message, hook });
  return kept;
}

/**
 * Lets a hook work in the tree itself, between two iterations, and commits what it left there: never a path that was
 * dirty before. It restores the files that judge the run.
 */
export async function commitTreeChanges(
  ralph: RalphContext,
  { stateFiles, brief }: { readonly stateFiles: readonly string[]; readonly brief: Brief },
  { hook, subject }: { readonly hook: string; readonly subject: string },
  work: () => Promise<void>,
): Promise<void> {
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  await work();
  await restoreBrief(brief);
  const { paths, now } = await repository.changedSince(before);
  const state = new Set(topLevelPaths(ralph, stateFiles));
  const warn = (message: string): void =>
    ralph.events.emit({ type: "note", level: "warn", message: `${subject}: ${message}`, hook });
  const left = paths.filter((path) => now.contents.has(path) && !state.has(path));
  const mixed = left.filter((path) => before.contents.has(path));
  if (mixed.length > 0) warn(`not committed, since they had changes before: ${mixed.join(", ")}`);
  const own = left.filter((path) => !before.contents.has(path));
  if (own.length === 0 || !ralph.config.commits.work) return;
  const result = await repository.commit({ paths: own, subject, hooks: true, known: now });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject, hook });
  if (result.status === "refused") warn(`a hook of the repository refused the commit:\n${result.output}`);
}

/** The file that holds a hook's changes until they are brought in. Pure. */
export function pendingPatch(logs: string, iteration: number, hook: string): string {
  return join(logs, `hook-iter${iteration}-${hook}${PENDING}`);
}

/** Keeps a patch for a person. @returns its path */
async function keepPatch(file: string): Promise<string> {
  const kept = join(dirname(file), `${basename(file, PENDING)}.patch`);
  await files.renamePath(file, kept);
  return kept;
}

/**
 * Reports which changes of hooks a killed run did not bring in. They are kept: the tree has changed since.
 *
 * @param shared the folder of logs that every run shares, or `null` where each run's folder has its own
 * @param folder absolute path of this run's folder
 */
export async function reportLeftPatches(ralph: RalphContext, shared: string | null, folder: string): Promise<void> {
  const runs = dirname(folder);
  const folders = shared === null ? (await files.listDirectory(runs)).map((name) => join(runs, name)) : [shared];
  for (const one of folders) {
    for (const name of (await files.listDirectory(one)).filter((entry) => entry.endsWith(PENDING))) {
      const kept = relative(ralph.root, await keepPatch(join(one, name)));
      note(ralph, "warn", `a killed run did not bring in what a hook changed: \`git apply ${kept}\` does`);
    }
  }
}

/** A worktree of the snapshot. */
export interface HookTree extends AsyncDisposable {
  /** Absolute path of the root in it. */
  readonly cwd: string;
  /** Writes what was changed as a patch, and as a commit that no branch has. @returns `null` where nothing was changed */
  collect(file: string): Promise<TreeChange | null>;
}

const HINT = "set `isolated: false` to run the hook in the tree";

/** Makes the worktrees of one run. */
export class HookTrees {
  readonly #root: string;
  readonly #repository: Repository;
  readonly #left: readonly string[];
  /** By this name a later run knows its own: other worktrees of the repository may have a Ralph at work. */
  readonly #prefix: string;
  readonly #oneAtATime = createSlots(1); // git takes no lock around the list of worktrees

  /** @param left paths relative to the top level that a patch never holds: Ralph's own state */
  constructor(root: string, repository: Repository, left: readonly string[]) {
    this.#root = root;
    this.#repository = repository;
    this.#left = left;
    this.#prefix = `ralph-hook-${files.hashText(`${repository.gitDirectory}\0${root}`).slice(0, 12)}-`;
  }

  async open(commit: string): Promise<HookTree> {
    const folder = await files.temporaryDirectory(this.#prefix);
    const { path } = folder;
    try {
      await this.#oneAtATime.run(() => this.#git(["worktree", "add", "--quiet", "--detach", path, commit]));
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
    return {
      cwd: join(path, relative(this.#repository.topLevel, this.#root)),
      collect: (file) => this.#collect(path, commit, file),
      [Symbol.asyncDispose]: async () => {
        await this.#oneAtATime.run(() => this.#remove(path));
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  /** Takes away what a killed run left. Call with the run lock held. */
  async sweep(): Promise<void> {
    for (const line of (await this.#git(["worktree", "list", "--porcelain"])).split("\n")) {
      const path = line.slice("worktree ".length);
      if (!line.startsWith("worktree ") || !path.includes(`/${this.#prefix}`)) continue;
      await this.#remove(path);
      await files.removeOwn(path, dirname(path));
    }
  }

  async #collect(path: string, commit: string, file: string): Promise<TreeChange | null> {
    await this.#git(["-C", path, "add", "--all"]);
    const tree = (await this.#git(["-C", path, "write-tree"])).trim();
    const what = [commit, tree, "--", ":/", ...this.#left.map((one) => `:(exclude,top,literal)${one}`)];
    const paths = partsOf(await this.#git(["-C", path, "diff", "--name-only", "-z", "--no-renames", ...what]));
    if (paths.length === 0) return null;
    await files.ensureDirectory(dirname(file));
    const form = ["--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
    await this.#git(["-C", path, "diff", ...form, `--output=${file}`, ...what]);
    const made = await ownCommit(this.#repository, tree, { parents: [commit], message: "ralph: hook\n" });
    return { base: commit, commit: made, paths };
  }

  async #remove(path: string): Promise<void> {
    await this.#repository.git(["worktree", "remove", "--force", "--force", path]);
  }

  async #git(arguments_: readonly string[]): Promise<string> {
    const end = await this.#repository.git(arguments_, { environment: {} });
    if (end.exitCode === 0) return end.stdout;
    throw gitFailed(arguments_, end.stderr.trim().split("\n").at(-1) ?? "", HINT);
  }
}

/**
 * Brings a hook's change into the tree and commits it; an obstacle leaves the tree as it is.
 *
 * @returns the obstacle, or `null`
 */
async function applyTreeChange(ralph: RalphContext, change: HookChange, subject: string): Promise<string | null> {
  const { hook, paths } = change;
  const repository = requireRepository(ralph);
  const dirty = new Set((await repository.status()).changed.map(({ path }) => path));
  const mixed = paths.filter((path) => dirty.has(path));
  if (mixed.length > 0) return `changed in the working tree as well: ${mixed.join(", ")}`;
  const differs = await mergeChange(repository, change, { union: true });
  if (differs !== null) return `it does not apply: ${differs} has changed in the same place`;
  if (!ralph.config.commits.work) return null;
  const result = await repository.commit({ paths, subject, hooks: true });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject, hook });
  if (result.status !== "refused") return null;
  await discardPaths(repository, paths);
  return `a hook of the repository refused the commit: ${result.output.trim().split("\n").at(-1) ?? ""}`;
}
