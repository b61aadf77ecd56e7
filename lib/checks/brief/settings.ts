import { resolve } from "node:path";
import { gitSettings } from "../../git/git_settings.ts";
import type { Repository } from "../../git/repository.ts";
import { realPath } from "../../host/file_state.ts";

/** Settings that decide what git runs, reads and shows; others (remotes, branches, an author) may change in a turn. */
const DECIDING = {
  sections: /^(?:filter|diff|include|includeif|extensions|uploadpack|transfer)\./i,
  core: /^core\.(?:hookspath|fsmonitor|attributesfile|excludesfile|worktree|bare|repositoryformatversion)$/i,
};

/** A setting with its value; `null` where it is only named. */
export type Setting = readonly [key: string, value: string | null];

/** The settings of a file that decide, in their order; `null` when git cannot read it. Included files are not read. */
export async function decidingSettings(repository: Repository, file: string): Promise<readonly Setting[] | null> {
  const all = await gitSettings(repository).catch(() => null);
  const own = all?.filter(({ origin }) => realPath(resolve(repository.topLevel, origin)) === realPath(file));
  return own?.filter(({ key }) => DECIDING.sections.test(key) || DECIDING.core.test(key))
    .map(({ key, value }) => [key, value]) ?? null;
}

/** Makes the deciding settings of a file what they were and leaves all others. @returns false where git refused */
export async function restoreSettings(
  repository: Repository,
  file: string,
  { before, now }: { readonly before: readonly Setting[]; readonly now: readonly Setting[] },
): Promise<boolean> {
  const of = (settings: readonly Setting[], key: string): string =>
    JSON.stringify(settings.filter(([name]) => name === key).map(([, value]) => value));
  const keys = new Set([...before, ...now].map(([key]) => key));
  for (const key of keys) {
    if (of(before, key) === of(now, key)) continue;
    const isKey = ([name]: Setting): boolean => name === key;
    const changes = [
      ...now.some(isKey) ? [["--unset-all", key]] : [],
      ...before.filter(isKey).map(([, value]) => ["--add", key, value ?? "true"]),
    ];
    for (const change of changes) {
      if ((await repository.git(["config", "--file", file, ...change])).exitCode !== 0) return false;
    }
  }
  return true;
}
