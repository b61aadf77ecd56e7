import { basename, dirname, join } from "node:path";
import type { SandboxConfig } from "../config/load.ts";
import { isSecretName } from "../events/redact.ts";
import type { AgentNeeds, Confinement, NeededFolder, PrivateFolder, SandboxRequest } from "../host/confinement.ts";
import * as known from "./known_paths.ts";

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
  /** Sockets in the home folder on which a program listens: behind an overlay they would be others. */
  readonly sockets?: readonly string[];
  /** The names in `/etc/ssh` that ssh reads, where they would seem to be another user's, which it refuses. */
  readonly ssh?: readonly string[];
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
  const secrets = known.SECRET_PATHS.map(at);
  const derived = [
    ...known.TOOL_PATHS.map(at),
    ...programFolders(place),
    ...place.ralph,
    ...(needs?.read ?? []).map(at),
  ]
    .filter((path) => !secrets.includes(path));
  const passed = unique([...(needs?.keys ?? []), ...config.environment]);
  const isMounted = (asked.shown ?? []).length > 0;
  return {
    role,
    rights: "least",
    overlay: null,
    tree: place.tree,
    write: [...(isMounted ? [] : [place.tree, ...gitFolders(place)]), ...(asked.write ?? []), ...config.write.map(at)],
    never: isMounted ? [] : [...neverPaths(place, known.GIT_NEVER), ...(asked.never ?? [])],
    read: unique([...derived, ...(asked.read ?? []), ...config.read.map(at)]),
    hidden: unique([...known.HIDDEN_PATHS.map(at), ...secrets]),
    shown: asked.shown ?? [],
    folders: privateFolders(place, needs),
    caches: known.CACHE_PATHS.map((path) => ({ from: join(place.caches, role, path), at: join(place.home, path) })),
    network: networkOf(place, asked, config),
    environment: environmentOf(place, passed),
    passed,
    own: [],
  };
}

/**
 * The rights that `light` gives: writes go to the tree, to temporary folders and, of the home folder, to caches and to
 * what the agent keeps between runs; what else is written in the home folder is seen by this run alone. Secrets and
 * Ralph's own files are hidden. All else is as it is outside, so that no run needs a sandbox of its own making. Pure.
 */
export function lightPolicyOf(place: SandboxPlace, asked: SandboxRequest, config: SandboxConfig): Confinement {
  const { home, overlay } = place;
  const at = (path: string): string => inHome(path, home);
  const whole = policyOf(place, asked, config);
  const isMounted = (asked.shown ?? []).length > 0;
  const borrowed = known.BORROWED_PATHS.flatMap(([name, path]) => name.test(place.logins) ? [path] : []);
  const secrets = [home, ...place.homes].flatMap((one) => known.SECRET_PATHS.map((path) => inHome(path, one)));
  const fetched = known.FETCH_PATHS.map(at);
  const forGood = writtenForGood(place, asked);
  // the person, or Ralph, would start a program that is put there
  const started = place.programs.filter((path) =>
    isIn(path, home) && !isIn(path, place.tree) && (overlay === null || forGood.some((folder) => isIn(path, folder)))
  );
  return {
    ...whole,
    rights: "most",
    overlay: overlay === null ? null : { at: home, on: overlay },
    write: [...whole.write, "/tmp", "/var/tmp", ...forGood, ...place.sockets ?? []],
    never: [
      ...isMounted ? [] : [...neverPaths(place, known.GIT_NEVER_LIGHT), ...asked.never ?? []],
      ...started,
      ...place.ralph,
    ],
    read: [...known.HOST_PATHS, ...config.read, ...asked.needs?.read ?? [], ...asked.role === "turn" ? borrowed : []]
      .map(at),
    hidden: unique([
      ...secrets.filter((path) => !fetched.includes(path)),
      dirname(place.caches),
      place.checkouts,
      ...isMounted || !hasNoHooks(place) ? [] : hooksOf(place),
    ]),
    folders: [
      ...isMounted || hasNoHooks(place) ? [] : hooksOf(place).map((path) => copiesOf(path, place.git?.hooks)),
      ...place.ssh === undefined ? [] : [copiesOf("/etc/ssh", place.ssh)],
    ],
    caches: overlay === null
      ? []
      : known.CACHE_PATHS.map((path) => ({ from: join(place.caches, "light", path), at: join(home, path) })),
    own: agentFolders(asked).flatMap((folder) =>
      folderAt(place)(folder) === home
        ? [...folder.copy ?? [], ...folder.keep ?? []].map((name) => join(home, name))
        : []
    ),
    network: "all",
    environment: {},
  };
}

/** The folders that hold the login of the agent that is started: at its first start they are made, so that it stays. */
export function agentHomes(place: SandboxPlace, { needs }: SandboxRequest): readonly string[] {
  return (needs?.folders ?? []).filter(({ keep }) => keep.length > 0).map(folderAt(place))
    .filter((path) => path !== place.home);
}

function agentFolders({ needs, state }: SandboxRequest): NonNullable<SandboxRequest["state"]> {
  return [...needs?.folders ?? [], ...state ?? []];
}

/** Caches, what the agent keeps, and the folders of tools that are outside of the home folder. */
function writtenForGood(place: SandboxPlace, asked: SandboxRequest): readonly string[] {
  const { home, variables } = place;
  const named = (names: readonly string[]) => names.flatMap((name) => variables[name]?.split(":") ?? []);
  return [
    ...known.CACHE_PATHS.map((path) => join(home, path)),
    ...named(known.CACHE_VARIABLES),
    ...named(known.TOOL_VARIABLES).filter((path) => !isIn(path, home)),
    ...agentFolders(asked).map(folderAt(place)),
  ].filter((path) => path.startsWith("/") && path !== "/" && !isIn(home, path) && !/\/\.?git(config)?$/.test(path));
}

function hooksOf({ git }: SandboxPlace): readonly string[] {
  return git === null ? [] : [join(git.common, "hooks")];
}

function hasNoHooks({ git }: SandboxPlace): boolean {
  return (git?.hooks ?? []).length === 0;
}

function copiesOf(path: string, names: readonly string[] = []): PrivateFolder {
  return { at: path, copy: names, keep: [] };
}

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
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
function networkOf({ services }: SandboxPlace, { role, needs }: SandboxRequest, { network, allow }: SandboxConfig) {
  if (network === "all" || role === "service") return "all"; // a service listens where the browser and Ralph look
  const ports = role === "check" ? services.map((port) => `localhost:${port}`) : [];
  if (network === "none") return ports.length === 0 ? "none" : ports;
  return unique([...(needs?.hosts ?? []), ...allow, ...ports]);
}

function environmentOf({ variables }: SandboxPlace, passed: readonly string[]): Confinement["environment"] {
  const dropped = Object.keys(variables).filter((name) =>
    (isSecretName(name) || known.DROPPED_VARIABLES.includes(name)) && !passed.includes(name) &&
    !OWN_VARIABLE_REGEXP.test(name)
  );
  return Object.fromEntries(dropped.map((name) => [name, undefined]));
}

function unique(list: readonly string[]): readonly string[] {
  return [...new Set(list)];
}
