/**
 * Starts processes inside of a sandbox: bubblewrap or Seatbelt for what they touch, proxies for what they reach.
 *
 * @module
 */
import * as bwrap from "./bubblewrap.ts";
import type { Confinement } from "./confinement.ts";
import { words } from "./data.ts";
import { findBubblewrapProgram } from "./find_bubblewrap.ts";
import { ensurePrivateDirectory, pathExists } from "./files.ts";
import { type HeldHome, holdHome } from "./held_home.ts";
import { privateFolders } from "./private_folders.ts";
import type { Grant, RefusedHost, SandboxProxy } from "./sandbox_proxy.ts";
import { findExecutable } from "./shell.ts";
import { isSuperUser, ownIds } from "./this_process.ts";
import { TREE_VARIABLE } from "./sweep.ts";
import type { Host, ProcessEnd, ProcessRequest, Variables } from "./types.ts";

/** A sandbox that works on this machine. */
export interface Confiner extends AsyncDisposable {
  /** How it is done, in a few words. */
  readonly name: string;
  run(confinement: Confinement, request: ProcessRequest): Promise<ProcessEnd>;
}

/** A thing that the machine lacks. */
export interface Lacking {
  readonly problem: string;
  readonly hint: string;
}

/** The part of a sandbox that is the system's. */
export interface Backend {
  readonly name: string;
  /** A process has a folder of its own in the place of this one. */
  readonly home?: string;
  enter(inside: Inside): Promise<Pick<ProcessRequest, "file" | "arguments" | "cwd" | "environment">>;
  /** The namespace that processes of the most rights share. */
  hold?(overlay: Confinement["overlay"], tell: (message: string) => void): Promise<HeldHome>;
}

/** A process that is to start inside. */
export interface Inside {
  /** With its own folders among `shown`. */
  readonly confinement: Confinement;
  readonly request: ProcessRequest;
  /** The ports of this machine that it reaches, with that of the proxy. */
  readonly ports: "all" | readonly number[];
  readonly proxy: SandboxProxy | null;
  readonly grant: Grant | null;
  /** The words that start it in the namespace that is shared; none for the least rights. */
  readonly entered: readonly string[];
}

const PROBE_MS = 10_000;
const PACKAGES = "install bubblewrap, socat and ripgrep (Debian, Ubuntu: `sudo apt-get install bubblewrap socat " +
  "ripgrep`; Fedora: `sudo dnf install bubblewrap socat ripgrep`)";
const APPARMOR_FILE = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/** Looks what bubblewrap can do here. @param hosts `some`: they are let through one by one, by a proxy */
export async function findBubblewrap(host: Host, hosts: "some" | "all"): Promise<bwrap.Bubblewrap | Lacking> {
  if (host.environment.platform !== "linux") {
    return {
      problem: `it works on Linux, not on ${host.environment.platform}`,
      hint: "run Ralph in a container, or give a command that starts one: `sandbox.command` (docs/guides/sandbox.md)",
    };
  }
  const program = await findBubblewrapProgram(host.environment);
  const socat = await findExecutable("socat", host.environment, "/");
  if (program === null) return { problem: "bubblewrap (`bwrap`) is not installed", hint: PACKAGES };
  if (socat === null && hosts === "some") return { problem: "socat is not installed", hint: PACKAGES };
  // the library that gives the proxy asks for it, although nothing here searches
  const ripgrep = hosts === "some" ? await findExecutable("rg", host.environment, "/") : "";
  if (ripgrep === null) return { problem: "ripgrep (`rg`) is not installed", hint: PACKAGES };
  const ask = async (found: bwrap.Bubblewrap): Promise<ProcessEnd> => {
    const start = { cwd: "/", terminal: false, network: "none", socket: null } as const;
    const arguments_ = [...bwrap.bubblewrapArguments(found, [], start), "/bin/sh", "-c", "exit 0"];
    return await host.processes.run({ file: program, arguments: arguments_, cwd: "/", timeoutMs: PROBE_MS });
  };
  let first: ProcessEnd | null = null;
  for (const [ownProc, closed] of [[true, true], [true, false], [false, false]] as const) {
    const found = { program, ownProc, closed };
    const end = await ask(found);
    if (end.exitCode === 0) return found;
    first ??= end;
  }
  return {
    problem: `bubblewrap fails: ${first?.tail.trim().split("\n").at(-1) || "it printed nothing"}`,
    hint: await refusedHint(),
  };
}

