import type { Repository } from "../../git/types.ts";
import { join, relative, sep } from "node:path";
import type { LastResult } from "./types.ts";
import { FEATURES_FOLDER } from "./directories.ts";

/**
 * The newest commit that changes anything outside `.ralph/`: the agent's own, or the one that Ralph made for it. If the
 * agent had nothing to do, it is the commit that was there before.
 */
export async function workCommit(
  repository: Repository,
  root: string,
): Promise<Pick<LastResult, "commit" | "summary">> {
  const path = relative(repository.topLevel, join(root, FEATURES_FOLDER)).replaceAll(sep, "/");
  const format = ["-1", "--format=%h%x00%s"];
  const work = await repository.git(["log", ...format, "--", ".", `:(exclude,top)${path}`]);
  const found = work.stdout.trim() === "" ? await repository.git(["log", ...format]) : work;
  const [commit = "", summary = ""] = found.stdout.trim().split("\0");
  return { commit, summary };
}
