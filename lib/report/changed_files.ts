import { isCode, kindOf, testsBy } from "../checks/experiment/product.ts";
import { numstat, placesByCommit } from "../git/branch_work.ts";
import type { WithGit } from "../git/repository.ts";

/** A file that the work changed. */
export interface ChangedFile {
  /** Relative to the top level. */
  readonly path: string;
  readonly kind: "product" | "test" | "rest";
  /** Lines; binary files have none. */
  readonly added: number;
  readonly removed: number;
}

/** The change that a branch makes. */
export interface Change {
  /** The commit that it began on. */
  readonly from: string;
  readonly head: string;
  /** Files that a reviewer reads first come first. */
  readonly files: readonly ChangedFile[];
  /** State of a workflow that the request holds as well: plans, notes, a codebase map. */
  readonly kept: readonly string[];
  /** By commit, the tests that it added or changed as they stand at `head`: `test/cart.test.js:12`. */
  readonly tests: ReadonlyMap<string, readonly string[]>;
}

/** Tests of so many files are looked up. */
const READ_TESTS = 20;

/** Files that the work between two commits changed: the product's code first, then tests, the larger change first. */
export async function changeOf(
  repository: WithGit,
  { from, head, isApart, isLeft, isOwn, globs, commands }: {
    readonly from: string;
    readonly head: string;
    /** True for state, whose lines do not count. */
    readonly isApart: (path: string) => boolean;
    /** True for state that is taken off the branch. */
    readonly isLeft: (path: string) => boolean;
    /** True in a folder of a workflow: no product. */
    readonly isOwn: (path: string) => boolean;
    /** `tests.globs`. */
    readonly globs: readonly string[];
    /** Commands of the checks. */
    readonly commands: readonly string[];
  },
): Promise<Change> {
  const known = { isTest: testsBy(globs), commands, published: new Set<string>(), isSubject: () => false };
  const rows = await numstat(repository, [from, head], isLeft);
  const kept = rows.filter(({ path }) => isApart(path)).map(({ path }) => path);
  const files = rows.filter(({ path }) => !isApart(path)).map((row): ChangedFile => {
    const kind = isOwn(row.path) ? "rest" : kindOf(row.path, known);
    return { ...row, kind: kind === "product" || kind === "test" ? kind : "rest" };
  });
  const rank = ({ kind, path }: ChangedFile) => kind === "rest" ? 3 : kind === "test" ? 2 : isCode(path) ? 0 : 1;
  const lines = ({ added, removed }: ChangedFile): number => added + removed;
  const tests = new Map<string, string[]>();
  for (const { path } of files.filter(({ kind, added }) => kind === "test" && added > 0).slice(0, READ_TESTS)) {
    for (const [commit, line] of await placesByCommit(repository, [from, head], path)) {
      tests.set(commit, [...tests.get(commit) ?? [], `${path}:${line}`]);
    }
  }
  files.sort((one, other) => rank(one) - rank(other) || lines(other) - lines(one));
  return { from, head, files, kept, tests };
}
