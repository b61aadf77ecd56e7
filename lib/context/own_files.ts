import { join, relative } from "node:path";
import type { Repository } from "../git/repository.ts";
import { hashText } from "../host/files.ts";

/** Paths of Ralph's own files, absolute: they are in the git directory, so that they are never committed. */
export interface OwnFiles {
  readonly directory: string;
  readonly runLock: string;
  readonly journal: string;
}

/** Ralph's own files for one root of one working tree; `.ralph` in the root outside a repository. */
export function ownFiles(repository: Pick<Repository, "ralphDirectory" | "topLevel"> | null, root: string): OwnFiles {
  const directory = repository?.ralphDirectory ?? join(root, ".ralph");
  const place = rootName(repository?.topLevel ?? root, root);
  return { directory, runLock: join(directory, `run${place}.lock`), journal: join(directory, `journal${place}.jsonl`) };
}

/** Distinguishes two roots of one working tree in the names of Ralph's own files. */
function rootName(topLevel: string, root: string): string {
  const inside = relative(topLevel, root);
  return inside === "" ? "" : `-${hashText(inside).slice(0, 12)}`;
}
