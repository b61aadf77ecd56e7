/**
 * One commit an item: what its turns committed themselves becomes a part of it.
 *
 * @module
 */
import { changesBetween } from "./changes.ts";
import { commitTree, moveHead } from "./refs.ts";
import { entriesAt, layEntries, stagePaths } from "./index_entries.ts";
import { stageBytes } from "./attributes.ts";
import type { TreeChange } from "./merge_change.ts";
import { commitFields, type GitEnd, gitFailed, outputFrom, overPaths, pathsBetween, plainLine } from "./run_git.ts";
import { ownTree, withOwnIndex } from "./own_index.ts";
import { markedCommits } from "./turn_mark.ts";
import type { CommitRequest, Fold, GitTree, OwnCommits, Repository, WithGit, WithIndex } from "./repository.ts";

/** So many subjects are named in a body. */
const NAMED = 50;

/** A person reads these from a commit to know whose it is; names of changes (Gerrit) belong to one commit alone. */
const DROPPED_TRAILER_REGEXP = /^change-id:/i;

const TRAILERS = "%(trailers:only=true,unfold=true,separator=%x1f)";
const FIELDS: readonly string[] = ["%H", "%P", "%s", "%an <%ae>", TRAILERS];

/** Takes secrets out of a text. */
export type Mask = (text: string) => string;

interface TurnCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly subject: string;
  readonly author: string;
  readonly trailers: readonly string[];
}

/**
 * The commits at the branch's tip that turns made since `start`, and that no other branch, no tag and no remote holds.
 * It ends at the first one that is anybody else's; a merge is part of it only where all since `start` is.
 *
 * @returns `null` where there are none
 * @throws {RalphError} git-failed
 */
export async function planFold(
  repository: WithIndex,
  { start, head, branch, mask }: {
    readonly start: string;
    readonly head: string;
    readonly branch: string | null;
    /** Takes secrets out of what is repeated. @default nothing is */
    readonly mask?: Mask;
  },
): Promise<Fold | null> {
  if (start === head) return null;
  const others = ["--not", ...(branch === null ? [] : [`--exclude=${branch}`]), "--branches", "--tags", "--remotes"];
  const candidates = await commitsOf(repository, [`${start}..${head}`, ...others]);
  const marked = await markedCommits(repository, candidates.map(({ id }) => id));
  const own = new Map(candidates.filter(({ id }) => marked.has(id)).map((commit) => [commit.id, commit]));
  const all = (await outputFrom(repository, ["rev-list", `${start}..${head}`])).split("\n").filter((id) => id !== "");
  const folded = all.every((id) => own.has(id)) ? candidates : atTip(own, head);
  const onto = folded === candidates ? start : folded.at(-1)?.parents[0];
  if (folded.length === 0 || onto === undefined || !await isPlain(repository, onto, head)) return null;
  const ref = branch === null ? {} : { ref: `refs/heads/${branch}` };
  return { head, onto, ...ref, own: await ownCommits(repository, folded, mask) };
}

/**
 * A body with the subjects of what was folded in below it, and their trailers at its end. Pure.
 *
 * @param subject the commit's own, which is not repeated
 */
export function bodyWith(body: string | undefined, { subjects, trailers }: OwnCommits, subject?: string): string {
  const others = subjects.filter((one) => one !== subject);
  const listed = others.slice(0, NAMED).map((one) => `- ${one}`);
  const more = others.length > NAMED ? [`- … ${others.length - NAMED} more`] : [];
  return [body?.trim() ?? "", [...listed, ...more].join("\n"), trailers.join("\n")].filter((part) => part !== "")
    .join("\n\n");
}

/** The work that is captured. */
export interface Capture {
  /** The commit that the work began on: the parent of the one that is made. */
  readonly base: string;
  /** Names the commit, so that git does not take it away. */
  readonly ref: string;
  /** One line. */
  readonly subject: string;
  /** Paths, relative to the top level, that stay as the base has them: state. */
  readonly without: readonly string[];
  /** Uncommitted paths that belong to the work. @default all that git does not ignore */
  readonly only?: readonly string[];
  /** Takes secrets out of the subjects. @default nothing is */
  readonly mask?: Mask;
}

