import type { Backlog } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { tooOldToMerge } from "../../git/land.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths } from "../../git/tree_paths.ts";
import { ownPaths } from "../stow.ts";

/** So many paths are named in a line. */
const NAMED = 10;

/** Why a backlog is worked off one item after another, whatever was asked for; `null`: it need not be. */
export function onlyOneReason({ name, concurrent }: Pick<Backlog, "name" | "concurrent">): string | null {
  return concurrent === true ? null : `items of the ${name} backlog follow each other`;
}

/**
 * Whether items can be worked on at once here; reports what workers will not see.
 *
 * @returns false where there is no commit yet that workers could begin with
 * @throws {RalphError} parallel-impossible
 */
export async function ensurePossible<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
): Promise<boolean> {
  const refuse = (problem: string, hint: string): RalphError =>
    new RalphError("parallel-impossible", { details: { problem }, hint });
  const reason = onlyOneReason(backlog);
  if (reason !== null) throw refuse(reason, "leave `--parallel` out, or say `--parallel 1`");
  const { config } = ralph;
  if (!config.commits.work) {
    throw refuse(
      "`commits.work` is false, so that no worker would see another's work",
      "set it to true, or work with one",
    );
  }
  if (ralph.loop.interactive) throw refuse("`--interactive` asks between items", "leave one of the two out");
  const repository = requireRepository(ralph);
  const old = await tooOldToMerge(repository);
  if (old !== null) throw refuse(`${old} cannot merge without a working tree`, "install git 2.38 or newer");
  const { head, changed } = await repository.status();
  if (head === null) {
    if (ralph.loop.elsewhere === undefined) return false;
    throw refuse("there is no commit yet that workers could begin with", "commit what there is first");
  }
  const submodules = (await repository.git(["ls-files", "--stage"])).stdout.split("\n").filter((line) =>
    line.startsWith("160000 ")
  );
  if (submodules.length > 0 && config.workspace.setup === null) {
    throw refuse(
      "the repository has submodules, which a second working tree does not have",
      "set `workspace.setup`, such as `git submodule update --init`",
    );
  }
  const own = new Set(ownPaths(ralph, backlog));
  const unseen = rootPaths(ralph, changed.map(({ path }) => path).filter((path) => !own.has(path)));
  if (unseen.length === 0) return true;
  const more = unseen.length > NAMED ? ` and ${unseen.length - NAMED} more` : "";
  const message = `workers do not see what is not committed: ${unseen.slice(0, NAMED).join(", ")}${more}`;
  ralph.events.emit({ type: "note", level: "warn", message });
  return true;
}
