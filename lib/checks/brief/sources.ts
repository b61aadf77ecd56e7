import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import type { Backlog } from "../../backlog/types.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import type { Repository } from "../../git/types.ts";
import { readText } from "../../host/files.ts";
import { foldersAbove } from "../../host/programs.ts";
import { PROMPT_FILES, PROMPTS_FOLDER } from "../../prompts/render.ts";
import type { BriefSource } from "./types.ts";

/** Of the files in the person's home those that git, package managers, shells and runners read by themselves. */
const PERSON_FILES: readonly string[] = [
  ".gitconfig",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".bunfig.toml",
  ".profile",
  ".bash_profile",
  ".bash_login",
  ".bashrc",
  ".zshenv",
  ".rspec",
  ".curlrc",
  ".tool-versions",
  ".cargo/config",
  ".cargo/config.toml",
  ".bundle/config",
  ".gradle/init.gradle",
  ".gradle/gradle.properties",
  ".m2/settings.xml",
  ".mavenrc",
  ".config/go/env",
  ".config/pip/pip.conf",
  ".config/uv/uv.toml",
  ".config/mise/config.toml",
  ".config/direnv/direnvrc",
  ".direnvrc",
  ".proverc",
  ".Rprofile",
  ".Renviron",
  ".eslintrc.json",
  ".golangci.yml",
  ".mypy.ini",
  ".config/mypy/config",
  ".pylintrc",
  ".config/ruff/ruff.toml",
  ".rubocop.yml",
  ".shellcheckrc",
];
/** A person's own instructions to agents, which reviewing agents read as well. */
const INSTRUCTION_FILES: readonly string[] = [
  ".claude/CLAUDE.md",
  ".codex/AGENTS.md",
  ".codex/AGENTS.override.md",
  ".config/opencode/AGENTS.md",
  ".gemini/GEMINI.md",
];
/** The same of version managers. */
const VERSION_FILES: readonly string[] = [
  ".pyenv/version",
  ".rbenv/version",
  ".nvm/alias/default",
  ".rustup/settings.toml",
];
/** What programs look for in every folder above the one that they are started in. */
const SETTINGS_ABOVE: readonly string[] = [
  ".babelrc",
  ".cargo/config",
  ".cargo/config.toml",
  ".envrc",
  ".eslintrc.js",
  ".eslintrc.json",
  ".golangci.yml",
  ".mise.toml",
  ".mocharc.cjs",
  ".mocharc.js",
  ".mocharc.json",
  ".mocharc.yaml",
  ".mocharc.yml",
  ".pytest.ini",
  ".pytest.toml",
  ".ruff.toml",
  ".node-version",
  ".nvmrc",
  ".python-version",
  ".ruby-version",
  ".tool-versions",
  ".yarnrc",
  ".yarnrc.yml",
  "Cargo.toml",
  "conftest.py",
  "deno.json",
  "eslint.config.js",
  "eslint.config.mjs",
  "go.work",
  "jest.config.js",
  "jest.config.ts",
  "mise.toml",
  "node_modules",
  "package.json",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "pytest.ini",
  "pytest.toml",
  "ruff.toml",
  "rust-toolchain",
  "rust-toolchain.toml",
  "setup.cfg",
  "tox.ini",
  "tsconfig.json",
];
/**
 * Where Python finds packages of the person's own, before those of the machine: what it runs there whenever it starts,
 * modules, and the entries by which runners find plugins.
 */
const PYTHON_FOLDER = ".local/lib";
const PYTHON_REGEXP =
  /\/python[\d.]+\/site-packages\/(?:[^/]+\.(?:py|pth)|[^/]+\/__init__\.py|[^/]+\.(?:dist|egg)-info\/entry_points\.txt)$/;

/** Everything that judges a run of this backlog, state files apart. */
export async function briefSources<Data, Findings>(
  ralph: RalphContext,
  backlog: Pick<Backlog<Data, Findings>, "briefFiles">,
): Promise<readonly BriefSource[]> {
  const inRoot = (path: string): string => join(ralph.root, path);
  return [
    { kind: "protected", path: inRoot(CONFIG_FILE) },
    ...protectedSources(ralph.root, ralph.config.protect),
    ...ralph.decides.map((path) => ({ kind: "recipe" as const, path })),
    ...PROMPT_FILES.map((path) => ({ kind: "prompt" as const, path: inRoot(path) })),
    { kind: "prompt", path: inRoot(PROMPTS_FOLDER), accepts: (path) => path.endsWith(".md") },
    ...(await backlog.briefFiles?.() ?? []).map((path) => ({ kind: "plan" as const, path: inRoot(path) })),
    ...(ralph.repository === null ? [] : await gitSources(ralph.repository)),
    ...personSources(ralph.host.environment),
    ...foldersAbove(ralph.repository?.topLevel ?? ralph.root).slice(1).flatMap((folder) =>
      SETTINGS_ABOVE.map((path) => ({ kind: "person" as const, path: join(folder, path) }))
    ),
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
      accepts: (path) => matches(relative(root, path).replaceAll("\\", "/")),
      enters: (path) => basename(path) !== ".git" && (named || basename(path) !== "node_modules"),
    };
  });
}

async function gitSources(repository: Repository): Promise<readonly BriefSource[]> {
  const { gitDirectory, topLevel } = repository;
  const common = (await readText(join(gitDirectory, "commondir")))?.trim();
  const shared = common === undefined ? gitDirectory : resolve(gitDirectory, common);
  const git = (path: string): BriefSource => ({ kind: "git", path });
  const { stdout } = await repository.git(["rev-parse", "--git-path", "hooks"]);
  const hooks = resolve(topLevel, stdout.trim());
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

function personSources(
  { home, variables }: RalphContext["host"]["environment"],
): readonly BriefSource[] {
  const given = variables["XDG_CONFIG_HOME"];
  const configuration = given !== undefined && isAbsolute(given) ? given : join(home, ".config");
  return [
    ...[...PERSON_FILES, ...VERSION_FILES, ...INSTRUCTION_FILES].map((path) => ({
      kind: "person" as const,
      path: join(home, path),
    })),
    { kind: "person", path: join(configuration, "git"), accepts: () => true },
    {
      kind: "person",
      path: join(home, PYTHON_FOLDER),
      accepts: (path) => PYTHON_REGEXP.test(path),
      enters: (path) => /\/\.local\/lib\/python[\d.]+(?:\/site-packages(?:\/(?!__pycache__)[^/]+)?)?$/.test(path),
    },
  ];
}
