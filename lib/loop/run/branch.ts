import { asideFolder } from "../../host/remove_path.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Backlog } from "../../backlog/types.ts";
import { type Repository, requireRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";
import { isRenamed, startOf } from "../../git/switch_branch.ts";
import { pathExists, renamePath } from "../../host/files.ts";
import { layIn } from "../recover/lay_in.ts";
import { isAtKilled } from "../recover/recover.ts";

/**
 * Switches to the branch that was asked for, else to the backlog's; "" stays. The request on the branch before is what
 * is worked off: a branch that holds another backlog is refused.
 *
 * @throws {RalphError} git-detached-head, branch-invalid, branch-failed, branch-differs
 */
export async function onBranch(ralph: RalphContext, backlog: Backlog, asked: string | undefined): Promise<void> {
  const repository = requireRepository(ralph);
  const current = await repository.currentBranch();
  const brief = await backlog.brief?.();
  const wanted = asked ?? brief?.branch ?? "";
  if (wanted === "" && current === null) throw new RalphError("git-detached-head", { details: { root: ralph.root } });
  if (wanted === "" || wanted === current) return;
  if (asked === undefined && current !== null && await isRenamed(repository.git, wanted, current)) {
    note(ralph, "info", `working on the branch ${current}, as ${wanted} is called now`);
    return;
  }
  const before = brief?.fingerprint ?? null;
  await enterWithOwn(ralph, wanted, topLevelPaths(ralph, backlog.ownFiles ?? []));
  if (before === null || before === await asksHere(backlog)) return await layIn(ralph, backlog);
  if (current !== null) await repository.switchTo(current);
  throw new RalphError("branch-differs", {
    details: { branch: wanted, path: backlog.stateFiles[0] ?? "", from: current ?? "the detached HEAD" },
  });
}

/**
 * Switches to a branch. Files of Ralph's own that git does not have here, and has on the branch, are moved out of the way:
 * git would refuse.
 */
async function enterWithOwn(ralph: RalphContext, branch: string, own: readonly string[]): Promise<void> {
  const { git, topLevel, ralphDirectory } = requireRepository(ralph);
  const aside: { readonly from: string; readonly to: string }[] = [];
  for (const path of own) {
    const from = join(topLevel, path);
    if (!await pathExists(from) || (await git(["ls-files", "--error-unmatch", path])).exitCode === 0) continue;
    if ((await git(["cat-file", "-e", `${await startOf(git, branch)}:${path}`])).exitCode !== 0) continue;
    const to = join(asideFolder(ralphDirectory), ralph.run.id, path);
    await renamePath(from, to);
    aside.push({ from, to });
  }
  try {
    await enterBranch(ralph, branch);
  } catch (error) {
    for (const { from, to } of aside) await renamePath(to, from);
    throw error;
  }
}

/**
 * Switches to a branch, and says so. State that a killed run wrote and did not commit stays behind as a commit if it is in the way.
 *
 * @throws {RalphError} branch-invalid, branch-failed
 */
export async function enterBranch(ralph: Place, branch: string): Promise<void> {
  const repository = requireRepository(ralph);
  const came = await repository.switchTo(branch).catch(async (error: unknown) => {
    if (!await recordKilled(ralph, repository)) throw error;
    return await repository.switchTo(branch);
  });
  if (came === "current") return;
  const forward = came === "forwarded" ? ", brought forward to what was checked out" : "";
  note(ralph, "info", `working on the branch ${branch}${forward}`);
}

type Place = Pick<RalphContext, "config" | "events" | "journal" | "repository" | "root" | "state">;

/** A pass that was written and not committed is settled by a run on its own branch, and by nothing else. */
async function recordKilled(ralph: Place, repository: Repository): Promise<boolean> {
  const open = ralph.journal.interrupted();
  if (open.length === 0 || open.some(({ attempt }) => attempt !== null) || !ralph.config.commits.prdChanges) {
    return false;
  }
  if (!await isAtKilled(repository, open)) return false; // a person's branch
  const { changed } = await repository.status();
  const paths = await ralph.state.written(rootPaths(ralph, changed.map(({ path }) => path)));
  if (paths.length === 0) return false;
  const subject = "ralph: record the run (killed)";
  const made = await repository.commit({ paths: topLevelPaths(ralph, paths), subject });
  if (made.status !== "committed") return false;
  ralph.events.emit({ type: "commit", commit: made.commit, subject });
  return true;
}

/** The request of the backlog on this branch, `null` if it has none. */
async function asksHere(backlog: Backlog): Promise<string | null> {
  try {
    return (await backlog.brief?.())?.fingerprint ?? null;
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "state-missing") return null;
    throw error;
  }
}
