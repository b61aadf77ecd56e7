import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { archivesOf, removalSubject } from "../../git/archive.ts";
import { entriesAt } from "../../git/index_entries.ts";
import { treeWith } from "../../git/own_index.ts";
import { isAncestor } from "../../git/refs.ts";
import { type Repository, requireRepository, type RootedRepository } from "../../git/repository.ts";
import { commitFields, lineFrom, outputFrom, pathsBetween } from "../../git/run_git.ts";
import { words } from "../../host/data.ts";
import type { Change } from "../../report/changed_files.ts";
import { conventionalTitle } from "../../report/title_convention.ts";
import type { RunReport } from "../../report/types.ts";
import type { FinishPlan } from "./finish_plan.ts";
import { ownState } from "./state_paths.ts";

/** The branch as it would be. */
export interface CleanHistory {
  /** Its newest commit. */
  readonly head: string;
  /** Oldest first. */
  readonly subjects: readonly string[];
}

/** The facts of a branch that its history is written anew by. */
export interface BranchFacts {
  /** State that leaves the branch, relative to the top level; an earlier finish may have taken it off. */
  readonly state: readonly string[];
  readonly reports: readonly RunReport[];
  readonly change: Change;
  /** Subjects of the base, the newest first. */
  readonly subjects: readonly string[];
}

/** So many commits that stand in the way are named. */
const NAMED = 5;
/** Ralph's own line below the subject of an item. */
const STATE_REGEXP = /^ralph: \S+ passed$/;
const ITEM_REGEXP = /^\w+(?:\([^)]*\))?!?: (\S+) - (.+)$/;

/**
 * Makes the commits of a clean history. The same branch gives the same ones.
 *
 * @returns `null` where nothing but state is on the branch
 * @throws {RalphError} finish-refused for a commit that is not Ralph's, is signed or a merge, or that others have
 */
export async function cleanHistory(
  ralph: RalphContext,
  { work: { branch, head, from } }: FinishPlan,
  { state, reports, change, subjects }: BranchFacts,
): Promise<CleanHistory | null> {
  const repository = requireRepository(ralph);
  const start = await cleanedBefore(repository, branch, head) ?? from;
  const commits = await commitsSince(repository, start, head);
  await refuseOthers(ralph, commits, { range: `${start}..${head}`, branch, reports });
  const entries = await entriesAt(repository, from, state);
  const without = (commit: string): Promise<string> => treeWith(repository, commit, entries);
  const made: string[] = [];
  let [tip, tree] = [start, await without(start)];
  for (const { id, subject, raw } of commits) {
    const own = await without(id);
    if (own !== tree) {
      const paths = new Set(await pathsBetween(repository, tree, own));
      const [, item = "", title = ""] = ITEM_REGEXP.exec(subject) ?? [];
      const isItem = reports.some(({ items }) => items.some((one) => one.id === item));
      const about = { subjects, branch, files: change.files.filter(({ path }) => paths.has(path)) };
      made.push(isItem ? conventionalTitle(title, about) : subject);
      const input = rewritten(raw, { tree: own, parent: tip, subject: made.at(-1)! });
      tip = await lineFrom(repository, words("hash-object -t commit -w --stdin"), { input, encoding: "latin1" });
      tree = own;
    }
  }
  return made.length === 0 ? null : { head: tip, subjects: made };
}

/**
 * The commits that took the place of others in the clean histories of a branch, by these: each has the tree of the other,
 * without state.
 *
 * @param state relative to the top level
 */
export async function cleanedCommits(
  place: RootedRepository,
  branch: string,
  state: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const repository = requireRepository(place);
  const instead = new Map<string, string>();
  for (const { parent, from } of await archivesOf(repository, branch)) {
    if (parent === from) continue;
    const start = await lineFrom(repository, ["merge-base", parent, from]);
    const cleaned = await commitFields(repository, ["%T", "%H"], [parent, `^${start}^@`]);
    const byTree = new Map(cleaned.map(([tree = "", id = ""]) => [tree.trim(), id]));
    const entries = await entriesAt(repository, start, state);
    for (const id of (await lineFrom(repository, ["rev-list", `${start}..${from}`])).split("\n").filter(Boolean)) {
      const made = byTree.get(await treeWith(repository, id, entries));
      if (made !== undefined) instead.set(id, made);
    }
  }
  return instead;
}

