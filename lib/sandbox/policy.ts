import { basename, dirname, join } from "node:path";
import type { SandboxConfig } from "../config/load.ts";
import { isSecretName } from "../events/redact.ts";
import type { AgentNeeds, Confinement, NeededFolder, PrivateFolder, SandboxRequest } from "../host/confinement.ts";
import {
  BORROWED_PATHS,
  CACHE_PATHS,
  DROPPED_VARIABLES,
  FETCH_PATHS,
  GIT_NEVER,
  GIT_NEVER_LIGHT,
  HIDDEN_PATHS,
  HOST_PATHS,
  SECRET_PATHS,
  TOOL_PATHS,
  TOOL_VARIABLES,
} from "./known_paths.ts";

/** A machine and a working tree, as far as a policy depends on them. Paths are absolute. */
export interface SandboxPlace {
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The folders of PATH. */
  readonly programs: readonly string[];
  /** The top level of the working tree, or its root where there is no repository. */
  readonly tree: string;
  /** `null` outside a repository. */
  readonly git:
    | {
      readonly directory: string;
      readonly common: string;
      readonly otherWorktrees: readonly string[];
      /** The names of the hooks in it. */
      readonly hooks?: readonly string[];
    }
    | null;
  /** The folder of `core.hooksPath`, where it is set. */
  readonly hooks: string | null;
  /** Files that no turn may change: `ralph.config.json`, and what `protect` names. */
  readonly protected: readonly string[];
  /** The paths of Ralph itself, for the commands of a turn. */
  readonly ralph: readonly string[];
  /** The folder that keeps the caches of confined processes, for this project. */
  readonly caches: string;
  /** Clean checkouts are kept here. */
  readonly checkouts: string;
  /** A turn's files in the home folder come here under `light`; `null` where that is none, kept anyway, or in the tree. */
  readonly overlay: string | null;
  /** Further homes, whose secrets are hidden as well. */
  readonly homes: readonly string[];
  /** Names of variables and the settings of Claude Code: what tells how agents log in. */
  readonly logins: string;
  /** Ports of `services` on this machine. */
  readonly services: readonly number[];
}

/** Variables of Ralph's own that a process inside needs, whatever they are called. */
const OWN_VARIABLE_REGEXP = /^RALPH_/;

/**
 * The rights of one process. Pure.
 *
 * @example A check may write the tree and reaches no host
 * ```ts
 * import { policyOf } from "./policy.ts";
 * import { defaultConfig } from "ralph";
 *
 * const place = { home: "/home/a", variables: {}, programs: [], tree: "/home/a/work", git: null, hooks: null };
 * const rest = { protected: [], ralph: [], caches: "/home/a/.cache/1", checkouts: "/home/a/.cache/2", services: [] };
 * const whole = { ...place, ...rest, homes: [], logins: "", overlay: null };
 * const policy = policyOf(whole, { role: "check", cwd: "/home/a/work" }, defaultConfig().sandbox);
 * console.log(policy.write, policy.network); // [ "/home/a/work" ] []
 * ```
 */
export function policyOf(place: SandboxPlace, asked: SandboxRequest, config: SandboxConfig): Confinement {
  const at = (path: string): string => inHome(path, place.home);
  const { role, needs } = asked;
  const secrets = SECRET_PATHS.map(at);
  const derived = [...TOOL_PATHS.map(at), ...programFolders(place), ...place.ralph, ...(needs?.read ?? []).map(at)]
    .filter((path) => !secrets.includes(path));
  const passed = unique([...(needs?.keys ?? []), ...config.environment]);
  const isMounted = (asked.shown ?? []).length > 0;
  return {
    role,
    rights: "least",
    overlay: null,
    tree: place.tree,
    write: [...(isMounted ? [] : [place.tree, ...gitFolders(place)]), ...(asked.write ?? []), ...config.write.map(at)],
    never: isMounted ? [] : [...neverPaths(place, GIT_NEVER), ...(asked.never ?? [])],
    read: unique([...derived, ...(asked.read ?? []), ...config.read.map(at)]),
    hidden: unique([...HIDDEN_PATHS.map(at), ...secrets]),
    shown: asked.shown ?? [],
    folders: privateFolders(place, needs),
    caches: CACHE_PATHS.map((path) => ({ from: join(place.caches, role, path), at: join(place.home, path) })),
    network: networkOf(place, asked, config),
    environment: environmentOf(place, passed),
    passed,
  };
}

/**
 * The rights that `light` gives: writes go to the tree, to temporary folders and, of the home folder, to what tools and
 * agents keep between runs; what else a turn writes in the home folder is set aside, and of a check it is gone. Secrets
 * and Ralph's own files are hidden. All else is as it is outside, so that no run needs a sandbox of its own making. Pure.
 */
