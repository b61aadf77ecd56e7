import type { CheckOutcome } from "../../backlog/types.ts";
import { NOT_RUN } from "../shell.ts";

/**
 * Why a check that fails in a checkout says nothing of the commit, by what it came to there and in the tree. Pure.
 *
 * @param absent paths that the tree has and the checkout lacks, relative to the top level
 * @returns `null` where it is red in both
 */
export function whyNotReproducible(clean: CheckOutcome, tree: CheckOutcome, absent: readonly string[]): string | null {
  const path = absent.find((one) => isNamed(one, clean.tail) && !isNamed(one, tree.tail));
  if (path !== undefined) return `needs ${path}, which git does not have: name it in \`workspace.copy\``;
  const { exitCode } = clean;
  if (exitCode !== null && NOT_RUN.includes(exitCode) && tree.exitCode !== exitCode) {
    return `its program is not found outside of the tree (exit ${exitCode}): see \`workspace\``;
  }
  return tree.ok ? "passes in the tree only: see `workspace`" : null;
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
