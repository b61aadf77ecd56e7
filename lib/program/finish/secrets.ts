import type { RalphContext } from "../../context/context.ts";
import { ARCHIVE_REFS } from "../../git/archive.ts";
import { ownCommit, refsBelow } from "../../git/refs.ts";
import { requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { words } from "../../host/data.ts";
import { maskOf } from "../../loop/settle/committer.ts";
import type { CleanHistory } from "./clean_history.ts";
import type { FinishPlan } from "./finish_plan.ts";
import { keptTree, type StateFile } from "./set_aside.ts";
import { ownStatePaths } from "./state_paths.ts";

/** Secrets that would leave in state and in messages of commits, though Ralph masks them wherever it prints them. */
export interface LeavingSecrets {
  /** Files relative to the top level, and `the message of COMMIT`. */
  readonly places: readonly string[];
  /** How they stay. */
  readonly hint: string;
}

/** Looks through the history that would leave: what the tree no longer has is in it. `null`: nothing is found. */
export async function secretsLeaving(
  ralph: RalphContext,
  { work: { branch, head, from }, leaves, target, way, squash, withHistory, remote }: FinishPlan,
  { clean, files: state }: { readonly clean: CleanHistory | null; readonly files: readonly StateFile[] },
): Promise<LeavingSecrets | null> {
  const repository = requireRepository(ralph);
  const save = (tree: string, parent: string): Promise<string> =>
    ownCommit(repository, tree, { parents: [parent], message: "ralph: kept\n" });
  const there = remote === null ? [] : [`--remotes=${remote.name}`];
  // commits, and those whose history does not count
  const rangeOf = (tips: readonly string[]): readonly string[] =>
    tips.length === 0 ? [] : [...tips, "--not", target.onto, ...there];
  // what is kept is as the files are here, committed or not
  const archives = withHistory
    ? [
      await save(await keptTree(repository, state), head),
      ...await refsBelow(repository, `${ARCHIVE_REFS}/${branch}/`),
    ]
    : [];
  const isOne = way === "merge" && squash;
  const asOne = await save(`${leaves}^{tree}`, from);
  const own = isOne ? [] : await inMessages(ralph, rangeOf([clean?.head ?? head]));
  const staying = await inState(ralph, rangeOf([asOne]));
  const past = await inState(ralph, rangeOf([...isOne ? [] : [clean?.head ?? head], ...archives]));
  const places = [...new Set([...staying, ...past, ...own])];
  if (places.length === 0) return null;
  const inHistory = way === "merge" ? "`--squash` and `--clean-history` leave" : "`--clean-history` leaves";
  const asks = "in a terminal `ralph finish` asks";
  if (withHistory) return { places, hint: "leave `--with-history` out: it pushes the state as it is" };
  if (staying.length > 0) {
    return { places, hint: `the branch keeps ${staying.join(", ")}: take the secret out and commit; ${asks}` };
  }
  if (own.length > 0) return { places, hint: `\`git rebase\` gives a commit another message; ${asks}` };
  return { places, hint: `${inHistory} those commits out; ${asks}` };
}

/** Files of the workflows' state to which these commits add a secret. */
async function inState(ralph: RalphContext, range: readonly string[]): Promise<readonly string[]> {
  if (range.length === 0) return [];
  const form = words("--format= --diff-merges=remerge --no-color --no-ext-diff --no-textconv --no-renames");
  const patches = ["-p", "-U0", "--text", "--dst-prefix=b/", ...form];
  const log = ["-c", "core.quotePath=false", "log", ...patches, ...range, "--", ...ownStatePaths(ralph)];
  const patch = await outputFrom(requireRepository(ralph), log);
  const masked = maskOf(ralph);
  const files = new Set<string>();
  for (const part of patch.split(/^diff --git .*$/m)) {
    const added = part.split("\n").filter((line) => line.startsWith("+"));
    const text = added.slice(1).map((line) => line.slice(1)).join("\n");
    // a tab follows a name with a space
    if (masked(text) !== text) files.add(added[0]!.replace(/^\+\+\+ (?:b\/)?/, "").replace(/\t$/, ""));
  }
  return [...files];
}

async function inMessages(ralph: RalphContext, range: readonly string[]): Promise<readonly string[]> {
  const messages = await outputFrom(requireRepository(ralph), ["log", "-z", "--format=%h %B", ...range]);
  const masked = maskOf(ralph);
  return messages.split("\0").filter((text) => masked(text) !== text)
    .map((text) => `the message of ${text.slice(0, text.indexOf(" "))}`);
}