async function refusedHint(): Promise<string> {
  return await pathExists(APPARMOR_FILE)
    ? "Ubuntu's AppArmor forbids user namespaces: give bwrap a profile that has `userns,` in /etc/apparmor.d/bwrap " +
      "(docs/guides/sandbox.md has it), or `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    : "user namespaces have to be allowed: `sudo sysctl kernel.unprivileged_userns_clone=1` where that exists, " +
      "`user.max_user_namespaces` above 0; in Docker `--security-opt seccomp=unconfined`";
}

/** Processes inside. The proxies start with the first process that may reach a host. @param onAside files of a turn are set aside */
export function confiner(
  host: Host,
  backend: Backend,
  onRefused: (refused: RefusedHost) => void,
  onAside: (message: string) => void,
): Confiner {
  let proxy: Promise<SandboxProxy> | undefined;
  let held: Promise<HeldHome> | undefined;
  const start = async (): Promise<SandboxProxy> =>
    (await import("./sandbox_proxy.ts")).startProxy({
      [TREE_VARIABLE]: `${host.processes.runToken}.proxy`,
      PATH: host.environment.variables["PATH"],
    }, onRefused);

  async function run(confinement: Confinement, request: ProcessRequest): Promise<ProcessEnd> {
    for (const { from, at } of confinement.caches) {
      if (confinement.rights === "least" || !await pathExists(at)) await ensurePrivateDirectory(from);
    }
    const shared = confinement.rights === "most"
      ? await (held ??= backend.hold?.(confinement.overlay, onAside))
      : undefined;
    const entered = await shared?.enter() ?? [];
    if ("reason" in entered) return entered;
    const { home } = backend;
    const hasHome = home === undefined || confinement.folders.some(({ at }) => at === home);
    const own = hasHome ? [] : [{ at: home, copy: [], keep: [] }];
    await using folders = await privateFolders([...confinement.folders, ...own]);
    const hosts = typeof confinement.network === "string" ? [] : confinement.network;
    const reached = hosts.length === 0 ? null : await (proxy ??= start());
    using grant: Grant | null = reached?.grant(confinement.role, hosts, host.ids.random(32)) ?? null;
    const local = hosts.flatMap((name) => /^localhost:(\d+)$/.exec(name)?.[1] ?? []).map(Number);
    const inside = await backend.enter({
      confinement: {
        ...withOverlay(confinement, shared?.overlay ?? null),
        shown: [...confinement.shown, ...folders.shown],
      },
      request,
      ports: confinement.network === "all" ? "all" : reached === null ? local : [reached.port, ...local],
      proxy: reached,
      grant,
      entered,
    });
    const ended = shared?.watch(confinement);
    const end = await host.processes.run({ ...request, ...inside });
    ended?.();
    await folders.keep();
    return end;
  }

  return {
    name: backend.name,
    run,
    async [Symbol.asyncDispose]() {
      if (proxy !== undefined) await (await proxy)[Symbol.asyncDispose]();
      await (await held)?.[Symbol.asyncDispose]();
    },
  };
}

/** Nothing is seen of the overlay's own folders: no secret that is hidden at its place, and no folder that cannot be opened. */
function withOverlay(confinement: Confinement, overlay: Confinement["overlay"]): Confinement {
  const { hidden, shown } = confinement;
  const isSeen = overlay !== null && !shown.some(({ at }) => overlay.on.startsWith(`${at}/`)); // a checkout has none
  return { ...confinement, overlay, hidden: isSeen ? [...hidden, overlay.on] : hidden };
}

