import { basename, dirname, join, relative } from "node:path";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { Confinement } from "./confinement.ts";
import { words } from "./data.ts";
import { orElse } from "./looks.ts";

/** The bubblewrap of this machine. */
export interface Bubblewrap {
  /** Absolute path of the program. */
  readonly program: string;
  /** A `/proc` of its own; without it (in some containers) that of the container is seen. */
  readonly ownProc: boolean;
  /** `--disable-userns`: no further namespaces inside. */
  readonly closed: boolean;
}

/** One place of the file system as a process sees it. */
export interface Mount {
  readonly at: string;
  readonly from: string;
  readonly access: "hidden" | "read" | "write" | "shown" | "cache" | "never";
}

/** The file system as the policy sees it: the real one by default. */
export interface PathLook {
  /** Folders of which a process has its own. @default `/dev`, and so `/dev/shm` */
  readonly own?: readonly string[];
  /** Without symbolic links, or `null` where nothing is there. */
  real(path: string): string | null;
  isFolder(path: string): boolean;
  /** The places of all file systems. @default none */
  mounted?(): readonly string[];
}

/** A path without symbolic links; `null` where nothing is there. */
export function realPathOf(path: string): string | null {
  return orElse(() => realpathSync.native(path), null);
}

/** Asks the file system. */
export const REAL_PATHS: PathLook = {
  real: realPathOf,
  isFolder: (path) => existsSync(path) && statSync(path).isDirectory(),
  mounted() {
    const lines = orElse(() => readFileSync("/proc/self/mountinfo", "utf8"), "").trim().split("\n");
    const octal = /\\(\d{3})/g;
    return lines.map((line) =>
      (line.split(" ")[4] ?? "").replace(octal, (_, code) => String.fromCharCode(parseInt(code, 8)))
    );
  },
};

/** File systems below a folder: an overlay does not show them. */
export function mountedBelow(folder: string, look: PathLook = REAL_PATHS): readonly string[] {
  const real = look.real(folder) ?? folder;
  return look.mounted?.().filter((path) => isAbove(real, path)) ?? [];
}

/** The super-user may write these settings of the kernel without any capability. */
const KERNEL_SETTINGS = ["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger"];

/** The later one wins where two are for the same path. */
const ORDER: readonly Mount["access"][] = ["hidden", "read", "cache", "write", "shown", "never"];

/** Every place that differs from "read only", parents first: the deepest one decides. Missing paths are left out. */
export function mountsOf(confinement: Confinement, look: PathLook = REAL_PATHS): readonly Mount[] {
  const found = new Map<string, Mount>();
  const add = (access: Mount["access"], at: string, from = at): void => {
    const source = look.real(from);
    if (source === null) return;
    const place = at === from ? source : realPlace(at, look);
    const known = found.get(place);
    if (known !== undefined && ORDER.indexOf(known.access) > ORDER.indexOf(access)) return;
    found.set(place, { at: place, from: source, access });
  };
  for (const path of confinement.hidden) add("hidden", path);
  for (const path of confinement.read) add("read", path);
  for (const { from, at } of confinement.caches) add("cache", at, from);
  for (const path of confinement.write) add("write", path);
  const { overlay } = confinement;
  if (overlay !== null) add("shown", overlay.at, join(overlay.on, "seen"));
  for (const { from, at } of confinement.shown) {
    const source = leftAt(from, confinement, look);
    const place = join(realPlace(dirname(at), look), basename(at)); // a link there is of another tree
    if (source !== null) found.set(place, { at: place, from: source, access: "shown" });
  }
  for (const path of confinement.never) add("never", path);
  for (const path of overlay === null ? [] : mountedBelow(overlay.at, look)) if (!found.has(path)) add("never", path);
  const mounts = [...found.values()].filter((mount) => needed(mount, found, look) && canBeMade(mount, found, look));
  return [...mounts, ...pins(mounts)].sort((a, b) => depth(a.at) - depth(b.at) || (a.at < b.at ? -1 : 1));
}

/** The place that a path leads to. Below an overlay that is as a turn left it, but for what is written for good or is Ralph's. */
function leftAt(path: string, { overlay, tree, write, hidden }: Confinement, look: PathLook): string | null {
  const real = look.real(path);
  const holds = (folder: string): boolean => `${real}/`.startsWith(`${look.real(folder) ?? folder}/`);
  if (real === null || overlay === null || !holds(overlay.at) || [tree, ...write, ...hidden].some(holds)) return real;
  return join(overlay.on, "seen", relative(look.real(overlay.at) ?? overlay.at, real));
}

