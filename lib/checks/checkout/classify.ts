import type { CheckOutcome } from "../../backlog/types.ts";
import { NOT_RUN } from "../shell.ts";

/** Why a check that fails in a checkout says nothing of the commit. */
export type NotReproducible =
  /** Its output names a path that the tree has and the checkout lacks. */
  | { readonly kind: "missing"; readonly path: string }
  /** The shell found the program in the tree only, or could run it there only. */
  | { readonly kind: "not-run"; readonly exitCode: number }
  /** It passes in the tree; nothing says what it found there. */
  | { readonly kind: "passes-in-the-tree" };

/** The result of a check in a clean checkout of a commit from before the work. */
export type CleanFinding =
  | { readonly status: "green" }
  | { readonly status: "red" }
  | { readonly status: "timedOut" }
  | { readonly status: "notReproducible"; readonly because: NotReproducible };

/**
 * Judges a check by what it came to in the checkout and, where that is red, in the tree as well. Pure.
 *
 * @param clean its outcome in the checkout
 * @param tree its outcome in the tree; `null` where it was not run there
 * @param absent paths that the tree has and the checkout lacks, relative to the top level
 */
export function classifyClean(
  clean: CheckOutcome,
  tree: CheckOutcome | null,
  absent: readonly string[],
): CleanFinding {
  if (clean.ok) return { status: "green" };
  if (clean.timedOut === true) return { status: "timedOut" };
  if (tree === null) return { status: "red" };
  const path = absent.find((one) => isNamed(one, clean.tail));
  if (path !== undefined) return { status: "notReproducible", because: { kind: "missing", path } };
  const { exitCode } = clean;
  if (exitCode !== null && NOT_RUN.includes(exitCode) && tree.exitCode !== exitCode) {
    return { status: "notReproducible", because: { kind: "not-run", exitCode } };
  }
  if (tree.ok) return { status: "notReproducible", because: { kind: "passes-in-the-tree" } };
  return { status: "red" };
}

const MISSING_REGEXP = /no such file|not found|cannot find|could not find|can't open|missing|ENOENT|does not exist/i;

/**
 * True where a text has a path as a whole, not as a part of a longer name. A bare word (`build`) counts where it is
 * written as a path or in quotes, or where its line says that something is missing. Pure.
 */
export function isNamed(path: string, text: string): boolean {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = new RegExp(`(?<![\\w.@-])${escaped}(?![\\w@-]|\\.\\w)`);
  const marked = new RegExp(`[/'"\`]${escaped}(?![\\w@-]|\\.\\w)|(?<![\\w.@-])${escaped}[/'"\`]`);
  const isWord = /^[\w-]+$/.test(path);
  return text.split("\n").some((line) =>
    whole.test(line) && (!isWord || MISSING_REGEXP.test(line) || marked.test(line))
  );
}