/** Processes inside of bubblewrap. */
export function bubblewrap(host: Host, found: bwrap.Bubblewrap): Backend {
  return {
    name: found.ownProc ? "bubblewrap" : "bubblewrap, with the container's /proc",
    async hold(overlay, tell) {
      const rights = isSuperUser() ? "most of root" : "most";
      const programs = { bubblewrap: found.program, nsenter: await nsenterOf(host) };
      return await holdHome({ host, programs, rights, overlay, tell });
    },
    async enter({ confinement, request, ports, proxy, grant, entered: [file = found.program, ...entered] }) {
      const mounts = bwrap.mountsOf(confinement, bwrap.REAL_PATHS);
      const isRoot = confinement.rights === "most" && isSuperUser();
      const rights = isRoot ? "most of root" : confinement.rights;
      const start = {
        cwd: request.cwd,
        terminal: request.terminal === true,
        network: ports === "all" ? "all" : "none",
        socket: proxy?.socket ?? null,
        rights,
        ...(rights === "most" ? { ids: ownIds() } : {}),
        processes: rights === "least" || confinement.shown.length > confinement.folders.length ? "own" : "all",
      } as const;
      return {
        file,
        arguments: [
          ...(file === found.program ? [] : [...entered, found.program]),
          ...bwrap.bubblewrapArguments(found, mounts, start),
          ...(isRoot ? [await nsenterOf(host), ...words("--user=/proc/self/fd/9 --preserve-credentials --")] : []),
          ...(proxy === null || ports === "all" ? [] : await relay(host, proxy, ports, grant)),
          request.file,
          ...request.arguments,
        ],
        cwd: "/",
        environment: insideEnvironment(confinement, request, mounts, grant),
      };
    },
  };
}

/** Only the system's: a turn may write to a folder of PATH. */
async function nsenterOf({ environment }: Host): Promise<string> {
  const system = { ...environment, variables: { PATH: bwrap.SYSTEM_PATH } };
  return await findExecutable("nsenter", system, "/") ?? "/usr/bin/nsenter";
}

/** A temporary folder that is not there inside is replaced by `/tmp`, which is the process's own. */
function insideEnvironment(
  confinement: Confinement,
  { environment = {}, cwd }: ProcessRequest,
  mounts: readonly bwrap.Mount[],
  grant: Grant | null,
): Variables {
  if (confinement.rights === "most") return { PWD: cwd, ...environment, ...confinement.environment };
  const { TMPDIR: folder } = environment;
  const known = mounts.some(({ at, access }) =>
    access === "write" && folder !== undefined && at === bwrap.REAL_PATHS.real(folder)
  );
  const TMPDIR = known ? folder : "/tmp";
  return { PWD: cwd, ...environment, ...confinement.environment, TMPDIR, ...grant?.environment };
}

/**
 * Starts the process when the proxy can be reached inside. `localhost:PORT` is the same port inside, led through the
 * proxy; all else is for programs that believe the proxy's variables.
 */
async function relay(host: Host, { socket, port: first }: SandboxProxy, ports: readonly number[], grant: Grant | null) {
  const socat = await findExecutable("socat", host.environment, "/") ?? "socat";
  const url = new URL(grant?.environment["HTTP_PROXY"] ?? "http://localhost");
  const credentials = `${decodeURIComponent(url.username)}:${url.password}`;
  const lines = ports.map((port) => {
    const to = port === first
      ? `UNIX-CONNECT:${socket}`
      : `PROXY:127.0.0.1:localhost:${port},proxyport=${first},proxyauth=${credentials}`;
    return `${socat} TCP4-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=1024 ${to}`;
  });
  return ["/bin/sh", "-c", relayScript(lines, ports), "sh"];
}

/** Waits until each port listens, by the kernel's own table and without a program; then becomes the process. Pure. */
function relayScript(relays: readonly string[], ports: readonly number[]): string {
  const patterns = ports.map((port) => `*:${port.toString(16).toUpperCase().padStart(4, "0")}\\ 00000000:0000\\ 0A*`);
  return [
    ...relays.map((line) => `${line} </dev/null >/dev/null 2>&1 &`),
    "tries=0",
    `while [ "$tries" -lt 5000 ]; do`,
    "  listening=0",
    "  while read -r line; do",
    `    case $line in ${patterns.join("|")}) listening=$((listening+1)) ;; esac`,
    "  done </proc/net/tcp",
    `  [ "$listening" -ge ${ports.length} ] && break`,
    "  tries=$((tries+1))",
    "done",
    "unset tries listening line",
    'exec "$@"',
  ].join("\n");
}
