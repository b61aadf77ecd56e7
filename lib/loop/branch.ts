import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Backlog } from "../backlog/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import type { Repository } from "../git/types.ts";

/**
 * Switches to the branch that was asked for, else to the backlog's; "" stays. What was asked for on the branch before is
 * what is worked off: a branch that holds another backlog is refused.
 *
 * @throws {RalphError} git-detached-head, branch-invalid, branch-failed, branch-differs
 */
export async function onBranch<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  asked: string | undefined,
): Promise<void> {
  const repository = requireRepository(ralph);
  const current = await repository.currentBranch();
  const wanted = asked ?? await backlog.branch?.() ?? "";
  if (wanted === "" && current === null) throw new RalphError("git-detached-head", { details: { root: ralph.root } });
  if (wanted === "" || wanted === current) return;
  const before = await backlog.asks?.() ?? null;
  await enterBranch({ ...ralph, repository }, wanted);
  if (before === null || before === await asksHere(backlog)) return;
  if (current !== null) await repository.switchTo(current);
  throw new RalphError("branch-differs", {
    details: { branch: wanted, path: backlog.stateFiles[0] ?? "", from: current ?? "the detached HEAD" },
  });
}

/** Switches to a branch, and says so. @throws {RalphError} branch-invalid, branch-failed */
export async function enterBranch(
  { repository, events }: Pick<RalphContext, "events"> & { readonly repository: Repository },
  branch: string,
): Promise<void> {
  const came = await repository.switchTo(branch);
  if (came === "current") return;
  const forward = came === "forwarded" ? ", brought forward to what was checked out" : "";
  events.emit({ type: "note", level: "info", message: `working on the branch ${branch}${forward}` });
}

/** What the backlog asks for on this branch, `null` where it has none. */
async function asksHere<Data, Findings>(backlog: Backlog<Data, Findings>): Promise<string | null> {
  try {
    return await backlog.asks?.() ?? null;
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "state-missing") return null;
    throw error;
  }
}
