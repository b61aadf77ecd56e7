import { join } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { openSession } from "../../cli/session.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { ARCHIVE_REFS, newestArchive } from "../../git/archive.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { topLevelPaths } from "../../git/tree_paths.ts";
import { pathExists } from "../../host/files.ts";
import { layInFiles } from "../../workflows/lay_in_files.ts";
import { WORKFLOWS } from "../../workflows/table.ts";

/** `ralph restore --branch NAME`: the state that `ralph finish` took off a branch, laid in here. Nothing is written over. */
export async function restoreBranch(invocation: Invocation, branch: string): Promise<number> {
  const { arguments: named, flags, out, say } = invocation;
  if (named.length > 0) throw usage("--branch takes no RUN and no PATH", "leave one of them out");
  await using session = await openSession(invocation, { asks: false, gates: [], data: true });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("restore");
  const repository = requireRepository(ralph);
  const archived = await newestArchive(repository, branch);
  if (archived === null) {
    throw usage(`nothing is kept of a branch ${branch}`, `\`git for-each-ref ${ARCHIVE_REFS}\` shows what is`);
  }
  const files: string[] = [];
  for (const path of WORKFLOWS.flatMap(({ runState }) => runState?.files ?? [])) {
    const [inTree = path] = topLevelPaths(ralph, [path]);
    const found = await repository.git(["cat-file", "-e", `${archived.ref}:${inTree}`]);
    if (found.exitCode === 0) files.push(path);
  }
  const there: string[] = [];
  for (const path of files) if (await pathExists(join(ralph.root, path))) there.push(path);
  const missing = files.filter((path) => !there.includes(path));
  const laid = flags.has("dry-run") ? missing : await layInFiles(ralph, archived, missing);
  for (const path of laid) out(`${path}  from ${archived.ref}`);
  for (const path of there) {
    say(`${path} is there: left as it is; \`git show ${archived.ref}:./${path}\` shows what is kept`);
  }
  return there.length === 0 ? EXIT.done : EXIT.failed;
}
