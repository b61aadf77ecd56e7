import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { orElse } from "./looks.ts";
import { strictPipelines } from "./pipelines.ts";
import type { Environment } from "./types.ts";

/** A program and its arguments that run one command line. */
export interface ShellInvocation {
  readonly file: string;
  readonly arguments: readonly string[];
}

/** Without `--norc` bash reads `~/.bashrc` where standard input is a socket, and what that reads is lost to the command. */
const BASH: readonly string[] = ["--norc", "-c"];

/**
 * How a command line is run: `bash --norc -c` where there is bash, with pipelines that fail if a part of them fails,
 * else `sh -c`; on Windows Git's bash, else `cmd`. Other shells named bash on Windows (WSL) see another file system and
 * are passed over.
 */
export async function shellInvocation(command: string, environment: Environment): Promise<ShellInvocation> {
  const known = shells.get(environment) ?? findShell(environment);
  shells.set(environment, known);
  const shell = await known;
  return {
    file: shell.file,
    arguments: [...shell.arguments, shell.arguments === BASH ? strictPipelines(command) : command],
  };
}

/** A word as a POSIX shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Looked for once, before the first turn: a turn may put a `bash` of its own into a folder of PATH. */
const shells = new WeakMap<Environment, Promise<ShellInvocation>>();

async function findShell(environment: Environment): Promise<ShellInvocation> {
  if (environment.platform === "win32") return windowsShell(environment);
  const bash = await findExecutable("bash", environment, environment.cwd);
  if (bash !== null) return { file: bash, arguments: BASH };
  const sh = (await findExecutable("sh", environment, environment.cwd)) ?? "/bin/sh";
  return { file: sh, arguments: ["-c"] };
}

/** Absolute path of a program on PATH, or of a path as seen from `cwd`; `null` when it is missing or may not be run. */
export async function findExecutable(name: string, environment: Environment, cwd: string): Promise<string | null> {
  if (name === "") return null;
  const isPath = name.includes("/") || isAbsolute(name) || (environment.platform === "win32" && name.includes("\\"));
  const folders = isPath ? [cwd] : pathOf(environment).split(delimiter).map((folder) => resolve(cwd, folder));
  for (const folder of folders) {
    for (const extension of extensionsOf(name, environment)) {
      const path = resolve(folder, name + extension);
      if (await isExecutable(path)) return path;
    }
  }
  return null;
}

async function windowsShell(environment: Environment): Promise<ShellInvocation> {
  const git = await findExecutable("git", environment, environment.cwd);
  const folders = git === null ? [] : [join(dirname(git), "..", "bin"), join(dirname(git), "..", "..", "bin")];
  for (const folder of folders) {
    const bash = join(folder, "bash.exe");
    if (await isExecutable(bash)) return { file: bash, arguments: BASH };
  }
  return { file: environment.variables["ComSpec"] ?? "cmd.exe", arguments: ["/d", "/s", "/c"] };
}

function pathOf(environment: Environment): string {
  const { variables } = environment;
  if (environment.platform !== "win32") return variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  const name = Object.keys(variables).find((key) => key.toUpperCase() === "PATH");
  return (name === undefined ? undefined : variables[name]) ?? "";
}

function extensionsOf(name: string, environment: Environment): readonly string[] {
  if (environment.platform !== "win32") return [""];
  const extensions = (environment.variables["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");
  return extensions.some((extension) => extension !== "" && name.toLowerCase().endsWith(extension)) ? [""] : extensions;
}

async function isExecutable(path: string): Promise<boolean> {
  // Most folders of PATH have no such program: what is not there is not worth an error.
  const found = orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);
  return found?.isFile() === true && orElse(() => (accessSync(path, constants.X_OK), true), false);
}
