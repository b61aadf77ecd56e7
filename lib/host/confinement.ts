/**
 * The rights of a confined process, as data: made by the sandbox's policy, enforced by its backend.
 *
 * @module
 */

/** The needs of an agent's program: from the person's home, the network and the environment. */
export interface AgentNeeds {
  /** Folders that hold its login and its settings. */
  readonly folders: readonly NeededFolder[];
  /** Further paths that it reads, such as where it is installed; `~` is the home folder. */
  readonly read?: readonly string[];
  /** Hosts that it talks to: `api.example.com`, `*.example.com`. */
  readonly hosts: readonly string[];
  /** Variables that hold its keys. */
  readonly keys: readonly string[];
}

/** A folder of an agent. Inside the sandbox it is a new one, with copies, and is thrown away with the turn. */
export interface NeededFolder {
  /** `~/.claude`, or `~` for single files. */
  readonly path: string;
  /** The environment variable that moves it. */
  readonly variable?: string;
  /** Files and folders in it that are copied. */
  readonly copy: readonly string[];
  /** The ones that are copied back if the turn has changed them: logins, which are renewed. */
  readonly keep: readonly string[];
}

/** The kind of process that is confined. */
export type ConfinedRole = "turn" | "check" | "hook" | "service" | "setup";

/** A request to the sandbox for one process. */
export interface SandboxRequest {
  readonly role: ConfinedRole;
  /** Absolute path of the working tree, or of a folder in it. */
  readonly cwd: string;
  /** The needs of the agent that is started. */
  readonly needs?: AgentNeeds;
  /** Further folders that an agent may keep its state in, where its program is not known: `light` lets it. */
  readonly state?: readonly (Pick<NeededFolder, "path" | "variable"> & Partial<NeededFolder>)[];
  /** Absolute paths that it may write besides, such as a folder of its own. */
  readonly write?: readonly string[];
  /** Absolute paths that it may read besides. */
  readonly read?: readonly string[];
  /** Absolute paths that it must not write, though the tree has them. */
  readonly never?: readonly string[];
  /** Another tree, shown at the tree's path. */
  readonly shown?: readonly ShownPath[];
  /** A check that passes with exit code 0: `light` may try it outside. */
  readonly check?: TriedCheck;
  /** Started instead of the request's own process where it is confined. */
  readonly inside?: { readonly file: string; readonly arguments: readonly string[]; readonly cwd: string };
}

/** A check that is tried inside and, where it fails, outside. */
export interface TriedCheck {
  readonly command: string;
  /** Called before it runs once more: what it printed so far does not count. */
  readonly again: () => void;
}

/** A path that is seen at another one. Absolute. */
export interface ShownPath {
  readonly from: string;
  readonly at: string;
}

/** A folder of its own at a path, with copies of some of what is there. */
export interface PrivateFolder {
  readonly at: string;
  readonly copy: readonly string[];
  readonly keep: readonly string[];
}

/**
 * The rights of one process. Paths are absolute, some may not exist. If two entries hold a file, the deeper one
 * decides; if two are for the same path, `never` goes before `write`, `write` before `read`, `read` before `hidden`.
 */
export interface Confinement {
  readonly role: ConfinedRole;
  /** `least`: what is named below. `most`: what the person has, but what is named below; `light` gives them. */
  readonly rights: "least" | "most";
  /** The folder `at` is seen as it is; what is written there comes into a folder that is made in `on`. */
  readonly overlay: { readonly at: string; readonly on: string } | null;
  /** The working tree that it is about. */
  readonly tree: string;
  readonly write: readonly string[];
  /** Read-only, whatever `write` says. */
  readonly never: readonly string[];
  readonly read: readonly string[];
  /** An empty folder of its own is there instead, or an empty file. */
  readonly hidden: readonly string[];
  /** Seen at another path, writable. */
  readonly shown: readonly ShownPath[];
  /** Made for this process, writable, and removed after it. */
  readonly folders: readonly PrivateFolder[];
  /** Kept between runs for processes of this project alone; made where they are missing. */
  readonly caches: readonly ShownPath[];
  /** Everything, nothing, or these hosts; `localhost:3000` is the machine's port at the same port inside. */
  readonly network: "all" | "none" | readonly string[];
  /**
   * Files of the agent's own in the home folder: after a turn they come from the overlay to their place. Ralph does not
   * name a file that begins with such a name.
   */
  readonly own: readonly string[];
  /** Laid over the environment; `undefined` takes a variable away. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that are passed on whatever they are called: the agent's keys, and those of the configuration. */
  readonly passed: readonly string[];
}
