import type { Repository } from "../../git/repository.ts";
import { partsOf } from "../../git/run_git.ts";

/** Settings that decide what git runs, reads and shows; others (remotes, branches, an author) may change in a turn. */
const DECIDING = {
  sections: /^(?:filter|diff|include|includeif|extensions|uploadpack|transfer)\./i,
  core: /^core\.(?:hookspath|fsmonitor|attributesfile|excludesfile|worktree|bare|repositoryformatversion)$/i,
};

/** A setting with its value; `null` where it is only named. */
export type Setting = readonly [key: string, value: string | null];

/** The settings of a file that decide, in their order; `null` when git cannot read it. Included files are not read. */
export async function decidingSettings(repository: Repository, file: string): Promise<readonly Setting[] | null> {
  const end = await repository.git(["config", "--file", file, "--no-includes", "--list", "-z"]);
  if (end.exitCode !== 0) return null;
  return settingsIn(end.stdout).filter(([key]) => DECIDING.sections.test(key) || DECIDING.core.test(key));
}

/** The settings in the output of `git config --list -z`, in its order. Pure. */
export function settingsIn(text: string): readonly Setting[] {
  return partsOf(text).map((entry) => {
    const feed = entry.indexOf("\n");
    return feed < 0 ? [entry, null] : [entry.slice(0, feed), entry.slice(feed + 1)];
  });
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
    const config = ["config", "--file", file];
    if (now.some(([name]) => name === key)) {
      const end = await repository.git([...config, "--unset-all", key]);
      if (end.exitCode !== 0) return false;
    }
    for (const [name, value] of before) {
      if (name !== key) continue;
      const end = await repository.git([...config, "--add", key, value ?? "true"]);
      if (end.exitCode !== 0) return false;
    }
  }
  return true;
}
