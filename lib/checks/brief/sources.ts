import { basename, dirname, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import type { Backlog } from "../../backlog/types.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import { hooksFolderOf } from "../../git/hooks_folder.ts";
import { commonDirectoryOf } from "../../git/run_git.ts";
import type { Repository } from "../../git/repository.ts";
import { PROMPT_FILES, PROMPTS_FOLDER } from "../../prompts/render.ts";
import { outsideSources } from "./outside.ts";
import type { BriefSource } from "./types.ts";

/** Everything that judges a run of this backlog, state files apart. @param isConfined turns cannot write outside of it */
export async function briefSources(
  ralph: RalphContext,
  backlog: Pick<Backlog, "brief">,
  isConfined: boolean,
): Promise<readonly BriefSource[]> {
  const inRoot = (path: string): string => join(ralph.root, path);
  return [
    { kind: "protected", path: inRoot(CONFIG_FILE) },
    ...protectedSources(ralph.root, ralph.config.protect),
    ...ralph.decides.map((path) => ({ kind: "recipe" as const, path })),
    ...PROMPT_FILES.map((path) => ({ kind: "prompt" as const, path: inRoot(path) })),
    { kind: "prompt", path: inRoot(PROMPTS_FOLDER), accepts: (path) => path.endsWith(".md") },
    ...((await backlog.brief?.())?.files ?? []).map((path) => ({ kind: "plan" as const, path: inRoot(path) })),
    ...(ralph.repository === null ? [] : await gitSources(ralph.repository)),
    ...outsideSources(ralph.host.environment, ralph.repository?.topLevel ?? ralph.root, isConfined),
  ];
}

/** A file for each plain path, a folder for each glob. Pure. */
function protectedSources(root: string, protect: readonly string[]): readonly BriefSource[] {
  return protect.map((glob) => {
    const { base, isGlob } = picomatch.scan(glob);
    if (!isGlob) return { kind: "protected", path: resolve(root, glob) };
    const matches = picomatch(glob, { dot: true });
    const named = glob.includes("node_modules");
    return {
      kind: "protected",
      path: resolve(root, base),
      accepts: (path) => matches(relative(root, path).replaceAll(sep, "/")),
      enters: (path) => basename(path) !== ".git" && (named || basename(path) !== "node_modules"),
    };
  });
}

async function gitSources(repository: Repository): Promise<readonly BriefSource[]> {
  const { gitDirectory, topLevel } = repository;
  const shared = await commonDirectoryOf(gitDirectory);
  const git = (path: string): BriefSource => ({ kind: "git", path });
  const hooks = await hooksFolderOf({ git: repository.git, topLevel, gitDirectory, commonDirectory: shared });
  return [
    git(join(topLevel, ".git")),
    git(join(gitDirectory, "commondir")),
    git(join(gitDirectory, "config.worktree")),
    { ...git(join(shared, "config")), settings: true },
    git(join(shared, "objects", "info", "alternates")),
    ...[...new Set([shared, gitDirectory])].map((folder) => ({
      ...git(join(folder, "info")),
      accepts: (path: string) => basename(path) !== "refs" || dirname(path) !== join(folder, "info"), // made by git gc
    })),
    ...[...new Set([join(shared, "hooks"), hooks])].map((folder) => ({
      ...git(folder),
      accepts: (path: string) => !path.endsWith(".sample"), // git runs none of these
    })),
  ];
}
