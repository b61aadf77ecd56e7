import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Backlog } from "../backlog/types.ts";
import { requireRepository } from "../git/require_repository.ts";

/**
 * Switches to the branch that was asked for, else to the backlog's; "" stays.
 *
 * @throws {RalphError} git-detached-head, branch-invalid, branch-failed
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
  await repository.switchTo(wanted);
  ralph.events.emit({ type: "note", level: "info", message: `working on the branch ${wanted}` });
}
