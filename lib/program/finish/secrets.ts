import type { RalphContext } from "../../context/context.ts";
import { ARCHIVE_REFS } from "../../git/archive.ts";
import { ownCommit, refsBelow } from "../../git/refs.ts";
import { requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { maskOf } from "../../loop/settle/committer.ts";
import type { CleanHistory } from "./clean_history.ts";
import type { FinishPlan } from "./finish_plan.ts";
import { keptTree, type StateFile } from "./set_aside.ts";
import { ownState, ownStatePaths } from "./state_paths.ts";

/** Secrets in the state's commits that would leave, though Ralph masks them wherever it prints them. */
export interface LeavingSecrets {
  /** Relative to the top level. */
  readonly files: readonly string[];
  /** How they stay. */
  readonly hint: string;
}

/** Looks through the history that would leave: what the tree no longer has is in it. `null`: nothing is found. */
export async function secretsLeaving(
  ralph: RalphContext,
  { work: { branch, head }, target, way, squash, withHistory, remote }: FinishPlan,
  { clean, files: state }: { readonly clean: CleanHistory | null; readonly files: readonly StateFile[] },
): Promise<LeavingSecrets | null> {
  const repository = requireRepository(ralph);
  // what is kept is as the files are here, committed or not
  const kept = async (): Promise<string> =>
    await ownCommit(repository, await keptTree(repository, state), { parents: [head], message: "ralph: kept\n" });
  const isOne = way === "merge" && squash;
  const archives = withHistory ? [await kept(), ...await refsBelow(repository, `${ARCHIVE_REFS}/${branch}/`)] : [];
  const tips = [...isOne ? [] : [clean?.head ?? head], ...archives];
  if (tips.length === 0) return null;
  const there = remote === null ? [] : [`--remotes=${remote.name}`];
  const range = [...tips, "--not", target.onto, ...there];
  const how = [
    "--format=",
    "-p",
    "-U0",
    "--text",
    "--diff-merges=remerge",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--dst-prefix=b/",
  ];
  const patch = await outputFrom(repository, ["log", ...how, ...range, "--", ...ownStatePaths(ralph)]);
  const masked = maskOf(ralph);
  const isState = ownState(ralph);
  const files = new Set<string>();
  for (const part of patch.split(/^diff --git .*$/m)) {
    const added = part.split("\n").filter((line) => line.startsWith("+"));
    const text = added.slice(1).map((line) => line.slice(1)).join("\n");
    const path = added[0]?.replace(/^\+\+\+ (?:b\/)?/, "") ?? "";
    if (isState(path) && masked(text) !== text) files.add(path);
  }
  if (files.size === 0) return null;
  const inHistory = way === "merge" ? "`--squash` and `--clean-history` leave" : "`--clean-history` leaves";
  const hint = withHistory
    ? "leave `--with-history` out: it pushes the state as it is"
    : `${inHistory} those commits out; in a terminal \`ralph finish\` asks`;
  return { files: [...files], hint };
}
