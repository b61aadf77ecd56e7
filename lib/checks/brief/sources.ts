import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import type { Backlog } from "../../backlog/types.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import { hooksFolderOf } from "../../git/hooks_folder.ts";
import type { Repository } from "../../git/repository.ts";
import { commonDirectoryOf } from "../../git/run_git.ts";
import { words } from "../../host/data.ts";
import { type FileState, realPath } from "../../host/file_state.ts";
import { temporaryDirectory, writePlain } from "../../host/files.ts";
import { foldersAbove } from "../../host/programs.ts";
import type { Host } from "../../host/types.ts";
import { PROMPT_FILES, PROMPTS_FOLDER } from "../../prompts/render.ts";
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
  const hooks = await hooksFolderOf(repository);
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

/** Files that git, package managers, shells, runners and version managers read by themselves. */
const IN_HOME = `
  .gitconfig .npmrc .yarnrc .yarnrc.yml .bunfig.toml .profile .bash_profile .bash_login .bashrc .zshenv
  .rspec .curlrc .tool-versions .cargo/config .cargo/config.toml .bundle/config .gradle/init.gradle
  .gradle/gradle.properties .m2/settings.xml .mavenrc .config/go/env .config/pip/pip.conf .config/uv/uv.toml
  .config/mise/config.toml .config/direnv/direnvrc .direnvrc .proverc .Rprofile .Renviron .eslintrc.json
  .golangci.yml .mypy.ini .config/mypy/config .pylintrc .config/ruff/ruff.toml .rubocop.yml .shellcheckrc
  .pyenv/version .rbenv/version .nvm/alias/default .rustup/settings.toml
`;
/** Instructions to agents, which reviewers read as well: agents can write their own folders in a sandbox, too. */
const INSTRUCTIONS =
  ".claude/CLAUDE.md .codex/AGENTS.md .codex/AGENTS.override.md .config/opencode/AGENTS.md .gemini/GEMINI.md";
/** Programs look for these in every folder above the one that they are started in. */
const ABOVE = `
  .babelrc .cargo/config .cargo/config.toml .envrc .eslintrc.js .eslintrc.json .golangci.yml .mise.toml
  .mocharc.cjs .mocharc.js .mocharc.json .mocharc.yaml .mocharc.yml .pytest.ini .pytest.toml .ruff.toml
  .node-version .nvmrc .python-version .ruby-version .tool-versions .yarnrc .yarnrc.yml Cargo.toml
  conftest.py deno.json eslint.config.js eslint.config.mjs go.work jest.config.js jest.config.ts mise.toml
  node_modules package.json pnpm-workspace.yaml pyproject.toml pytest.ini pytest.toml ruff.toml
  rust-toolchain rust-toolchain.toml setup.cfg tox.ini tsconfig.json
`;
/** Files that Python runs whenever it starts, modules, and the entries by which runners find plugins. */
const PYTHON_REGEXP =
  /\/python[\d.]+\/site-packages\/(?:[^/]+\.(?:py|pth)|[^/]+\/__init__\.py|[^/]+\.(?:dist|egg)-info\/entry_points\.txt)$/;

/** @param isConfined turns can write nothing there but the agent's own folders */
function outsideSources(
  { home, variables }: Host["environment"],
  topLevel: string,
  isConfined: boolean,
): readonly BriefSource[] {
  const given = variables["XDG_CONFIG_HOME"];
  const configuration = given !== undefined && isAbsolute(given) ? given : join(home, ".config");
  const listed = (folder: string, paths: string): readonly BriefSource[] =>
    words(paths).map((path) => ({ kind: "person", path: join(folder, path) }));
  if (isConfined) return listed(home, INSTRUCTIONS);
  return [
    ...listed(home, `${INSTRUCTIONS} ${IN_HOME}`),
    { kind: "person", path: join(configuration, "git"), accepts: () => true },
    {
      kind: "person",
      path: join(home, ".local/lib"),
      accepts: (path) => PYTHON_REGEXP.test(path),
      enters: (path) => /\/\.local\/lib\/python[\d.]+(?:\/site-packages(?:\/(?!__pycache__)[^/]+)?)?$/.test(path),
    },
    ...foldersAbove(topLevel).slice(1).flatMap((folder) => listed(folder, ABOVE)),
  ];
}

/** A person's own settings as they were when the run began, once a turn has changed them. */
export interface PersonFiles {
  /** Every later child reads the old text, wherever these files are: written anew each time, since a turn may change the copies. */
  hold(): Promise<void>;
  /** The files themselves count again. */
  release(): Promise<void>;
}

/** The variables by which git and npm are led to another file. */
const GIT = "GIT_CONFIG_GLOBAL";
const NPM = "NPM_CONFIG_USERCONFIG";
/** Git reads the folder's file first, and the other one after it. */
const GIT_FILES = [/\/git\/config$/, /\/\.gitconfig$/];
const RELATIVE_INCLUDE_REGEXP = /^([ \t]*path[ \t]*=[ \t]*"?)(?![/~"])/gim;

/** @param start what the files held when the run began, by their path */
export function createPersonFiles({ environment }: Host, start: ReadonlyMap<string, FileState>): PersonFiles {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>> | null = null;
  const { overlay, variables } = environment;
  const texts = (file: RegExp): readonly string[] =>
    [...start].filter(([path]) => file.test(path.replaceAll(sep, "/"))).map(([path, state]) => textOf(path, state));
  return {
    async hold() {
      if (overlay === undefined) return;
      folder ??= await temporaryDirectory("settings-");
      const [git, npm] = [join(folder.path, "git"), join(folder.path, "npm")];
      await writePlain(git, GIT_FILES.flatMap(texts).join("\n"));
      await writePlain(npm, texts(/\/\.npmrc$/).join("\n"));
      overlay[GIT] = git;
      if (variables[NPM] === undefined && variables[NPM.toLowerCase()] === undefined) overlay[NPM] = npm;
    },
    async release() {
      delete overlay?.[GIT];
      delete overlay?.[NPM];
      await folder?.[Symbol.asyncDispose]();
      folder = null;
    },
  };
}

/** An included file keeps its place. */
function textOf(path: string, state: FileState): string {
  if (state.kind !== "text") return "";
  const text = Buffer.from(state.bytes).toString("utf8");
  return path.endsWith(".npmrc") ? text : text.replaceAll(RELATIVE_INCLUDE_REGEXP, `$1${dirname(realPath(path))}/`);
}
