import { join, resolve } from "node:path";
import type { Repository } from "../../git/repository.ts";
import { commonDirectoryOf, createGit, type Git, QUIET, READING } from "../../git/run_git.ts";
import { readText, removePath, writePlain } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import { gitSettings } from "../../git/git_settings.ts";

/** The settings that a checkout's git takes over from the repository. */
export interface GitSettings {
  /** Keys and values, in git's order. */
  readonly config: readonly (readonly [string, string])[];
  /** Files of the folder `info`; `null` for one that is not there. */
  readonly info: ReadonlyMap<string, string | null>;
  /** The person's own attributes. */
  readonly attributes: string;
  /** `sha1` or `sha256`. */
  readonly format: string;
  /** The git directory that a repository's worktrees share. */
  readonly common: string;
  /** Objects are missing that only a remote has: there is no whole history to fetch. */
  readonly partial: boolean;
}

/** Filters are the only programs among them: git writes files by them. */
const TAKEN: readonly RegExp[] = [
  /^filter\..+\.(?:clean|smudge|process|required)$/,
  /^diff\..+\.textconv$/,
  /^remote\..+\.(?:url|fetch|pushurl)$/,
  /^branch\..+$/,
  /^user\.(?:name|email)$/,
  /^core\.(?:autocrlf|eol|safecrlf|ignorecase|precomposeunicode|symlinks|filemode|longpaths)$/,
  /^core\.sparsecheckout(?:cone)?$/,
  /^submodule\..+\..+$/,
  /^lfs\..*url$/,
];

/** Reads them as they are now; what a turn changes later has no effect. @throws {RalphError} git-failed */
export async function readSettings(host: Host, repository: Repository): Promise<GitSettings> {
  const { topLevel, gitDirectory } = repository;
  const listed = await gitSettings(repository);
  const config = listed.map(({ key, value }): readonly [string, string] => [key, value ?? "true"]);
  const common = await commonDirectoryOf(gitDirectory);
  const places = [[common, "attributes"], [common, "exclude"], [gitDirectory, "sparse-checkout"]] as const;
  const info = new Map<string, string | null>();
  for (const [folder, name] of places) info.set(name, await readText(join(folder, "info", name)));
  const { home, variables } = host.environment;
  const isNamed = config.some(([key]) => key === "core.attributesfile"); // git expands `~` in it
  const named = isNamed
    ? await repository.git(["config", "--path", "core.attributesFile"], { environment: READING })
    : null;
  const own = named?.stdout.trim() || join(variables["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "attributes");
  return {
    config: config.filter(([key]) => TAKEN.some((regexp) => regexp.test(key))),
    info,
    attributes: await readText(resolve(topLevel, own)) ?? "",
    format: config.findLast(([key]) => key === "extensions.objectformat")?.[1] ?? "sha1",
    common,
    partial: config.some(([key, value]) => /^remote\..+\.promisor$/.test(key) && value === "true"),
  };
}

/** Writes what `cleanGit()` reads into a folder outside of the checkout. */
export async function writeHome(home: string, { attributes }: GitSettings): Promise<void> {
  await writePlain(join(home, "config"), "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n");
  await writePlain(join(home, "attributes"), attributes);
}

/** Writes a git directory's `config` and `info`. @param from the one remote there is while files are written; `null`: all */
export async function writeSettings(gitDirectory: string, settings: GitSettings, from: string | null): Promise<void> {
  for (const [name, text] of settings.info) {
    const path = join(gitDirectory, "info", name);
    await (text === null ? removePath(path) : writePlain(path, text));
  }
  await writePlain(join(gitDirectory, "config"), configText(settings, from));
}

function configText({ format, config }: GitSettings, from: string | null): string {
  const entries = from === null ? config : [
    ...config.filter(([key]) => !/^(remote|lfs)\./.test(key)),
    // large files come from the repository as from any remote, so that their hashes are computed
    ["remote.origin.url", `file://${from}`] as const,
  ];
  const start = `[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = ${format}\n`;
  return start + entries.map(([key, value]) => {
    const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
    const section = last > first ? ` ${quoted(key.slice(first + 1, last))}` : "";
    return `[${key.slice(0, first)}${section}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`;
  }).join("");
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}

/** A clone of a large repository takes its time. */
const TIMEOUT_MS = 600_000;

/** These variables show who runs a check, or would lead its git elsewhere. */
const HIDDEN_REGEXP = /^(RALPH_|GIT_|BUN_|npm_(?!config_)|INVOCATION_ID$|_$)/;

/** Laid over every git command of a checkout, which no power cut has to spare: no program of the repository's configuration but its filters. */
const ALWAYS = [
  "core.alternateRefsCommand=",
  "gc.auto=0",
  "maintenance.auto=false",
  "core.fsync=none",
].flatMap((entry) => ["-c", entry]);

/** Lays over an environment that its hidden variables are absent. */
export function hiddenVariables(variables: Readonly<Record<string, string | undefined>>): Record<string, undefined> {
  return Object.fromEntries(
    Object.keys(variables).filter((name) => HIDDEN_REGEXP.test(name)).map((name) => [name, undefined]),
  );
}

/**
 * Git that believes neither replaced objects nor the person's configuration as it is now: `home` holds the attributes
 * as they were when the checkout was opened, and the one setting without which git reads no other user's repository.
 */
export function cleanGit(host: Host, cwd: string, home: string): Git {
  const git = createGit(host, cwd);
  const environment = {
    ...hiddenVariables(host.environment.variables),
    ...QUIET,
    GIT_CONFIG_GLOBAL: join(home, "config"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "file",
  };
  const attributes = ["-c", `core.attributesFile=${join(home, "attributes")}`];
  return (arguments_, options = {}) =>
    git([...ALWAYS, ...attributes, ...arguments_], {
      timeoutMs: TIMEOUT_MS,
      ...options,
      environment: { ...environment, ...options.environment },
    });
}
