import { join } from "node:path";
import { readBytes } from "../host/files.ts";
import { inflated } from "../host/zlib.ts";
import { objectOf } from "./laid.ts";
import type { WithIndex } from "./repository.ts";
import { commonDirectoryOf, gitFailed } from "./run_git.ts";

/** No commit is as large: what claims to be one is left to git. */
const MOST_BYTES = 16 << 20;

/** The text of a commit that has to be there. @throws {RalphError} git-failed */
export async function requireCommit(repository: WithIndex, commit: string): Promise<string> {
  const text = await readCommit(repository, commit);
  if (text === null) throw gitFailed(["cat-file"], `the commit ${commit} is not there`);
  return text;
}

/** The tree of a commit that has to be there. @throws {RalphError} git-failed */
export async function treeAt(repository: WithIndex, commit: string): Promise<string> {
  return treeIn(await requireCommit(repository, commit))!;
}

/** The text of a commit; `null` where there is none. Git is asked where it has no file of its own, as a new one has. */
export async function readCommit(repository: WithIndex, commit: string): Promise<string | null> {
  const text = await looseCommit(repository, commit);
  if (text !== null) return text;
  const { exitCode, stdout } = await repository.git(["cat-file", "commit", commit]);
  return exitCode === 0 ? stdout : null;
}

/** The tree of a commit. Pure. */
export function treeIn(text: string | null): string | null {
  return /^tree (\w+)$/m.exec(text ?? "")?.[1] ?? null;
}

/** The text of a commit that is a file of its own, by whose name it is whole; else `null`. */
export async function looseCommit({ gitDirectory }: WithIndex, commit: string): Promise<string | null> {
  const objects = join(await commonDirectoryOf(gitDirectory), "objects");
  try {
    const packed = await readBytes(join(objects, commit.slice(0, 2), commit.slice(2)));
    const bytes = inflated(packed ?? Buffer.alloc(0), MOST_BYTES);
    const text = bytes.subarray(bytes.indexOf(0) + 1);
    return objectOf("commit", text, commit)[0] === commit ? text.toString() : null;
  } catch {
    return null; // torn, too large, or in a pack
  }
}
