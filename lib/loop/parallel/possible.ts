import { note, type RalphContext } from "../../context/context.ts";
import type { Backlog } from "../../backlog/types.ts";
import { onlyOneReason, ORDERED } from "../../backlog/attempts.ts";
import { parallelImpossible } from "../../errors/ralph_error.ts";
import { tooOldToMerge } from "../../git/land.ts";
import { createGit } from "../../git/run_git.ts";
import { treeListing } from "../../git/tree_listing.ts";
import { submodulesAmong } from "../../checks/checkout/index_entries.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import type { LoopParts } from "../iterations.ts";
import { ownPaths } from "../settle/committer.ts";

/** So many paths are named in a line. */
const NAMED = 10;

/** Looks whether items can be worked on at once here, before anything is changed. @throws {RalphError} parallel-impossible */
export async function refuseImpossible(ralph: RalphContext, backlog: Backlog): Promise<void> {
  const reason = onlyOneReason(backlog);
  if (reason !== null) throw parallelImpossible(reason, "leave `--parallel` out, or say `--parallel 1`");
  if (!ralph.config.commits.work) {
    throw parallelImpossible(
      "`commits.work` is false, so that no worker would see another's work",
      "set it to true, or work with one",
    );
  }
  if (ralph.loop.interactive) {
    throw parallelImpossible("`--interactive` asks between items", "leave one of the two out");
  }
  const repository = requireRepository(ralph);
  const old = await tooOldToMerge(repository);
  if (old !== null) throw parallelImpossible(`${old} cannot merge without a working tree`, "install git 2.38 or newer");
  const { head } = await repository.head();
  if (head !== null) await refuseSubmodules(ralph, head);
}

async function refuseSubmodules(ralph: RalphContext, head: string): Promise<void> {
  if (ralph.config.workspace.setup !== null) return;
  const { topLevel } = requireRepository(ralph);
  if (submodulesAmong(await treeListing(createGit(ralph.host, topLevel), head)).length === 0) return;
  throw parallelImpossible(
    "the repository has submodules, which a second working tree does not have",
    "set `workspace.setup`, such as `git submodule update --init`",
  );
}

/**
 * Reports what workers will not see, and an order that leaves work for only one of them.
 *
 * @returns what is not committed, relative to the top level; `null` where there is no commit yet that workers could begin
 * with
 * @throws {RalphError} parallel-impossible
 */
export async function lookBeforeWorkers(
  { ralph, backlog, key }: Pick<LoopParts, "ralph" | "backlog" | "key">,
): Promise<ReadonlySet<string> | null> {
  const { head, changed } = await requireRepository(ralph).status();
  if (head === null) {
    if (ralph.loop.elsewhere === undefined) return null;
    throw parallelImpossible("there is no commit yet that workers could begin with", "commit what there is first");
  }
  await refuseSubmodules(ralph, head); // of another branch
  const { open, atOnce } = await backlog.overview({ parked: ralph.journal.parked(key) });
  if (atOnce === 1 && (open ?? 0) > 1) {
    note(ralph, "info", `one after another: ${ORDERED}`);
  }
  const own = new Set(ownPaths(ralph, backlog));
  const unseen = changed.map(({ path }) => path).filter((path) => !own.has(path));
  if (unseen.length > 0) {
    const more = unseen.length > NAMED ? ` and ${unseen.length - NAMED} more` : "";
    const message = `workers do not see what is not committed: ${
      rootPaths(ralph, unseen).slice(0, NAMED).join(", ")
    }${more}`;
    note(ralph, "warn", message);
  }
  return new Set(unseen);
}
