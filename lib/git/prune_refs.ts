import { outputFrom } from "./output_from.ts";
import type { Repository } from "./types.ts";

/** Takes away what Ralph has kept for runs whose folders are gone: `refs/ralph/lost/<run>…`, `refs/ralph/kept/<run>`. */
export async function pruneRefs(repository: Pick<Repository, "git">, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  const listed = await outputFrom(repository, ["for-each-ref", "--format=%(refname)", "refs/ralph/"]);
  const old = listed.split("\n").filter((ref) => runs.some((run) => ref.split("/").at(-1)!.startsWith(run)));
  if (old.length === 0) return;
  const input = old.map((ref) => `delete ${ref}\n`).join("");
  await outputFrom(repository, ["update-ref", "--stdin"], { input });
}
