import { note, type RalphContext } from "../../context/context.ts";
import { asideText, type SetAside } from "../../git/history.ts";
import { rootPaths } from "../../git/repository.ts";
import type { Notice } from "../policy/progress.ts";

/**
 * Names what was in the way when HEAD went back: a person may have written it.
 *
 * @param notice told of it for the last lines of the run
 */
export function nameAside(ralph: RalphContext, { ref, paths }: SetAside, notice?: (notice: Notice) => void): void {
  const message = asideText({ ref, paths: rootPaths(ralph, paths) });
  note(ralph, "warn", `${ref} ${message}`);
  notice?.({ kind: "not-committed", subject: ref, message });
}