/** All of an item's work, in one commit that only a ref names. */
export interface Captured extends TreeChange {
  /** The commits that the turns had made themselves. */
  readonly own: OwnCommits;
}

/**
 * Everything since a commit, committed or not, as one commit on top of it, with the subjects of the commits between in
 * its body. HEAD, index and files stay as they are, so that it may be done in any worktree, at any time.
 *
 * @returns `null` where nothing differs
 * @throws {RalphError} git-failed
 * @example
 * ```ts ignore
 * const work = await captureWork(tree, { base, ref: "refs/ralph/work/1", subject: "feat: US-001 - Add login", without: [] });
 * ```
 */
export async function captureWork(
  repository: GitTree & Pick<Repository, "head">,
  { base, ref, subject, without, only, mask }: Capture,
): Promise<Captured | null> {
  const tree = await ownTree(repository, "copied", async (environment) => {
    if (only === undefined) await outputFrom(repository, ["add", "--all"], { environment });
    else {
      await outputFrom(repository, ["read-tree", "--reset", "HEAD"], { environment }); // a person may have staged
      await stagePaths(repository, only, environment).catch(() => stageBytes(repository, only, environment));
    }
    if (without.length > 0) await layEntries(repository, await entriesAt(repository, base, without), environment);
  });
  const { head } = await repository.head();
  const own = await ownCommits(repository, head === base ? [] : await commitsOf(repository, [`${base}..HEAD`]), mask);
  const message = `${subject}\n\n${bodyWith(undefined, own, subject)}\n`;
  const commit = await commitTree(repository, tree, { parents: [base], message });
  const paths = (await changesBetween(repository, base, commit)).map(({ path }) => path);
  if (paths.length === 0) return null;
  await outputFrom(repository, ["update-ref", ref, commit]);
  return { base, commit, paths, own };
}

function atTip(own: ReadonlyMap<string, TurnCommit>, head: string): readonly TurnCommit[] {
  const found: TurnCommit[] = [];
  for (let commit = own.get(head); commit?.parents.length === 1; commit = own.get(commit.parents[0]!)) {
    found.push(commit);
  }
  return found;
}

async function commitsOf(repository: WithGit, range: readonly string[]): Promise<readonly TurnCommit[]> {
  const found = await commitFields(repository, FIELDS, range);
  return found.map(([id = "", parents = "", subject = "", author = "", trailers = ""]) => ({
    id: id.trim(),
    parents: parents.split(" ").filter((parent) => parent !== ""),
    subject: plainLine(subject),
    author: plainLine(author),
    trailers: trailers.split("\x1f").map(plainLine).filter((line) => line !== "" && !DROPPED_TRAILER_REGEXP.test(line)),
  }));
}

/** The messages of commits, children first, for the body of the one that takes their place; other authors are named. */
async function ownCommits(repository: WithGit, children: readonly TurnCommit[], mask: Mask = (text) => text) {
  if (children.length === 0) return { subjects: [], trailers: [] };
  const commits = children.toReversed();
  const me = (await outputFrom(repository, ["var", "GIT_AUTHOR_IDENT"])).replace(/ \d+ [+-]\d+\s*$/, "");
  const addressOf = (author: string): string => author.slice(author.lastIndexOf("<")).toLowerCase();
  const others = commits.filter(({ author }) => addressOf(author) !== addressOf(me));
  const trailers = [
    ...commits.flatMap((commit) => commit.trailers),
    ...others.map(({ author }) => `Co-authored-by: ${author}`),
  ];
  const byLine = new Map(trailers.map((line) => [line.toLowerCase(), mask(line)]));
  return { subjects: commits.map(({ subject }) => mask(subject)), trailers: [...byLine.values()] };
}

/** Submodules are not Ralph's to commit. */
async function isPlain(repository: WithGit, onto: string, head: string): Promise<boolean> {
  const changed = await outputFrom(repository, ["diff-tree", "-r", "-z", "--raw", "--no-renames", onto, head]);
  return !changed.split("\0").some((line) => /^:160000 |^:\d+ 160000 /.test(line));
}