export function lightPolicyOf(place: SandboxPlace, asked: SandboxRequest, config: SandboxConfig): Confinement {
  const { home, variables } = place;
  const at = (path: string): string => inHome(path, home);
  const roots = unique(CACHE_PATHS.map(cacheRoot));
  const named = TOOL_VARIABLES.flatMap((name) => variables[name]?.split(":") ?? []);
  const tools = [...TOOL_PATHS.map(at), ...programFolders(place).filter((path) => path.startsWith(`${home}/.`))];
  const agent = [...asked.needs?.folders ?? [], ...asked.state ?? []].map(folderAt(place));
  const borrowed = BORROWED_PATHS.flatMap(([name, path]) => name.test(place.logins) ? [path] : []);
  const whole = policyOf(place, asked, config);
  const isMounted = (asked.shown ?? []).length > 0;
  const fetched = FETCH_PATHS.map(at);
  // a program that is put there would be started outside, by Ralph or by the person
  const started = [...place.programs.filter((path) => isIn(path, home) && !isIn(path, place.tree)), ...place.ralph];
  return {
    ...whole,
    rights: "most",
    overlay: place.overlay === null ? null : { at: home, on: place.overlay },
    write: [
      ...whole.write,
      "/tmp",
      "/var/tmp",
      ...roots.map((path) => join(home, path)),
      ...[...tools, ...named, ...agent].filter((path) =>
        path.startsWith("/") && !`${home}/`.startsWith(`${path}/`) && path !== "/" && !/\/\.?git(config)?$/.test(path)
      ),
    ],
    never: [...isMounted ? [] : [...neverPaths(place, GIT_NEVER_LIGHT), ...asked.never ?? []], ...started],
    read: [...HOST_PATHS, ...config.read, ...asked.needs?.read ?? [], ...asked.role === "turn" ? borrowed : []].map(at),
    hidden: unique([
      ...[home, ...place.homes].flatMap((one) => SECRET_PATHS.map((path) => inHome(path, one)))
        .filter((path) => !fetched.includes(path)),
      dirname(place.caches),
      place.checkouts,
    ]),
    folders: place.git === null || isMounted
      ? []
      : [{ at: join(place.git.common, "hooks"), copy: place.git.hooks ?? [], keep: [] }],
    caches: roots.map((path) => ({ from: join(place.caches, "light", path), at: join(home, path) })),
    network: "all",
    environment: {},
  };
}

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

/** The folder in the home folder that a program makes for its cache. */
function cacheRoot(path: string): string {
  return path.startsWith(".local/") ? path : path.split("/")[0] ?? path;
}

/** `~/x` as an absolute path. Pure. */
export function inHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

function gitFolders({ git }: SandboxPlace): readonly string[] {
  return git === null ? [] : unique([git.common, git.directory]);
}

function neverPaths(place: SandboxPlace, parts: readonly string[]): readonly string[] {
  const { tree, git, hooks, ralph, protected: files } = place;
  return unique([
    ...gitFolders(place).flatMap((folder) => parts.map((name) => join(folder, name))),
    ...(git?.otherWorktrees ?? []),
    ...(hooks === null ? [] : [hooks]),
    ...files,
    ...ralph.filter((path) => path.startsWith(`${tree}/`)),
  ]);
}

/** The folders of PATH, and what their links lead to: `X` of `X/bin` and of `X/.bin`. */
function programFolders({ programs, home }: SandboxPlace): readonly string[] {
  const shared = [home, join(home, ".local"), "/", "/tmp", "/home", "/root"];
  return programs.flatMap((folder) => {
    const parent = dirname(folder);
    return /^\.?bin$/.test(basename(folder)) && !shared.includes(parent) ? [folder, parent] : [folder];
  });
}

function privateFolders(place: SandboxPlace, needs: AgentNeeds | undefined): readonly PrivateFolder[] {
  const at = folderAt(place);
  return (needs?.folders ?? []).map((folder) => ({ at: at(folder), copy: folder.copy, keep: folder.keep }));
}

function folderAt({ home, variables }: SandboxPlace): (folder: Pick<NeededFolder, "path" | "variable">) => string {
  return ({ path, variable }) => (variable === undefined ? undefined : variables[variable]) || inHome(path, home);
}

/** An agent reaches its own hosts, everything else only what the configuration allows. */
function networkOf(
  { services }: SandboxPlace,
  { role, needs }: SandboxRequest,
  { network, allow }: SandboxConfig,
): Confinement["network"] {
  if (network === "all" || role === "service") return "all"; // a service listens where the browser and Ralph look
  const ports = role === "check" ? services.map((port) => `localhost:${port}`) : [];
  if (network === "none") return ports.length === 0 ? "none" : ports;
  return unique([...(needs?.hosts ?? []), ...allow, ...ports]);
}

function environmentOf(
  { variables }: SandboxPlace,
  passed: readonly string[],
): Confinement["environment"] {
  const dropped = Object.keys(variables).filter((name) =>
    (isSecretName(name) || DROPPED_VARIABLES.includes(name)) && !passed.includes(name) &&
    !OWN_VARIABLE_REGEXP.test(name)
  );
  return Object.fromEntries(dropped.map((name) => [name, undefined]));
}

function unique(list: readonly string[]): readonly string[] {
  return [...new Set(list)];
}
