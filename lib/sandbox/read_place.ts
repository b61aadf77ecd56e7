import { delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import picomatch from "picomatch";
import { isWholly } from "../config/strict.ts";
import { type Config, CONFIG_FILE } from "../config/load.ts";
import { commandFiles } from "../git/command_files.ts";
import { findFolders, type FoundRepository } from "../git/find_folders.ts";
import type { Repository } from "../git/repository.ts";
import { cacheFolder, hashText, isDirectory, listDirectory, readText } from "../host/files.ts";
import { realPath } from "../host/file_state.ts";
import { entryAt, orElse } from "../host/looks.ts";
import { isSuperUser, registeredHome } from "../host/this_process.ts";
import type { Host } from "../host/types.ts";
import { isBelow } from "./outside.ts";
import type { SandboxPlace } from "./policy.ts";

/** The parts that a place is read from. */
export interface PlaceSource {
  readonly host: Host;
  readonly root: string;
  readonly repository: Repository | null;
  readonly config: Config;
}

/** As many protected files are mounted read-only; the rest is restored after the turn, as without a sandbox. */
const MOST_PROTECTED = 200;

/** All that is written there stays. */
const TEMPORARY = ["/tmp", "/var/tmp"];

/** Reads what the policy of a process depends on. @param cwd a folder of the tree that it works in, absolute */
export async function readPlace(source: PlaceSource, cwd: string): Promise<SandboxPlace> {
  const { host, root, repository, config } = source;
  const { environment } = host;
  const found = repository === null ? null : await findFolders(cwd, environment) ?? await asked(repository, cwd);
  const tree = found?.topLevel ?? root;
  const cache = await cacheFolder(host);
  const isHome = environment.home !== "/" && await isDirectory(environment.home);
  const named = isHome ? environment.home : registeredHome() || environment.home; // it has the secrets
  const home = realPath(named);
  const isKept = TEMPORARY.includes(home) || isBelow(home, [tree]);
  // what `light` lets a turn change is judged after it, as without a sandbox
  const isJudged = !isWholly(config.sandbox) || repository === null;
  return {
    home,
    variables: environment.variables,
    programs: (environment.variables["PATH"] ?? "").split(delimiter).filter(isAbsolute)
      .map((path) => orElse(() => realPath(path), path)), // a folder of PATH need not be there
    tree,
    git: found === null ? null : {
      directory: found.gitDirectory,
      common: found.commonDirectory,
      otherWorktrees: await otherWorktrees(found.commonDirectory, found.gitDirectory),
      hooks: (await listDirectory(join(found.commonDirectory, "hooks"))).filter((name) => !name.endsWith(".sample")),
    },
    hooks: isJudged ? null : await hooksFolder(repository, tree),
    protected: [
      ...!isWholly(config.sandbox) ? [] : await protectedFiles(source, tree),
      ...isJudged ? [] : await commandFiles(repository.git, tree),
    ],
    ralph: ralphFolders(host),
    caches: join(cache, "ralph-sandbox", hashText(repository?.topLevel ?? root).slice(0, 16)),
    checkouts: join(cache, "checkouts"),
    homes: [registeredHome(), ...isSuperUser() ? (await listDirectory("/home")).map((name) => `/home/${name}`) : []],
    logins: [
      ...Object.keys(environment.variables),
      await readText(join(home, ".claude/settings.json")).catch(() => null),
    ].join(" "),
    overlay: isKept || home === "/" || !await isDirectory(home)
      ? null
      : join(repository?.ralphDirectory ?? join(cache, "ralph-sandbox"), "aside"),
    sockets: await socketsIn(home),
    ...isSuperUser() ? {} : { ssh: await sshNames() },
    services: config.services.flatMap(({ ready }) => portOf(ready)),
  };
}

/** The kernel's table has all on which somebody listens. */
async function socketsIn(home: string): Promise<readonly string[]> {
  const lines = (await readText("/proc/net/unix").catch(() => null) ?? "").split("\n");
  const paths = lines.flatMap((line) => /^(?:\S+\s+){3}00010000\s+(?:\S+\s+){3}(\/.*)$/.exec(line)?.[1] ?? []);
  return paths.filter((path) => path.startsWith(`${home}/`) && entryAt(path)?.isSocket() === true);
}

async function sshNames(): Promise<readonly string[]> {
  const names = await listDirectory("/etc/ssh/ssh_config.d").catch(() => []);
  return ["ssh_config", "ssh_known_hosts", ...names.map((name) => `ssh_config.d/${name}`)];
}

/** Git says where its folders are where files alone do not: submodules, `GIT_DIR`. */
async function asked(repository: Repository, cwd: string): Promise<Omit<FoundRepository, "ralphDirectory"> | null> {
  const arguments_ = ["-C", cwd, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
  const { exitCode, stdout } = await repository.git(arguments_);
  const [topLevel = "", gitDirectory = "", common = ""] = stdout.split("\n");
  return exitCode === 0 ? { topLevel, gitDirectory, commonDirectory: resolve(cwd, common) } : null;
}

async function otherWorktrees(common: string, own: string): Promise<readonly string[]> {
  const folder = join(common, "worktrees");
  return (await listDirectory(folder)).map((name) => join(folder, name)).filter((path) => path !== own);
}

/** Only where `core.hooksPath` names one in the tree: what is outside is read-only anyway. */
async function hooksFolder(repository: Repository, tree: string): Promise<string | null> {
  const { stdout } = await repository.git(["config", "--type=path", "--get", "core.hooksPath"]);
  return stdout.trim() === "" ? null : resolve(tree, stdout.trim());
}

async function protectedFiles({ config, root, repository }: PlaceSource, tree: string): Promise<readonly string[]> {
  const here = resolve(tree, relative(repository?.topLevel ?? root, root));
  const plain = [CONFIG_FILE, ...config.protect.filter((glob) => !picomatch.scan(glob).isGlob)];
  const globs = config.protect.filter((glob) => picomatch.scan(glob).isGlob);
  const files = globs.length === 0 || repository === null ? [] : await trackedFiles(repository, here);
  const matches = picomatch([...globs], { dot: true });
  return [...plain, ...files.filter((path) => matches(path)).slice(0, MOST_PROTECTED)].map((path) => join(here, path));
}

async function trackedFiles(repository: Repository, folder: string): Promise<readonly string[]> {
  const { stdout } = await repository.git(["-C", folder, "ls-files", "-z"]);
  return stdout.split("\0").filter((path) => path !== "");
}

/** The binary; or the runtime, and the package that this file is of. */
function ralphFolders({ environment: { executable, compiled } }: Host): readonly string[] {
  return compiled ? [executable] : [executable, dirname(dirname(dirname(fileURLToPath(import.meta.url))))];
}

function portOf(url: string): readonly number[] {
  const { hostname, port, protocol } = new URL(url);
  if (!["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return [];
  return [Number(port || (protocol === "https:" ? 443 : 80))];
}