/**
 * Moves the branch to where the first folded commit began and commits from an index of its own, which holds what those
 * commits held and the paths: hooks see all of it, and what a person has staged stays staged. If git does not commit,
 * the branch is where it was. A kill in between leaves a branch that `undoFold()` brings back.
 *
 * @param request its paths are uncommitted ones that go along; `ref`: the branch, or HEAD
 * @param commit runs `git commit` with this body, and this beside its environment
 * @returns how `git commit` ended; `null`: another tool's commit is on top of them, and nothing was changed
 * @throws {RalphError} git-failed
 */
export async function commitFolded(
  repository: GitTree,
  { fold, paths, subject, body, ref }: CommitRequest & { readonly fold: Fold; readonly ref: string },
  commit: (body: string, environment: Readonly<Record<string, string>>) => Promise<GitEnd>,
): Promise<GitEnd | null> {
  return await withOwnIndex(repository, "copied", async (environment) => {
    await outputFrom(repository, ["read-tree", "--reset", fold.head], { environment });
    await stagePaths(repository, paths, environment);
    await outputFrom(repository, ["update-ref", refOf(fold), fold.head]);
    if (!await moveHead(repository, { from: fold.head, to: fold.onto, why: "ralph: one commit an item", ref })) {
      await forget(repository, fold);
      return null;
    }
    let isCommitted = false;
    try {
      const end = await commit(bodyWith(body, fold.own, subject), environment);
      isCommitted = end.exitCode === 0;
      if (isCommitted) await matchIndex(repository, fold.head);
      return end;
    } finally {
      if (!isCommitted) await moveBack(repository, fold, "ralph: not committed", ref);
      await forget(repository, fold);
    }
  });
}

/**
 * Undoes what a kill during `commitFolded()` left: a branch that was moved gets its commits back, and the index the
 * commit that was made. A person may have switched to another branch since: that one and its index stay as they are.
 *
 * @throws {RalphError} git-failed
 */
export async function undoFold({ git }: WithGit, fold: Fold): Promise<void> {
  const { head, onto, ref = "HEAD" } = fold;
  const said = async (...words: readonly string[]): Promise<string> => (await git(words)).stdout.trim();
  const commitAt = (name: string): Promise<string> => said("rev-parse", "--verify", "--quiet", name);
  const now = await commitAt(ref);
  if (now === "") return;
  if (now === onto) await moveBack({ git }, fold, "ralph: was stopped before the commit", ref);
  else if (now !== head && await commitAt(`${ref}^`) === onto) {
    const isHere = ref === "HEAD" || await said("symbolic-ref", "--quiet", "HEAD") === ref;
    if (isHere) await matchIndex({ git }, head);
  }
  await forget({ git }, fold);
}

/**
 * Tells whether HEAD has the one commit that folded ones became: the first on `onto`, with what they held.
 *
 * @param others paths of which it may have another version
 */
export async function hasFolded(
  repository: WithGit,
  { head, onto }: Fold,
  others: readonly string[],
): Promise<boolean> {
  const list = ["rev-list", "--first-parent", "--reverse", "--parents", `${onto}..HEAD`];
  const [commit = "", parent] = (await repository.git(list)).stdout.split("\n")[0]!.split(" ");
  if (parent !== onto) return false;
  const differing = new Set(await pathsBetween(repository, head, commit));
  const held = await pathsBetween(repository, onto, head);
  return held.every((path) => !differing.has(path) || others.includes(path));
}

/** Holds the folded commits while no branch does. */
function refOf({ head }: Fold): string {
  return `refs/ralph/fold/${head}`;
}

async function forget(repository: WithGit, fold: Fold): Promise<void> {
  await outputFrom(repository, ["update-ref", "-d", refOf(fold)]);
}

/** The index has what the folded commits had; it gets what the new one has beside that. */
async function matchIndex(repository: WithGit, from: string): Promise<void> {
  await overPaths(repository, ["reset", "--quiet"], await pathsBetween(repository, from, "HEAD"));
}

async function moveBack(repository: WithGit, fold: Fold, why: string, ref?: string): Promise<void> {
  if (await moveHead(repository, { from: fold.onto, to: fold.head, why, ...ref !== undefined && { ref } })) return;
  const reason = `another tool committed meanwhile; the turn's commits are kept as ${refOf(fold)}`;
  throw gitFailed(["update-ref"], reason, `\`git merge ${refOf(fold)}\`, then the same command continues`);
}
