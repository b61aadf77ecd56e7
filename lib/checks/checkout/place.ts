import { join } from "node:path";
import type { CheckOutcome } from "../../backlog/types.ts";
import type { WorkspaceConfig } from "../../config/schema.ts";
import { createRedactor, secretValues } from "../../events/redact.ts";
import type { Git } from "../../git/run_git.ts";
import { type ListedEntry, treeListing } from "../../git/tree_listing.ts";
import type { SandboxRequest, ShownPath } from "../../host/confinement.ts";
import { isDirectory, symbolicLink } from "../../host/files.ts";
import { findBubblewrapProgram } from "../../host/find_bubblewrap.ts";
import { mapPath, mapPaths } from "../../host/map_paths.ts";
import { factsOf } from "../../host/path_facts.ts";
import { type ShellInvocation, shellInvocation } from "../../host/shell.ts";
import type { Host, ProcessRequest } from "../../host/types.ts";
import { dependencyKey } from "../../workspace/dependency_key.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";
import { keepCopies, type KeptCopies, type KeptCopy } from "../../workspace/kept_copies.ts";
import type { CheckoutHome } from "./home.ts";
import { hiddenVariables } from "./settings.ts";

/** Programs whose work is done by a service or a machine that sees other files than the command. */
const DAEMONS_REGEXP =
  /(^|[\s;&|(){}`"'/=])(docker|docker-compose|podman|podman-compose|nerdctl|kubectl|helm|ssh|scp|rsync)(?=$|[\s;&|)`"'])/;

/** The place of a checkout, and the path that it is laid over. Paths are absolute, but for `links`. */
export interface Ground {
  readonly host: Host;
  readonly topLevel: string;
  readonly home: CheckoutHome;
  readonly namespace: Namespace;
  /** Shared with the tree, relative to the top level. */
  readonly links: readonly string[];
}

/** The things that are laid into a checkout. */
export interface Laid {
  readonly kept: Pick<KeptCopies, "copies" | "copyInto">;
  /** Symbolic links of the commit, relative to the top level. */
  readonly committed: readonly string[];
}

/**
 * Copies into the checkout what cannot be bound over the root. At another path all is copied, shared folders are linked,
 * and what holds the root's path leads into the checkout.
 */
export async function layCopies(ground: Ground, { kept, committed }: Laid): Promise<void> {
  const { topLevel, home: { tree }, namespace, links } = ground;
  const isBound = namespace.kind !== "elsewhere";
  const folders = new Set(kept.copies.filter(({ isFolder }) => isFolder).map(({ path }) => path));
  const copied = await kept.copyInto(tree, (path) => !isBound || !folders.has(path));
  if (isBound) return;
  for (const path of [...copied, ...committed]) mapPaths(join(tree, path), topLevel, tree);
  for (const path of links) await symbolicLink(join(topLevel, path), join(tree, path));
}

/** The outcomes of commands, by the tree that they ran on: for one run, in memory. */
export type Results = Map<string, CheckOutcome>;

/** How checks are run in a checkout that has been brought up. @param tree what results are kept by */
export function placeOf(
  ground: Ground,
  laid: Laid,
  root: string,
  results: Results,
  tree: string,
): Pick<CheckoutPlace, "namespace" | "tree" | "run" | "known" | "remember" | "directory"> {
  const { namespace, topLevel, home } = ground;
  let whole: Promise<void> | null = null;
  return {
    namespace,
    tree: home.tree,
    run: (shell, command, cwd) => placedProcess(ground, laid.kept.copies, shell, command, cwd),
    known: (command) => results.get(`${tree}\0${command}`) ?? null,
    remember: (command, outcome) => void results.set(`${tree}\0${command}`, outcome),
    async directory() {
      await (whole ??= layCopies({ ...ground, namespace: { ...namespace, kind: "elsewhere" } }, laid));
      return mapPath(root, topLevel, home.tree);
    },
  };
}

/** The process that runs a shell in the checkout, with nothing in its environment that shows who runs it. */
export function placedProcess(
  ground: Ground,
  copies: readonly KeptCopy[],
  { file, arguments: given }: ShellInvocation,
  command: string,
  cwd: string,
): PlacedProcess {
  const { host, topLevel, home, namespace } = ground;
  const { variables } = host.environment;
  const hidden = { ...hiddenVariables(variables), OLDPWD: undefined };
  const elsewhere = mapPath(cwd, topLevel, home.tree);
  const isDaemon = DAEMONS_REGEXP.test(command);
  if (namespace.kind === "elsewhere" || isDaemon) {
    const mapped = Object.entries(variables).filter(([name]) => !(name in hidden)).map(([name, value]) =>
      [name, value?.split(":").map((part) => mapPath(part, topLevel, home.tree)).join(":")] as const
    );
    const project = isDaemon ? { COMPOSE_PROJECT_NAME: `checkout-${host.ids.random(8)}` } : {};
    const environment = { ...Object.fromEntries(mapped), ...hidden, ...project, PWD: elsewhere };
    const sandbox = { role: "check", cwd: topLevel, shown: [{ from: home.tree, at: home.tree }] } as const;
    return { file, arguments: given, cwd: elsewhere, environment, plain: true, sandbox };
  }
  const shown = shownPaths(ground, copies);
  return {
    file: namespace.program,
    arguments: [...mountArguments(ground, copies, shown), "--chdir", cwd, "--", file, ...given],
    cwd: "/",
    environment: { ...variables, ...hidden, PWD: cwd },
    plain: true,
    sandbox: { role: "check", cwd: topLevel, shown, inside: { file, arguments: given, cwd } },
  };
}

/** The folders that are laid over the repository's own path; in a sandbox by the sandbox itself. */
function shownPaths({ topLevel, home, links }: Ground, copies: readonly KeptCopy[]): readonly ShownPath[] {
  return [
    { from: home.tree, at: topLevel },
    ...copies.filter(({ isFolder }) => isFolder).map(({ path, kept }) => ({ from: kept, at: join(topLevel, path) })),
    ...links.map((path) => ({ from: join(topLevel, path), at: join(topLevel, path) })),
  ];
}

/** The ignored folders of a checkout. */
interface Dependencies {
  /** As they were when the checkout was opened. */
  readonly first: KeptCopies;
  /** Brings them up to a commit that is checked out. @param looked when the tree's folders were: a turn came since, or not */
  bringUp(entries: readonly ListedEntry[], looked: "just now" | "before"): Promise<BroughtDependencies>;
}

/** The outcome of bringing them up. */
type BroughtDependencies =
  | Pick<CheckoutPlace, "dependencies" | "lost"> & { readonly status: "ready"; readonly kept: KeptCopies }
  | { readonly status: "failed"; readonly reason: string };

/** The copies and installations; globs are relative to the top level, the root is absolute. */
type Copying = Pick<WorkspaceConfig, "copy" | "setup" | "setupTimeout"> & {
  readonly root: string;
  /** Folders that came to be or whose lock file changed are never taken from the tree. */
  readonly mustInstall: boolean;
  /** `null` before the first one. */
  readonly commit: string | null;
  readonly signal: AbortSignal | undefined;
};

const MUST_INSTALL = "the dependencies are as the agent left them: `trust: strict` needs `workspace.setup`, " +
  "which installs them anew";

/** Copies them as they are now. */
export async function openDependencies(
  ground: Ground,
  git: Git,
  { copy, setup, setupTimeout, root, mustInstall, commit, signal }: Copying,
): Promise<Dependencies> {
  const { host, topLevel, home } = ground;
  const keep = (from: string, keyOf: () => Promise<string>): Promise<KeptCopies> =>
    keepCopies({ host, topLevel: from, folder: join(home.path, "copies"), workspace: { copy } }, keyOf);
  let key: string | null = null;
  const keyBefore = async () => key ??= commit === null ? "" : await dependencyKey(git, await treeListing(git, commit));
  const first = await keep(topLevel, keyBefore);
  let kept = first;
  let dependencies: CheckoutPlace["dependencies"] = "as at the start";

  /** In the checkout, without the copies. @returns why it failed */
  async function install(command: string): Promise<string | null> {
    const shell = await shellInvocation(command, host.environment);
    const placed = placedProcess(ground, [], shell, command, root);
    const limits = { timeoutMs: setupTimeout * 1000, ...(signal === undefined ? {} : { signal }) };
    const redactor = createRedactor(secretValues(host.environment.variables));
    const sandbox: SandboxRequest = { cwd: root, ...placed.sandbox, role: "setup" };
    const end = await host.processes.run({ ...placed, sandbox, ...limits, mask: () => redactor.stream() });
    return end.exitCode === 0 ? null : `workspace.setup: ${end.tail.trim() || end.reason}`;
  }

  const pathsNow = async (): Promise<readonly string[]> => (await ignoredPaths(git, topLevel, copy)).paths;

  async function hasNew(): Promise<boolean> {
    const known = new Set(kept.copies.map(({ path }) => path));
    return (await pathsNow()).some((path) => !known.has(path));
  }

  async function hasFolder(): Promise<boolean> {
    return (await Promise.all((await pathsNow()).map((path) => isDirectory(join(topLevel, path))))).includes(true);
  }

  return {
    first,
    async bringUp(entries, looked) {
      const keyNow = await dependencyKey(git, entries);
      const isKnown = looked === "just now" || dependencies === "installed";
      if (keyNow === await keyBefore() && (isKnown || !await hasNew())) {
        return { status: "ready", kept, dependencies, lost: await kept.restore() };
      }
      if (setup === null && mustInstall && await hasFolder()) return { status: "failed", reason: MUST_INSTALL };
      const files = new Set(first.copies.filter(({ isFolder }) => !isFolder).map(({ path }) => path));
      if (setup !== null) await first.copyInto(home.tree, (path) => files.has(path)); // `.env`: no installation makes it
      const reason = setup === null ? null : await install(setup);
      if (reason !== null) return { status: "failed", reason };
      kept = await keep(setup === null ? topLevel : home.tree, () => Promise.resolve(keyNow));
      key = keyNow;
      dependencies = setup === null ? "taken" : "installed";
      return { status: "ready", kept, dependencies, lost: [] };
    },
  };
}

/** How a shell of a check is started. */
type PlacedProcess = Pick<ProcessRequest, "file" | "arguments" | "cwd" | "environment" | "plain" | "sandbox">;

/** The place that shell commands of a check run in. */
export interface CheckPlace {
  /**
   * The process that runs a shell there.
   *
   * @param command decides whether it is run at the checkout's own path
   * @param cwd a folder of the tree, absolute: the command runs in the same one there
   */
  run(shell: ShellInvocation, command: string, cwd: string): PlacedProcess;
  /** The outcome of the same command on the same tree in this run; `null` if it did not run yet. */
  known(command: string): CheckOutcome | null;
  remember(command: string, outcome: CheckOutcome): void;
}

/** A checkout as it was brought up: valid until it is brought up again. */
export interface CheckoutPlace extends CheckPlace {
  readonly commit: string;
  /** The files of the commit. */
  readonly entries: readonly ListedEntry[];
  /** Absolute path of the checkout's own folder: what commands write there is at its place in the top level to them. */
  readonly tree: string;
  readonly namespace: Namespace;
  /** How the ignored folders came here. `taken`: from the tree, as the agent left them. */
  readonly dependencies: "as at the start" | "installed" | "taken";
  /** Copied paths, relative to the top level. */
  readonly copied: readonly string[];
  /** Paths in the copies that an earlier check changed and that could not be restored, relative to the top level. */
  readonly lost: readonly string[];
  /** The folder of the checkout itself, with the copies in it: for checks that are functions. */
  directory(): Promise<string>;
}

/** The outcome of bringing a checkout up. */
export type BroughtUp =
  | { readonly status: "ready"; readonly place: CheckoutPlace }
  /** `reason` is git's own line, the end of what `workspace.setup` printed, or links that the first bring-up did not have. */
  | { readonly status: "failed"; readonly reason: string };

/** Brings a checkout up to a commit. */
export type BringUp = (commit: string) => Promise<BroughtUp>;

/** A clean checkout with a git directory of its own, outside of the repository. */
export interface Checkout extends AsyncDisposable {
  /** Absolute path of its working tree. */
  readonly tree: string;
  /** Paths that were copied when it was opened, relative to the top level. */
  readonly copied: readonly string[];
  /** Finds what later calls may have. @returns `null` where the commit has none of it: no checkout was made */
  begin(): Promise<BroughtUp | null>;
  /** The paths in the copied folders that differ from what the last run kept, under the same lock files. */
  readonly changedSinceLastRun: readonly string[];
  /** Named by `workspace.copy`, but tracked: not copied. */
  readonly tracked: readonly string[];
  /**
   * Brings it up to a commit. Later calls may have only what the first one finds (submodules, links that lead out):
   * call it, or `begin()`, before the first turn.
   *
   * @param commit as git knows it in the repository, with the branches and tags of the last call without one. Absent: HEAD
   */
  bringUp(commit?: string): Promise<BroughtUp>;
  /** Files of the commit that something has written since it was brought up, relative to the top level. */
  touched(): Promise<readonly string[]>;
}

/**
 * How a checkout comes to the repository's own path: `full` with processes of its own, `bound` where that is not
 * possible, `elsewhere` where bubblewrap cannot: the commands run at the checkout's path. `reason`: why not `full`.
 */
interface Namespace {
  readonly kind: "full" | "bound" | "elsewhere";
  readonly reason: string | null;
  /** Absolute path of bubblewrap; "" without it. */
  readonly program: string;
  /** Changes to a copied folder can be thrown away by an overlay. */
  readonly overlay: boolean;
}

const ELSEWHERE = "the final check ran in a copy at a different path";
const BIND = ["--die-with-parent", "--dev-bind", "/", "/"];
const FULL = ["--unshare-pid", "--proc", "/proc"];

/** By the program and its file; it is asked again where it does not work. */
const ANSWERED = new Map<string, Namespace>();

/** Asks bubblewrap what it can do on this machine; a process asks one that works once. */
export async function probeNamespace(host: Host): Promise<Namespace> {
  const program = await findBubblewrapProgram(host.environment);
  if (program === null) return { kind: "elsewhere", reason: missing(host), program: "", overlay: false };
  const key = `${program} ${JSON.stringify(factsOf(program))}`;
  const namespace = ANSWERED.get(key) ?? await namespaceOf(host, program);
  if (namespace.kind === "full") ANSWERED.set(key, namespace);
  return namespace;
}

async function namespaceOf(host: Host, program: string): Promise<Namespace> {
  const ask = async (...more: string[]): Promise<{ works: boolean; text: string }> => {
    const arguments_ = [...BIND, ...more, program, "--help"];
    const end = await host.processes.run({ file: program, arguments: arguments_, cwd: "/", timeoutMs: 10_000 });
    return { works: end.exitCode === 0, text: end.tail };
  };
  const full = await ask(...FULL);
  const bound = full.works ? full : await ask();
  const reason = full.works ? null : `bubblewrap: ${full.text.trim().split("\n").at(-1) || "no message"}`;
  const overlay = bound.works && bound.text.includes("--tmp-overlay"); // 0.11 and later
  if (bound.works) return { kind: full.works ? "full" : "bound", reason, program, overlay };
  const why = `bubblewrap fails here, so ${ELSEWHERE}. It says: ${reason}.`;
  return { kind: "elsewhere", reason: why, program, overlay };
}

/** The one sentence that the run ends with, and the command that makes it go away. */
function missing({ environment: { platform } }: Host): string {
  if (platform !== "linux") return `bubblewrap works on Linux only, so ${ELSEWHERE}.`;
  return `bubblewrap is not installed, so ${ELSEWHERE}. \`apt-get install bubblewrap\` removes this note.`;
}

/** Arguments of bubblewrap that lay the shown paths, and hide all homes: nothing of them is the check's business. Pure. */
function mountArguments(
  { namespace: { kind, overlay }, topLevel, home: { cache } }: Ground,
  copies: readonly KeptCopy[],
  shown: readonly ShownPath[],
): readonly string[] {
  const kept = new Set(copies.map((copy) => copy.kept));
  return [
    ...BIND,
    ...(kind === "full" ? [...FULL, "--unsetenv", "INVOCATION_ID"] : []),
    ...shown.flatMap(({ from, at }) =>
      overlay && kept.has(from) ? ["--overlay-src", from, "--tmp-overlay", at] : ["--bind", from, at]
    ),
    ...(`${cache}/`.startsWith(`${topLevel}/`) ? [] : ["--tmpfs", cache]),
  ];
}
