import { join } from "node:path";
import type { KeptCopy } from "../../workspace/kept_copies.ts";
import { findBubblewrapProgram } from "../../host/find_bubblewrap.ts";
import type { Host } from "../../host/types.ts";

/**
 * How a checkout comes to the repository's own path: `full` with processes of its own, `bound` where that is not
 * possible, `elsewhere` where bubblewrap cannot: the commands run at the checkout's path. `reason`: why not `full`.
 */
export interface Namespace {
  readonly kind: "full" | "bound" | "elsewhere";
  readonly reason: string | null;
  /** Absolute path of bubblewrap; "" without it. */
  readonly program: string;
  /** Changes to a copied folder can be thrown away by an overlay. */
  readonly overlay: boolean;
}

const ELSEWHERE = "the final check ran in a copy at a different path";
const FULL = ["--unshare-pid", "--proc", "/proc"];

/** Asks bubblewrap what it can do on this machine. */
export async function probeNamespace(host: Host): Promise<Namespace> {
  const program = await findBubblewrapProgram(host.environment);
  if (program === null) return { kind: "elsewhere", reason: missing(host), program: "", overlay: false };
  const ask = async (...arguments_: string[]): Promise<{ works: boolean; text: string }> => {
    const end = await host.processes.run({ file: program, arguments: arguments_, cwd: "/", timeoutMs: 10_000 });
    return { works: end.exitCode === 0, text: end.tail };
  };
  const bind = ["--die-with-parent", "--dev-bind", "/", "/"];
  const full = await ask(...bind, ...FULL, program, "--help");
  const bound = full.works ? full : await ask(...bind, program, "--help");
  const reason = full.works ? null : `bubblewrap: ${full.text.trim().split("\n").at(-1) || "no message"}`;
  if (!bound.works) {
    return {
      kind: "elsewhere",
      reason: `bubblewrap fails here, so ${ELSEWHERE}. It says: ${reason}.`,
      program,
      overlay: false,
    };
  }
  const overlay = bound.text.includes("--tmp-overlay"); // 0.11 and later
  return { kind: full.works ? "full" : "bound", reason, program, overlay };
}

/** The one sentence that the run ends with, and the command that makes it go away. */
function missing({ environment: { platform } }: Host): string {
  if (platform !== "linux") return `bubblewrap works on Linux only, so ${ELSEWHERE}.`;
  return `bubblewrap is not installed, so ${ELSEWHERE}. \`apt-get install bubblewrap\` removes this note.`;
}

/** The folders that are laid over the repository's own path. Paths are absolute. */
export interface Mounts {
  readonly topLevel: string;
  readonly tree: string;
  /** Hidden: nothing of it is the check's business. */
  readonly cache: string;
  readonly cwd: string;
  readonly copies: readonly KeptCopy[];
  /** Paths of the tree that are shared with it, relative to the top level. */
  readonly links: readonly string[];
}

/** Arguments of bubblewrap up to the command. Pure. */
export function mountArguments({ kind, overlay }: Namespace, mounts: Mounts): readonly string[] {
  const { topLevel, tree, cache, cwd, copies, links } = mounts;
  const folders = copies.filter(({ isFolder }) => isFolder).flatMap(({ path, kept }) =>
    overlay ? ["--overlay-src", kept, "--tmp-overlay", join(topLevel, path)] : ["--bind", kept, join(topLevel, path)]
  );
  return [
    "--die-with-parent",
    "--dev-bind",
    "/",
    "/",
    ...(kind === "full" ? [...FULL, "--unsetenv", "INVOCATION_ID"] : []),
    "--bind",
    tree,
    topLevel,
    ...folders,
    ...links.flatMap((path) => ["--bind", join(topLevel, path), join(topLevel, path)]),
    ...(`${cache}/`.startsWith(`${topLevel}/`) ? [] : ["--tmpfs", cache]),
    "--chdir",
    cwd,
    "--",
  ];
}
