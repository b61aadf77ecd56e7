import { basename } from "node:path";
import type { Confiner, Lacking } from "./confine.ts";
import type { Confinement } from "./confinement.ts";
import { mountsOf } from "./bubblewrap.ts";
import { privateFolders } from "./private_folders.ts";
import { findExecutable } from "./shell.ts";
import { PLAIN_VARIABLE, TREE_VARIABLE } from "./sweep.ts";
import type { Host, ProcessEnd, ProcessRequest, Variables } from "./types.ts";

/** Variables that are the container's own. */
const OWN_VARIABLES: readonly string[] = ["PATH", "PWD", "OLDPWD", "TMPDIR", "SHELL", "HOSTNAME", "_"];

/** A container is no child of the command that starts it: by these its processes are found and ended with the rest. */
const MARKS: readonly string[] = [TREE_VARIABLE, PLAIN_VARIABLE];

/** The values that words of the command are filled with. */
export interface CommandValues {
  /** The folder that the process starts in. */
  readonly cwd: string;
  /** The working tree's path as the process sees it. */
  readonly root: string;
  /** The folder of the machine that is seen there: the tree, or a clean checkout. */
  readonly tree: string;
  /** Unique. */
  readonly name: string;
  /** Words that stand for `{mounts}`: `--volume FROM:AT`, `--volume FROM:AT:ro`. */
  readonly mounts: readonly string[];
  /** Words that stand for `{env}`: `--env NAME`. */
  readonly env: readonly string[];
}

/** The words of the command with what they stand for. Pure. */
export function filled(command: readonly string[], values: CommandValues): readonly string[] {
  return command.flatMap((word) => {
    if (word === "{mounts}") return values.mounts;
    if (word === "{env}") return values.env;
    return [
      word.replaceAll(/\{(cwd|root|tree|name)\}/g, (_match, name: "cwd" | "root" | "tree" | "name") => values[name]),
    ];
  });
}

/** Processes that a command of the configuration starts, such as `docker run …`; their own words come behind it. */
export async function commandConfiner(host: Host, command: readonly string[]): Promise<Confiner | Lacking> {
  const [program = ""] = command;
  const found = await findExecutable(program, host.environment, host.environment.cwd);
  if (found === null) {
    const hint = "install it, or change the command; docs/guides/sandbox.md has examples";
    return { problem: `\`${program}\` of \`sandbox.command\` is not on PATH`, hint };
  }

  const file: string = found;
  async function run(confinement: Confinement, request: ProcessRequest): Promise<ProcessEnd> {
    await using folders = await privateFolders(confinement.folders);
    const shown = [...confinement.shown, ...folders.shown];
    const { tree: root } = confinement;
    const environment = { ...request.environment, ...confinement.environment, PWD: request.cwd };
    const [, ...words] = filled(command, {
      cwd: request.cwd,
      root,
      tree: confinement.shown.find(({ at }) => at === root)?.from ?? root,
      name: `ralph-${host.ids.random(12)}`,
      mounts: volumes({ ...confinement, shown, hidden: [], read: [], caches: [] }),
      env: variables(host, environment, confinement.passed),
    });
    // what is installed inside is found there, by its name
    const inside = request.file.startsWith("/") ? basename(request.file) : request.file;
    const end = await host.processes.run({
      ...request,
      file,
      arguments: [...words, inside, ...request.arguments],
      environment,
    });
    await folders.keep();
    return end;
  }

  return { name: `\`${basename(program)}\` (sandbox.command)`, run, async [Symbol.asyncDispose]() {} };
}

function volumes(confinement: Confinement): readonly string[] {
  return mountsOf(confinement).flatMap(({ from, at, access }) => [
    "--volume",
    `${from}:${at}${access === "never" ? ":ro" : ""}`,
  ]);
}

/**
 * The variables that Ralph and the agent's adapter set, and the ones that are passed on by name; the rest is the
 * container's own. By name only: values are in the environment of the command, not in the table of processes.
 */
function variables({ environment }: Host, overlay: Variables, passed: readonly string[]): readonly string[] {
  const { variables: own } = environment;
  const set = Object.entries(overlay).filter(([name, value]) => value !== undefined && value !== own[name]);
  const names = new Set([...set.map(([name]) => name), ...passed.filter((name) => own[name] !== undefined), ...MARKS]);
  return [...names].filter((name) => !OWN_VARIABLES.includes(name)).flatMap((name) => ["--env", name]);
}