/** A path whose end may be missing, its existing beginning without symbolic links. */
function realPlace(path: string, look: PathLook): string {
  const whole = look.real(path);
  if (whole !== null || dirname(path) === path) return whole ?? path;
  return join(realPlace(dirname(path), look), path.slice(dirname(path).length).replace(/^\//, ""));
}

/** Reading opens what is hidden and closes nothing; what only says again what holds it already does nothing. */
function needed({ at, access }: Mount, all: ReadonlyMap<string, Mount>, look: PathLook): boolean {
  const holder = holderOf(at, all, look);
  switch (access) {
    case "hidden":
      return holder !== "hidden";
    case "read":
      return holder === "hidden";
    case "never":
      return holder === "write" || holder === "shown" || holder === "cache";
    case "write":
      return holder !== "write";
    case "cache":
    case "shown":
      return true;
  }
}

/** A folder that is not there is made where a process has one of its own; in what is shown of the machine it cannot be. */
function canBeMade({ at, access }: Mount, all: ReadonlyMap<string, Mount>, look: PathLook): boolean {
  return access !== "cache" || look.real(at) !== null || ["hidden", "shown"].includes(holderOf(at, all, look));
}

/** The access of the folder that a path is in. */
function holderOf(path: string, all: ReadonlyMap<string, Mount>, { own = ["/dev"] }: Pick<PathLook, "own">) {
  for (let above = dirname(path);; above = dirname(above)) {
    const holder = all.get(above);
    if (holder !== undefined) return holder.access;
    if (own.includes(above)) return "hidden";
    if (above === dirname(above)) return "read"; // as everything is
  }
}

/**
 * Folders between a writable one and what must not be written in it: mounted onto themselves they cannot be renamed
 * away, and what must not be written cannot be replaced.
 */
function pins(mounts: readonly Mount[]): readonly Mount[] {
  const taken = new Set(mounts.map(({ at }) => at));
  const found = new Map<string, Mount>();
  for (const { at } of mounts.filter(({ access }) => access === "never")) {
    const holder = mounts.filter((mount) => isAbove(mount.at, at) && ["write", "shown"].includes(mount.access))
      .sort((a, b) => depth(b.at) - depth(a.at))[0];
    if (holder === undefined) continue;
    for (let folder = dirname(at); isAbove(holder.at, folder); folder = dirname(folder)) {
      const from = join(holder.from, folder.slice(holder.at.length));
      if (!taken.has(folder)) found.set(folder, { at: folder, from, access: "write" });
    }
  }
  return [...found.values()];
}

function isAbove(above: string, path: string): boolean {
  return path !== above && path.startsWith(above === "/" ? "/" : `${above}/`);
}

function depth(path: string): number {
  return path.split("/").length;
}

/** Root has the most of them in a namespace that holds all users. */
type Rights = "least" | "most" | "most of root";

/** How one process is started. */
export interface BubblewrapStart {
  readonly cwd: string;
  /** All three streams are the person's terminal. */
  readonly terminal: boolean;
  /** No network but a socket that leads to the proxy. */
  readonly network: "all" | "none";
  /** Bound read-only where it is hidden otherwise. */
  readonly socket: string | null;
  /** @default "least" */
  readonly rights?: Rights;
  /** `all`: numbers of processes mean the same inside and outside, in files that tools leave behind as well. @default "own" */
  readonly processes?: "own" | "all";
  /** The user that it is; behind an overlay it would be 0. @default the one that starts it */
  readonly ids?: { readonly uid: number; readonly gid: number };
}

const RIGHTS: Readonly<Record<Rights, readonly string[]>> = {
  least: ["--unshare-user", "--unshare-ipc", "--cap-drop", "ALL"],
  most: ["--unshare-user", "--cap-drop", "ALL"],
  "most of root": ["--cap-add", "ALL"], // it gives them up when it enters its namespace of users
};

/** Only the system's own programs: a turn may write to a folder of PATH. */
export const SYSTEM_PATH = "/usr/bin:/bin:/run/current-system/sw/bin";

/** The rights of processes that share a namespace of mounts. */
export type HoldRights = Exclude<Rights, "least">;

/** A comma or a colon in a path would end it: no path is given. */
const OVERLAY_SCRIPT =
  `exec 8<"$2" && cd "$1" && mount -t overlay -o "lowerdir=/proc/self/fd/8,upperdir=home,workdir=work,userxattr" ralph seen 2>&- ||
{ echo "$3" >&2; exit 125; }`;

/** A namespace that maps each user to itself: inside root changes owners and becomes others, to the outside it is no one. */
const USERS_SCRIPT = `map() { while read -r id _ count; do echo "$id $id $count"; done <"/proc/self/$1"; }
users=$(map uid_map) groups=$(map gid_map)
held=$(unshare -U /bin/sh -c 'sleep 60 >/dev/null 2>&1 & echo $!')
echo "$users" >"/proc/$held/uid_map" && echo "$groups" >"/proc/$held/gid_map" && exec 9<"/proc/$held/ns/user" || exit 125
kill "$held"`;

/** It says its number, and stands still: what it made stays for as long as it is there. */
const HOLD_SCRIPT = `echo "$$"; while kill -STOP "$$"; do :; done`;

/** Arguments of the bubblewrap that lays the overlay, makes root's namespace of users, and holds both. */
export function holdArguments(overlay: Confinement["overlay"], rights: HoldRights): readonly string[] {
  const isRoot = rights === "most of root";
  const { at, on } = overlay ?? { at: "", on: "" };
  const below = isRoot || overlay === null ? [] : mountedBelow(at); // root may lay an overlay over less than all
  const failed = below.length > 0
    ? `a file system is mounted at ${below[0]} in the home folder`
    : `the kernel lays no overlay over ${at} that keeps what is written in ${on}`;
  const script = [...overlay === null ? [] : [OVERLAY_SCRIPT], ...isRoot ? [USERS_SCRIPT] : [], HOLD_SCRIPT];
  return [
    ...words("--die-with-parent --dev-bind / /"),
    ...(isRoot ? [] : words("--unshare-user --uid 0 --gid 0")),
    ...words("--cap-add ALL -- /bin/sh -c"),
    [`PATH=${SYSTEM_PATH}`, ...script].join("\n"),
    "sh",
    on,
    at,
    failed,
  ];
}

/** The words that start a program in the namespace of a process that holds it. Root finds its users' at 9. */
export function enterArguments(holder: string, rights: HoldRights, nsenter: string): readonly string[] {
  if (rights === "most") return [nsenter, `--target=${holder}`, ...words("--user --mount --preserve-credentials --")];
  return [
    "/bin/sh",
    "-c",
    'exec 9<"/proc/$0/fd/9" && exec "$@"',
    holder,
    nsenter,
    `--target=${holder}`,
    "--mount",
    "--",
  ];
}

/** Arguments of bubblewrap up to the command. Pure but for the look at what is a folder. */
export function bubblewrapArguments(
  { ownProc, closed }: Bubblewrap,
  mounts: readonly Mount[],
  { cwd, terminal, network, socket, rights = "least", processes = "own", ids }: BubblewrapStart,
  look: Pick<PathLook, "isFolder"> = REAL_PATHS,
): readonly string[] {
  return [
    "--die-with-parent",
    ...(terminal ? [] : ["--new-session"]),
    ...(processes === "own" ? ["--unshare-pid"] : []),
    "--unshare-uts",
    ...(network === "none" ? ["--unshare-net"] : []),
    ...RIGHTS[rights],
    ...(ids === undefined ? [] : ["--uid", `${ids.uid}`, "--gid", `${ids.gid}`]),
    "--ro-bind",
    "/",
    "/",
    ...(rights === "most" ? ["--dev-bind", "/dev", "/dev"] : ["--dev", "/dev"]),
    ...(rights === "most of root" ? ["--bind-try", "/dev/shm", "/dev/shm"] : []), // no disks, but what programs share
    ...(processes === "all" ? ["--bind", "/proc", "/proc"] : procOf(ownProc)),
    // for the super-user the kernel asks for no capability there
    ...KERNEL_SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...mounts.flatMap((mount) => mountArguments(mount, look)),
    ...(socket === null ? [] : ["--bind", socket, socket]),
    ...(closed && rights === "least" ? ["--disable-userns"] : []),
    "--chdir",
    cwd,
    "--",
  ];
}

function procOf(ownProc: boolean): readonly string[] {
  return ownProc ? ["--proc", "/proc"] : ["--ro-bind", "/proc", "/proc"];
}

function mountArguments({ at, from, access }: Mount, look: Pick<PathLook, "isFolder">): readonly string[] {
  switch (access) {
    case "hidden":
      return look.isFolder(from)
        ? ["--perms", at === "/tmp" || at === "/var/tmp" ? "1777" : "0700", "--tmpfs", at]
        : ["--dev-bind", "/dev/null", at]; // bound otherwise, it could not be read
    case "read":
    case "never":
      return ["--ro-bind", from, at];
    case "write":
    case "shown":
    case "cache":
      return ["--bind", from, at];
  }
}
