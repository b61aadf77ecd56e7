import type { CheckOutcome } from "../../backlog/types.ts";
import type { ProcessRequest } from "../../host/types.ts";
import type { ShellInvocation } from "../../host/shell.ts";
import type { Namespace } from "./namespace.ts";

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
