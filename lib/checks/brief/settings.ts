import { join, resolve } from "node:path";
import type { BriefRecord } from "../../backlog/journal_types.ts";
import { gitSettings } from "../../git/git_settings.ts";
import { addressText } from "../../git/host_of.ts";
import { commitAt } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { partsOf, READING } from "../../git/run_git.ts";
import { realPath } from "../../host/file_state.ts";
import { hashText, readText } from "../../host/files.ts";

/** Settings that decide what git runs, reads and shows: they are fixed when the run begins. */
const DECIDING =
  /^(?:(?:filter|diff|include|includeif|extensions|uploadpack|transfer)\.|core\.(?:hookspath|fsmonitor|attributesfile|excludesfile|worktree|bare|repositoryformatversion)$)/i;

/** Settings that say where work goes, who made it and how files are read: a later run compares them as well. */
const RECORDED = /^(?:remote|url|push|user|author|committer|commit|core|gpg|tag)\./;

/** Git LFS writes these by itself, whatever it is asked. */
const LFS_REGEXP = /^lfs\.(?:repositoryformatversion|.+\.(?:access|locksverify))$/;
/** `git remote add` fetches to nowhere else. */
const FETCH_REGEXP = /^\+?refs\/[^:]+:refs\/(?:remotes|tags)\//;

/** A setting with its value; `null` where it is only named. */
export type Setting = readonly [key: string, value: string | null];

type Settings = readonly Setting[];

/** The settings of a file, in their order; `null` when git cannot read it, or follows none of it. Included files are not read. */
export async function settingsIn(repository: Repository, file: string): Promise<Settings | null> {
  const all = await gitSettings(repository).catch(() => null);
  const own = all?.filter(({ origin }) => realPath(resolve(repository.topLevel, origin)) === realPath(file)) ?? [];
  if (own.length === 0 && (all === null || (await readText(file))?.trim())) return null; // a format that git does not know
  return own.map(({ key, value }) => [key, value]);
}

/** The settings that decide. Pure. */
export function decidingOf(settings: Settings): Settings {
  return settings.filter(([key]) => DECIDING.test(key));
}

/** Hashes of settings below the shown path of their file, which is read as a whole. Pure. */
export function settingsRecord(path: string, settings: Settings): BriefRecord {
  const keys = [...new Set(settings.map(([key]) => key))].filter((key) => RECORDED.test(key) && !DECIDING.test(key));
  const files = keys.map((key) => {
    const hash = hashText(JSON.stringify([key, valuesOf(settings, key)]));
    return [`${path}/${addressText(key)}`, `setting ${hash}`];
  });
  return { files: Object.fromEntries(files), folders: [path] };
}

/** The keys that are not what they were, but for what git's everyday commands write in a turn. */
export async function changedKeys(repository: Repository, before: Settings, now: Settings): Promise<readonly string[]> {
  const keys = differingKeys(before, now);
  const modules = keys.some((key) => key.startsWith("submodule.")) ? await moduleAddresses(repository) : new Map();
  const changed: string[] = [];
  for (const key of keys) {
    const isEveryday = isWrittenByGit(key, { before, now, modules }) || await isOfGoneBranch(repository, key, now);
    if (!isEveryday) changed.push(key);
  }
  return changed;
}

/** The settings that are to hold, once a person has changed what a turn had left. Pure. */
export function withPersons(settings: Settings, left: Settings, now: Settings): Settings {
  const changed = new Set(differingKeys(left, now).filter((key) => !DECIDING.test(key)));
  return [...settings.filter(([key]) => !changed.has(key)), ...now.filter(([key]) => changed.has(key))];
}

/** Makes these settings of a file what they were and leaves all others. @returns false where git refused */
export async function restoreSettings(
  repository: Repository,
  file: string,
  { before, now, keys }: { readonly before: Settings; readonly now: Settings; readonly keys: readonly string[] },
): Promise<boolean> {
  for (const key of keys) {
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

function differingKeys(before: Settings, now: Settings): readonly string[] {
  const keys = new Set([...before, ...now].map(([key]) => key));
  return [...keys].filter((key) => JSON.stringify(valuesOf(before, key)) !== JSON.stringify(valuesOf(now, key)));
}

function valuesOf(settings: Settings, key: string): readonly (string | null)[] {
  return settings.filter(([name]) => name === key).map(([, value]) => value);
}

interface Changed {
  readonly before: Settings;
  readonly now: Settings;
  /** Addresses in `.gitmodules` by the names of their submodules. */
  readonly modules: ReadonlyMap<string, string>;
}

/** `git checkout -b`, `git push -u`, `git remote add`, `git submodule init` and their like, of what was not there. */
function isWrittenByGit(key: string, { before, now, modules }: Changed): boolean {
  if (DECIDING.test(key)) return false;
  if (LFS_REGEXP.test(key)) return true;
  const [, section = "", name = "", variable = ""] = /^(branch|remote|submodule)\.(.+)\.([^.]+)$/s.exec(key) ?? [];
  const values = valuesOf(now, key).map((value) => value ?? "");
  const hasSection = (some: string): boolean => before.some(([one]) => one.startsWith(`${some}.`));
  const isNew = !before.some(([one]) => one === key);
  switch (`${section}.${variable}`) {
    case "branch.remote":
      return isNew && values.every((value) => value === "." || hasSection(`remote.${value}`));
    case "branch.merge":
    case "branch.rebase":
    case "branch.description":
    case "branch.vscode-merge-base":
      return isNew;
    case "remote.fetch":
      return !hasSection(`remote.${name}`) && values.every((value) => FETCH_REGEXP.test(value));
    case "remote.url":
    case "remote.tagopt":
    case "remote.prune":
      return !hasSection(`remote.${name}`);
    case "submodule.active":
      return modules.has(name) ? isNew : values.length === 0;
    case "submodule.url": {
      const address = modules.get(name);
      if (address === undefined || values.length === 0) return address === undefined && values.length === 0;
      return values.every((value) => value === address || (isNew && /^\.\.?\//.test(address)));
    }
    default:
      return false;
  }
}

/** `git branch -d` and `-m` take the section of a branch away. */
async function isOfGoneBranch(repository: Repository, key: string, now: Settings): Promise<boolean> {
  const name = /^branch\.(.+)\.[^.]+$/s.exec(key)?.[1];
  if (name === undefined || now.some(([one]) => one.startsWith(`branch.${name}.`))) return false;
  return await commitAt(repository, `refs/heads/${name}`) === null;
}

async function moduleAddresses({ git, topLevel }: Repository): Promise<ReadonlyMap<string, string>> {
  const list = ["config", "--file", join(topLevel, ".gitmodules"), "--null", "--get-regexp", "^submodule\\..*\\.url$"];
  const { stdout } = await git(list, { environment: READING });
  return new Map(
    partsOf(stdout).map((entry) => {
      const [key = "", ...value] = entry.split(/\n(.*)/s);
      return [key.slice("submodule.".length, -".url".length), value[0] ?? ""];
    }),
  );
}
