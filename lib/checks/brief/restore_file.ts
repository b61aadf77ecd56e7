import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { readFileState, writeFileState } from "../../host/file_state.ts";
import { readObject } from "./objects.ts";
import { decidingSettings, restoreSettings } from "./settings.ts";
import type { BriefChange, BriefEntry } from "./types.ts";
import { join, relative, sep } from "node:path";
import { outputFrom } from "../../git/run_git.ts";
import { moveHead } from "../../git/move_head.ts";
import { markingEnvironment } from "../../git/turn_mark.ts";
import type { Repository } from "../../git/types.ts";
import { ensureDirectory, removePath } from "../../host/files.ts";

/** Makes one file what it was when the run began. @throws {RalphError} file-unwritable */
export async function restoreFile(ralph: RalphContext, change: BriefChange, entry: BriefEntry | null): Promise<void> {
  const { file, before, found } = change;
  const repository = requireRepository(ralph);
  if (entry?.settings && found.kind === "text") {
    const now = await decidingSettings(repository, file);
    if (now !== null && await restoreSettings(repository, file, { before: entry.settings, now })) {
      entry.before = readFileState(file, found.bytes.length * 2);
      return;
    }
  }
  const aside = join(repository.ralphDirectory, "aside");
  const base = file.startsWith(ralph.root) ? ralph.root : repository.gitDirectory;
  if (before.kind !== "large") return await writeFileState(file, before, base, { aside });
  const object = entry?.object ?? null;
  const content = object === null ? null : await readObject(ralph, object);
  if (content === null) throw new Error(`the git object of ${file} is gone`);
  await writeFileState(file, before, base, { aside, content });
  if (entry !== null) entry.before = readFileState(file, -1);
}

/** Restores files of the brief in HEAD. */
export interface HeadRestorer {
  /** A commit of Ralph's, where commits since the run began have changed these files. */
  restore(changes: readonly BriefChange[]): Promise<void>;
}

/** Remembers the commit that the run begins on. */
export async function createHeadRestorer(ralph: RalphContext): Promise<HeadRestorer> {
  const repository = requireRepository(ralph);
  const { exitCode, stdout } = await repository.git(["rev-parse", "--verify", "--quiet", "HEAD"]);
  const start = exitCode === 0 ? stdout.trim() : null;
  return {
    async restore(changes) {
      const paths = changes.map(({ file }) => relative(repository.topLevel, file).replaceAll(sep, "/"))
        .filter((path) => !path.startsWith("..") && !path.startsWith(".git/"));
      if (start === null || paths.length === 0) return;
      const changed =
        (await outputFrom(repository, ["diff-tree", "-r", "-z", "--name-only", start, "HEAD", "--", ...paths]))
          .split("\0").filter((path) => path !== "");
      if (changed.length === 0) return;
      const subject = `ralph: restore ${changed.length === 1 ? changed[0] : `${changed.length} files`}`;
      const commit = await commitAsIn(repository, start, changed, subject);
      ralph.events.emit({ type: "commit", commit, subject });
    },
  };
}

/** Commits these paths as another commit has them; the working tree and all other entries of the index are left alone. */
async function commitAsIn(
  repository: Repository,
  start: string,
  paths: readonly string[],
  subject: string,
): Promise<string> {
  const found = await outputFrom(repository, ["ls-tree", "-r", "-z", start, "--", ...paths]);
  const present = new Set(found.split("\0").map((line) => line.slice(line.indexOf("\t") + 1)));
  const gone = paths.filter((path) => !present.has(path)).map((path) => `0 ${"0".repeat(start.length)}\t${path}\0`);
  const input = `${gone.join("")}${found}`;
  const index = join(repository.ralphDirectory, "restore.index");
  const environment = { GIT_INDEX_FILE: index };
  await ensureDirectory(repository.ralphDirectory);
  try {
    const parent = (await outputFrom(repository, ["rev-parse", "HEAD"])).trim();
    await outputFrom(repository, ["read-tree", parent], { environment });
    await outputFrom(repository, ["update-index", "-z", "--index-info"], { environment, input });
    const tree = (await outputFrom(repository, ["write-tree"], { environment })).trim();
    // as a turn's own: the two become part of the item's one commit, or go with what is given up on
    const marked = { environment: markingEnvironment({}) };
    const commit = (await outputFrom(repository, ["commit-tree", tree, "-p", parent, "-m", subject], marked)).trim();
    if (!await moveHead(repository, { from: parent, to: commit, why: subject })) {
      return await commitAsIn(repository, start, paths, subject);
    }
    await outputFrom(repository, ["update-index", "-z", "--index-info"], { input });
    return commit;
  } finally {
    await removePath(index);
  }
}