/** The newest commit of a clean history that the branch went on from; what is below it is clean. */
async function cleanedBefore(repository: Repository, branch: string, head: string): Promise<string | null> {
  for (const { parent, from } of await archivesOf(repository, branch)) {
    if (parent !== from && await isAncestor(repository, parent, head)) return parent;
  }
  return null;
}

/** Commits, oldest first; `raw` is one as git keeps it, byte by byte. */
async function commitsSince(repository: Repository, start: string, head: string) {
  const found = (await commitFields(repository, ["%H", "%P", "%s"], [`${start}..${head}`])).toReversed();
  const commits = [];
  for (const [id = "", parents = "", subject = ""] of found) {
    const raw = await outputFrom(repository, ["cat-file", "commit", id.trim()], { encoding: "latin1" });
    commits.push({ id: id.trim(), parents: parents.split(" "), subject, raw });
  }
  return commits;
}

/** Only the commits that Ralph made and that nobody else has are written anew. */
async function refuseOthers(
  ralph: RalphContext,
  commits: Awaited<ReturnType<typeof commitsSince>>,
  { range, branch, reports }: {
    readonly range: string;
    readonly branch: string;
    readonly reports: readonly RunReport[];
  },
): Promise<void> {
  const repository = requireRepository(ralph);
  const others = ["--not", `--exclude=${branch}`, "--branches", "--tags", "--remotes"];
  const free = new Set((await outputFrom(repository, ["rev-list", range, ...others])).split("\n"));
  const own = reports.flatMap((report) => [report, ...report.items.flatMap(({ attempts }) => attempts)])
    .flatMap((part) => part.commits).filter(({ by }) => by === "ralph").map(({ commit }) => commit);
  const made = new Set(own);
  const isState = ownState(ralph);
  const why = async ({ id, parents: [parent = "", ...more], subject, raw }: (typeof commits)[number]) => {
    if (more.length > 0) return "is a merge";
    if (/^gpgsig/m.test(headerOf(raw))) return "is signed";
    if (!free.has(id)) return "was pushed, or another branch or tag has it";
    if (made.has(id)) return "";
    const isOwn = subject.startsWith("ralph: ") || subject === removalSubject(branch);
    const isNoted = isOwn && (await pathsBetween(repository, parent, id)).every(isState);
    return isNoted ? "" : "is not Ralph's";
  };
  const found: string[] = [];
  for (const commit of commits) {
    const reason = await why(commit);
    if (reason !== "") found.push(`${commit.id.slice(0, 10)} ${reason} (${commit.subject})`);
  }
  if (found.length === 0) return;
  const problem = `--clean-history writes only commits anew that Ralph made and nobody else has: ${
    found.slice(0, NAMED).join("; ")
  }${found.length > NAMED ? ` and ${found.length - NAMED} more` : ""}`;
  const hint = "without it all commits are kept as they are; `--squash` makes one of them";
  throw new RalphError("finish-refused", { details: { problem, hint } });
}

function headerOf(raw: string): string {
  return raw.slice(0, raw.indexOf("\n\n"));
}

/** The same author, dates and body on another parent. Pure. */
function rewritten(
  raw: string,
  { tree, parent, subject }: { readonly tree: string; readonly parent: string; readonly subject: string },
): string {
  const header = headerOf(raw);
  const kept = header.split("\n").filter((line) => !/^(?:tree|parent) /.test(line));
  const [first = "", ...body] = raw.slice(header.length + 2).split("\n");
  const isOther = kept.some((line) => line.startsWith("encoding "));
  const message = [
    isOther ? first : Buffer.from(subject).toString("latin1"),
    ...body.filter((line) => !STATE_REGEXP.test(line)),
  ]
    .join("\n").replaceAll(/\n{3,}/g, "\n\n").trimEnd();
  return `${[`tree ${tree}`, `parent ${parent}`, ...kept].join("\n")}\n\n${message}\n`;
}
