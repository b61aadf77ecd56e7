/**
 * Seatbelt, the sandbox of macOS. It refuses paths, and shows none at another one: a process gets a home folder of its
 * own, with links to all that the policy shows there. Not tried on a Mac.
 *
 * @module
 */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Mount, mountsOf, type PathLook, REAL_PATHS } from "./bubblewrap.ts";
import type { Backend } from "./confine.ts";
import type { Confinement, ShownPath } from "./confinement.ts";
import { words } from "./data.ts";
import { temporaryPlace } from "./files.ts";
import type { Environment } from "./types.ts";

/** The program that starts a process inside. */
export const SEATBELT = "/usr/bin/sandbox-exec";

/** Services of the system that command-line programs ask: names of users, logs, fonts, logins in the keychain. */
const SERVICES = words(`
  com.apple.bsd.dirhelper com.apple.distributed_notifications@Uv3 com.apple.FontObjectsServer com.apple.fonts
  com.apple.logd com.apple.lsd.mapdb com.apple.PowerManagement.control com.apple.securityd.xpc com.apple.SecurityServer
  com.apple.system.logger com.apple.system.notification_center com.apple.system.opendirectoryd.libinfo
  com.apple.system.opendirectoryd.membership
`);

/** Without these few programs start; files and network follow. Nothing here starts a process outside. */
const BASE = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* signal mach-priv-task-port (target same-sandbox))
(allow mach-lookup ${SERVICES.map((name) => `(global-name "${name}")`).join(" ")})
(allow file-read* sysctl-read user-preference-read ipc-posix-shm ipc-posix-sem iokit-get-properties pseudo-tty system-socket)
(allow file-write* file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx"))
(allow file-write* file-ioctl (literal "/dev/dtracehelper") (regex #"^/dev/ttys[0-9]+$") (subpath "/dev/fd"))`;

/** Renamed away, a folder would take along what must not be written in it. */
const WRITE = "(allow file-read* file-write* (subpath PATH))\n(deny file-write-unlink (literal PATH))";
const RULES: Readonly<Record<Mount["access"], string>> = {
  hidden: "(deny file-read* file-write* (subpath PATH))",
  read: "(allow file-read* (subpath PATH))",
  never: "(deny file-write* (subpath PATH))",
  write: WRITE,
  shown: WRITE,
  cache: WRITE,
};

/**
 * The profile of one process: of its rules the last one that fits decides. Pure but for the look at paths.
 *
 * @param ports of this machine
 */
export function seatbeltProfile(
  { caches, shown, ...policy }: Confinement,
  ports: "all" | readonly number[],
  look: PathLook = REAL_PATHS,
): string {
  const write = [...policy.write, ...[...caches, ...shown].map(({ from }) => from)];
  return [
    BASE,
    ...mountsOf({ ...policy, write, caches: [], shown: [] }, { ...look, own: [] }).map(({ at, access }) =>
      RULES[access].replaceAll("PATH", () => `"${at.replaceAll(/["\\]/g, "\\$&")}"`)
    ),
    "(allow file-read-metadata (vnode-type DIRECTORY))", // a path is resolved folder by folder
    ...(ports === "all" ? ["(allow network*)"] : [
      '(allow network-bind (local ip "*:*"))',
      '(allow network-inbound (local ip "*:*"))',
      ...ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    ]),
  ].join("\n");
}

/** Processes inside of Seatbelt. @param program that of macOS */
export function seatbelt({ home, variables }: Environment, program: string = SEATBELT): Backend {
  return {
    name: "Seatbelt, not tried on a Mac",
    home,
    async enter({ confinement, request, ports, grant }) {
      const { read, write, caches, shown } = confinement;
      const [own] = shown.flatMap(({ from, at }) => at === home ? [from] : []);
      if (own === undefined) throw new Error("a process has no home folder of its own");
      const TMPDIR = join(own, ".tmp");
      mkdirSync(TMPDIR);
      const seen = [...shown, ...caches];
      link(own, home, [...seen, ...[...read, ...write].map((path) => ({ from: path, at: path }))]);
      const profile = seatbeltProfile({ ...confinement, hidden: [...confinement.hidden, temporaryPlace()] }, ports);
      // a variable that moves a folder of an agent leads to its copy
      const moved = Object.entries(variables).flatMap(([name, value]) =>
        seen.filter(({ at }) => at === value).map(({ from }) => [name, from] as const)
      );
      const given = { ...request.environment, ...confinement.environment, ...Object.fromEntries(moved) };
      return {
        file: program,
        cwd: request.cwd,
        arguments: ["-p", profile, request.file, ...request.arguments],
        environment: { PWD: request.cwd, ...given, HOME: own, TMPDIR, ...grant?.environment },
      };
    },
  };
}

/** Nothing is linked below a link: it would be made in the person's own folder. */
function link(own: string, home: string, paths: readonly ShownPath[]): void {
  const made: string[] = [];
  for (const { from, at } of paths.toSorted((one, other) => one.at.length - other.at.length)) {
    const name = relative(home, at);
    if (name === "" || name.startsWith("..") || !existsSync(from)) continue;
    if (made.some((path) => `${name}/`.startsWith(`${path}/`)) || existsSync(join(own, name))) continue;
    mkdirSync(dirname(join(own, name)), { recursive: true });
    symlinkSync(from, join(own, name));
    made.push(name);
  }
}
