import { join } from "node:path";
import type { CheckOutcome } from "../../backlog/types.ts";
import { findBubblewrapProgram } from "../../host/find_bubblewrap.ts";
import type { ShellInvocation } from "../../host/shell.ts";
import type { Host, ProcessRequest } from "../../host/types.ts";
import type { KeptCopy } from "../../workspace/kept_copies.ts";

/** How a shell of a check is started. */
export type PlacedProcess = Pick<ProcessRequest, "file" | "arguments" | "cwd" | "environment" | "plain" | "sandbox">;

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
  | { readonly status: "nothing-committed" }
  /** Links that the first bring-up did not have, as `path -> target`: what they lead to is not committed. */
  | { readonly status: "links-outside"; readonly links: readonly string[] }
  /** `reason` is git's own line, or the end of what `workspace.setup` printed. */
  | { readonly status: "failed"; readonly reason: string };

/** Brings a checkout up to a commit. */
export type BringUp = (commit: string) => Promise<BroughtUp>;

/** A clean checkout with a git directory of its own, outside of the repository. */
export interface Checkout extends AsyncDisposable {
  /** Absolute path of its working tree. */
  readonly tree: string;
  /** The paths in the copied folders that differ from what the last run kept, under the same lock files. */
  readonly changedSinceLastRun: readonly string[];
  /** Named by `workspace.copy`, but tracked: not copied. */
  readonly tracked: readonly string[];
  /**
   * Brings it up to a commit. Later calls may have only what the first one finds (submodules, links that lead out):
   * call it before the first turn.
   *
   * @param commit as git knows it in the repository. Absent: HEAD
   */
  bringUp(commit?: string): Promise<BroughtUp>;
  /** Files of the commit that something has written since it was brought up, relative to the top level. */
  touched(): Promise<readonly string[]>;
}

/**
 * How a checkout comes to the repository's own path: `full` with processes of its own, `bound` where that is not
 * possible, `elsewhere` where bubblewrap cannot: the commands run at the checkout's path. `reason`: why not `full`.
 */
export interface Namespace {
  readonly kind: "full" | "bound" | "elsewhere";
  readonly reason: string | null;
  /** Absolute path of bubblewrap; "" without it. */
  readonly program: string;
  /** Changes to a copied folder can be thrown away by an overlay. */
  readonly overlay: boolean;
}

const ELSEWHERE = "the final check ran in a copy at a different path";
const FULL = ["--unshare-pid", "--proc", "/proc"];

/** Asks bubblewrap what it can do on this machine. */
export async function probeNamespace(host: Host): Promise<Namespace> {
  const program = await findBubblewrapProgram(host.environment);
  if (program === null) return { kind: "elsewhere", reason: missing(host), program: "", overlay: false };
  const ask = async (...arguments_: string[]): Promise<{ works: boolean; text: string }> => {
    const end = await host.processes.run({ file: program, arguments: arguments_, cwd: "/", timeoutMs: 10_000 });
    return { works: end.exitCode === 0, text: end.tail };
  };
  const bind = ["--die-with-parent", "--dev-bind", "/", "/"];
  const full = await ask(...bind, ...FULL, program, "--help");
  const bound = full.works ? full : await ask(...bind, program, "--help");
  const reason = full.works ? null : `bubblewrap: ${full.text.trim().split("\n").at(-1) || "no message"}`;
  if (!bound.works) {
    return {
      kind: "elsewhere",
      reason: `bubblewrap fails here, so ${ELSEWHERE}. It says: ${reason}.`,
      program,
      overlay: false,
    };
  }
  const overlay = bound.text.includes("--tmp-overlay"); // 0.11 and later
  return { kind: full.works ? "full" : "bound", reason, program, overlay };
}

/** The one sentence that the run ends with, and the command that makes it go away. */
function missing({ environment: { platform } }: Host): string {
  if (platform !== "linux") return `bubblewrap works on Linux only, so ${ELSEWHERE}.`;
  return `bubblewrap is not installed, so ${ELSEWHERE}. \`apt-get install bubblewrap\` removes this note.`;
}

/** The folders that are laid over the repository's own path. Paths are absolute. */
export interface Mounts {
  readonly topLevel: string;
  readonly tree: string;
  /** Hidden: nothing of it is the check's business. */
  readonly cache: string;
  readonly cwd: string;
  readonly copies: readonly KeptCopy[];
  /** Paths of the tree that are shared with it, relative to the top level. */
  readonly links: readonly string[];
}

/** Arguments of bubblewrap up to the command. Pure. */
export function mountArguments({ kind, overlay }: Namespace, mounts: Mounts): readonly string[] {
  const { topLevel, tree, cache, cwd, copies, links } = mounts;
  const folders = copies.filter(({ isFolder }) => isFolder).flatMap(({ path, kept }) =>
    overlay ? ["--overlay-src", kept, "--tmp-overlay", join(topLevel, path)] : ["--bind", kept, join(topLevel, path)]
  );
  return [
    "--die-with-parent",
    "--dev-bind",
    "/",
    "/",
    ...(kind === "full" ? [...FULL, "--unsetenv", "INVOCATION_ID"] : []),
    "--bind",
    tree,
    topLevel,
    ...folders,
    ...links.flatMap((path) => ["--bind", join(topLevel, path), join(topLevel, path)]),
    ...(`${cache}/`.startsWith(`${topLevel}/`) ? [] : ["--tmpfs", cache]),
    "--chdir",
    cwd,
    "--",
  ];
}
