import { join } from "node:path";
import type { CheckOutcome } from "../../backlog/types.ts";
import { symbolicLink } from "../../host/files.ts";
import { mapPath, mapPaths } from "../../host/map_paths.ts";
import type { ShownPath } from "../../host/confinement.ts";
import type { ShellInvocation } from "../../host/shell.ts";
import type { Host } from "../../host/types.ts";
import type { KeptCopies, KeptCopy } from "../../workspace/kept_copies.ts";
import { hiddenVariables } from "./clean_git.ts";
import type { CheckoutHome } from "./home.ts";
import { mountArguments, type Mounts, type Namespace } from "./namespace.ts";
import type { CheckoutPlace, PlacedProcess } from "./types.ts";

/** Programs whose work is done by a service or a machine that sees other files than the command. */
const DAEMONS_REGEXP =
  /(^|[\s;&|(){}`"'/=])(docker|docker-compose|podman|podman-compose|nerdctl|kubectl|helm|ssh|scp|rsync)(?=$|[\s;&|)`"'])/;

/** The place of a checkout, and the path that it is laid over. Paths are absolute, but for `links`. */
export interface Ground {
  readonly host: Host;
  readonly topLevel: string;
  readonly home: CheckoutHome;
  readonly namespace: Namespace;
  /** Shared with the tree, relative to the top level. */
  readonly links: readonly string[];
}

/** The things that are laid into a checkout. */
export interface Laid {
  readonly kept: Pick<KeptCopies, "copies" | "copyInto">;
  /** Symbolic links of the commit, relative to the top level. */
  readonly committed: readonly string[];
}

/**
 * Copies into the checkout what cannot be bound over the root. At another path all is copied, shared folders are linked,
 * and what holds the root's path leads into the checkout.
 */
export async function layCopies(ground: Ground, { kept, committed }: Laid): Promise<void> {
  const { topLevel, home: { tree }, namespace, links } = ground;
  const isBound = namespace.kind !== "elsewhere";
  const folders = new Set(kept.copies.filter(({ isFolder }) => isFolder).map(({ path }) => path));
  const copied = await kept.copyInto(tree, (path) => !isBound || !folders.has(path));
  if (isBound) return;
  for (const path of [...copied, ...committed]) mapPaths(join(tree, path), topLevel, tree);
  for (const path of links) await symbolicLink(join(topLevel, path), join(tree, path));
}

/** The outcomes of commands, by the tree that they ran on: for one run, in memory. */
export type Results = Map<string, CheckOutcome>;

/** How checks are run in a checkout that has been brought up. @param tree what results are kept by */
export function placeOf(
  ground: Ground,
  laid: Laid,
  root: string,
  results: Results,
  tree: string,
): Pick<CheckoutPlace, "namespace" | "run" | "known" | "remember" | "directory"> {
  const { namespace, topLevel, home } = ground;
  let whole: Promise<void> | null = null;
  return {
    namespace,
    run: (shell, command, cwd) => placedProcess(ground, laid.kept.copies, shell, command, cwd),
    known: (command) => results.get(`${tree}\0${command}`) ?? null,
    remember: (command, outcome) => void results.set(`${tree}\0${command}`, outcome),
    async directory() {
      await (whole ??= layCopies({ ...ground, namespace: { ...namespace, kind: "elsewhere" } }, laid));
      return mapPath(root, topLevel, home.tree);
    },
  };
}

/** The process that runs a shell in the checkout, with nothing in its environment that shows who runs it. */
export function placedProcess(
  ground: Ground,
  copies: readonly KeptCopy[],
  { file, arguments: given }: ShellInvocation,
  command: string,
  cwd: string,
): PlacedProcess {
  const { host, topLevel, home, namespace, links } = ground;
  const { variables } = host.environment;
  const hidden = { ...hiddenVariables(variables), OLDPWD: undefined };
  const elsewhere = mapPath(cwd, topLevel, home.tree);
  const isDaemon = DAEMONS_REGEXP.test(command);
  if (namespace.kind === "elsewhere" || isDaemon) {
    const mapped = Object.entries(variables).filter(([name]) => !(name in hidden)).map(([name, value]) =>
      [name, value?.split(":").map((part) => mapPath(part, topLevel, home.tree)).join(":")] as const
    );
    const project = isDaemon ? { COMPOSE_PROJECT_NAME: `checkout-${host.ids.random(8)}` } : {};
    const environment = { ...Object.fromEntries(mapped), ...hidden, ...project, PWD: elsewhere };
    const sandbox = { role: "check", cwd: topLevel, shown: [{ from: home.tree, at: home.tree }] } as const;
    return { file, arguments: given, cwd: elsewhere, environment, plain: true, sandbox };
  }
  const { tree, cache } = home;
  const mounts = { topLevel, tree, cache, cwd, copies, links };
  return {
    file: namespace.program,
    arguments: [...mountArguments(namespace, mounts), file, ...given],
    cwd: "/",
    environment: { ...variables, ...hidden, PWD: cwd },
    plain: true,
    sandbox: {
      role: "check",
      cwd: topLevel,
      shown: shownPaths(mounts),
      inside: { file, arguments: given, cwd },
    },
  };
}

/** In a sandbox the same paths are laid over the root by the sandbox itself. */
function shownPaths({ topLevel, tree, copies, links }: Mounts): readonly ShownPath[] {
  return [
    { from: tree, at: topLevel },
    ...copies.filter(({ isFolder }) => isFolder).map(({ path, kept }) => ({ from: kept, at: join(topLevel, path) })),
    ...links.map((path) => ({ from: join(topLevel, path), at: join(topLevel, path) })),
  ];
}
