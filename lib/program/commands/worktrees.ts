import { relative, resolve } from "node:path";
import { type Invocation, toJson, usage } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { loadConfig } from "../../config/load.ts";
import { ownFiles } from "../../context/context.ts";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { requireRepository } from "../../git/repository.ts";
import { localTime } from "../../host/local_date.ts";
import { readLockHolder } from "../../host/lock.ts";
import { findTrees, type FoundTree, rescueTrees, type TreesOf } from "../../loop/parallel/leftover_trees.ts";

/** `ralph worktrees [list|remove]`: the worktrees that runs with several workers have left. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [verb = "list"], flags, host, out, say } = invocation;
  if (verb !== "list" && verb !== "remove") {
    throw usage(
      `\`ralph worktrees\` knows no ${verb}`,
      "`ralph worktrees` lists them, `ralph worktrees remove` removes them",
    );
  }
  const root = await resolveRoot(invocation);
  const named = flags.text("config");
  const { config } = await loadConfig(root, named === undefined ? undefined : resolve(host.environment.cwd, named));
  const repository = requireRepository({ repository: await openRepository(host, root), root });
  const place: TreesOf = { config, host, repository, root };
  const trees = await findTrees(place);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  if (verb === "list") {
    if (flags.has("json")) out(toJson({ atWork: holder?.pid ?? null, worktrees: trees.map(asData) }));
    else for (const tree of trees) out(lineOf(tree, root, holder !== null));
    if (trees.length === 0 && !flags.has("json")) say("there are no worktrees of `--parallel` here");
    return EXIT.done;
  }
  if (holder !== null) {
    const { purpose, pid, since } = holder;
    throw new RalphError("run-locked", { details: { purpose, pid, startedAt: localTime(since) } });
  }
  const kept = await rescueTrees({ ...place, events: { emit: () => {}, attach: () => {} } }, [], 1);
  if (flags.has("json")) out(toJson({ removed: trees.map(asData), kept }));
  else for (const { path } of trees) out(`removed ${relative(root, path)}`);
  if (kept > 0) {
    say(`work of ${kept} of them is kept (\`git log --all\`): the next run continues with it`);
  }
  return EXIT.done;
}

function asData({ path, marker: { run, work } }: FoundTree): object {
  return { path, run, workOn: work?.base ?? null };
}

function lineOf({ path, marker: { run, work } }: FoundTree, root: string, isAtWork: boolean): string {
  const state = work === null ? "nothing in it" : `work in progress on ${work.base.slice(0, 10)}`;
  return `${relative(root, path)}  run ${run}, ${isAtWork ? "at work" : "left"}: ${state}`;
}
