import { createBatchReader } from "./batch_reader.ts";
import { type Git, gitFailed, outputOfGit, READING } from "./run_git.ts";

/** The text of these files in a commit, in one process; `null` for one that is not there. At most `maxBytes` of each. */
export async function contentsAt(
  git: Git,
  commit: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, string | null>> {
  const asked = paths.filter((path) => !path.includes("\n")); // a request is a line
  const contents = new Map<string, string | null>();
  if (asked.length === 0) return contents;
  const onOutput = createBatchReader((content) => {
    contents.set(asked[contents.size] ?? "", content?.toString("utf8") ?? null);
  }, maxBytes);
  const arguments_ = ["cat-file", "--batch"];
  const input = asked.map((path) => `${commit}:${path}\n`).join("");
  await outputOfGit(git, arguments_, { environment: READING, input, onOutput });
  if (contents.size === asked.length) return contents;
  throw gitFailed(arguments_, `${contents.size} of ${asked.length} files were read`);
}
