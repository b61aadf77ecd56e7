import { join, resolve } from "node:path";
import { createGit, outputOfGit, READING } from "../../git/run_git.ts";
import { readText, removePath, writePlain } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";

/** The settings that a checkout's git takes over from the repository. */
export interface GitSettings {
  /** Keys and values, in git's order. */
  readonly config: readonly (readonly [string, string])[];
  /** Files of the folder `info`; `null` for one that is not there. */
  readonly info: ReadonlyMap<string, string | null>;
  /** The person's own attributes. */
  readonly attributes: string;
  /** `sha1` or `sha256`. */
  readonly objects: string;
  /** Objects are missing that only a remote has: there is no whole history to fetch. */
  readonly partial: boolean;
}

/** Filters are the only programs among them: git writes files by them. */
const TAKEN_REGEXP =
  /^(filter\..+\.(clean|smudge|process|required)|diff\..+\.textconv|remote\..+\.(url|fetch|pushurl)|branch\..+|user\.(name|email)|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|symlinks|filemode|longpaths|sparsecheckout|sparsecheckoutcone)|submodule\..+\..+|lfs\..*url)$/;

const INFO = ["attributes", "exclude", "sparse-checkout"];

/** Reads them as they are now; what a turn changes later has no effect. @throws {RalphError} git-failed */
export async function readSettings(host: Host, topLevel: string): Promise<GitSettings> {
  const git = createGit(host, topLevel);
  const read = async (...arguments_: string[]): Promise<string> =>
    (await git(arguments_, { environment: READING })).stdout.trim();
  const entries = (await outputOfGit(git, ["config", "--list", "-z"], { environment: READING })).split("\0");
  const config = entries.filter((entry) => entry !== "").map((entry): readonly [string, string] => {
    const cut = entry.indexOf("\n");
    return cut === -1 ? [entry, "true"] : [entry.slice(0, cut), entry.slice(cut + 1)];
  });
  const places = INFO.flatMap((name) => ["--git-path", `info/${name}`]);
  const [objects = "", ...paths] = (await read("rev-parse", "--show-object-format", ...places)).split("\n");
  const info = new Map<string, string | null>();
  for (const [at, name] of INFO.entries()) info.set(name, await readText(resolve(topLevel, paths[at] ?? "")));
  const { home, variables } = host.environment;
  const own = await read("config", "--path", "core.attributesFile") ||
    join(variables["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "attributes");
  return {
    config: config.filter(([key]) => TAKEN_REGEXP.test(key)),
    info,
    attributes: await readText(resolve(topLevel, own)) ?? "",
    objects,
    partial: config.some(([key, value]) => /^remote\..+\.promisor$/.test(key) && value === "true"),
  };
}

/** Writes what `cleanGit()` reads into a folder outside of the checkout. */
export async function writeHome(home: string, { attributes }: GitSettings): Promise<void> {
  await writePlain(join(home, "config"), "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n");
  await writePlain(join(home, "attributes"), attributes);
}

/** Which settings are written: none, those by which files are written, or all. */
export type SettingsPart = { readonly kind: "bare" } | { readonly kind: "writing"; readonly from: string } | {
  readonly kind: "all";
};

/** Writes a git directory's `config` and `info`. */
export async function writeSettings(gitDirectory: string, settings: GitSettings, part: SettingsPart): Promise<void> {
  for (const [name, text] of part.kind === "bare" ? [] : settings.info) {
    const path = join(gitDirectory, "info", name);
    await (text === null ? removePath(path) : writePlain(path, text));
  }
  await writePlain(join(gitDirectory, "config"), configText(settings, part));
}

function configText({ objects, config }: GitSettings, part: SettingsPart): string {
  const entries = part.kind === "all" ? config : part.kind === "bare" ? [] : [
    ...config.filter(([key]) => !/^(remote|lfs)\./.test(key)),
    // large files come from the repository as from any remote, so that their hashes are computed
    ["remote.origin.url", `file://${part.from}`] as const,
  ];
  const start = `[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = ${objects}\n`;
  return start + entries.map(([key, value]) => {
    const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
    const section = last > first ? ` ${quoted(key.slice(first + 1, last))}` : "";
    return `[${key.slice(0, first)}${section}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`;
  }).join("");
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
