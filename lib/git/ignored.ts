import { join } from "node:path";
import { wasThere } from "../host/path_facts.ts";
import { outputFrom, partsOf, READING } from "./run_git.ts";
import type { WithTree } from "./repository.ts";

/** Tells whether a path was there, and ignored. Paths are relative to the top level. */
export type WasIgnored = (path: string) => boolean;

/** The paths that git ignored at a moment. */
export interface Ignored {
  readonly was: WasIgnored;
  /** Files outside of folders that are ignored as a whole, which builds fill and empty. */
  readonly files: readonly string[];
}

/** Asks git once. A folder that is ignored as a whole is one path: what is in it is known by its age. @param now milliseconds since 1970 */
export async function readIgnored(repository: WithTree, now: number): Promise<Ignored> {
  const look = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = new Set(partsOf(await outputFrom(repository, look, { environment: READING })));
  const files = [...listed].filter((path) => !path.endsWith("/"));
  const was: WasIgnored = (path) => {
    if (listed.has(path)) return true;
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (listed.has(path.slice(0, end + 1))) return wasThere(join(repository.topLevel, path), now);
    }
    return false;
  };
  return { was, files };
}
