import { basename, delimiter, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePrivateDirectory, pathExists, readText, writeAtomic } from "../host/files.ts";
import { shellWord } from "../host/shell.ts";
import type { Environment, Host } from "../host/types.ts";
import { CLAIMS_VARIABLE } from "../backlog/claims.ts";
import type { Item } from "../backlog/types.ts";

/** The place of a turn; a context is one. */
export interface TurnPlace {
  readonly root: string;
  readonly lane?: number;
  readonly run: { readonly id: string };
  readonly host: Host;
  readonly repository: { readonly ralphDirectory: string } | null;
}

/** A shell uses this if no PATH is set. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The environment of an agent: where it is, and this very `ralph` first on its PATH. */
export async function turnEnvironment(place: TurnPlace, item: Item | null): Promise<Record<string, string>> {
  const { environment } = place.host;
  const shims = place.repository === null
    ? null
    : await writeShims(join(place.repository.ralphDirectory, "bin"), environment);
  const { variables, platform } = environment;
  const isPath = (name: string): boolean => name.toUpperCase() === "PATH";
  const path = platform === "win32" ? Object.keys(variables).find(isPath) ?? "Path" : "PATH";
  return {
    RALPH_ROOT: place.root,
    RALPH_RUN: place.run.id,
    ...(place.lane === undefined ? {} : { RALPH_LANE: `${place.lane}` }),
    [CLAIMS_VARIABLE]: "", // another run's, where this one was started inside of its turn
    ...(item === null ? {} : { RALPH_ITEM: item.id }),
    ...(shims === null ? {} : { [path]: `${shims}${delimiter}${variables[path] ?? DEFAULT_PATH}` }),
  };
}

/** Writes a `ralph` that starts this very program, whatever runs it. @returns its folder, or `null` when there is no program */
async function writeShims(folder: string, environment: Environment): Promise<string | null> {
  const program = await programOf(environment);
  if (program === null) return null;
  const shell = `#!/bin/sh\nexec ${program.map(shellWord).join(" ")} "$@"\n`;
  await writeShim(folder, "ralph", shell);
  if (environment.platform === "win32") {
    await writeShim(folder, "ralph.cmd", `@${program.map((part) => `"${part}"`).join(" ")} %*\r\n`);
  }
  return folder;
}

async function writeShim(folder: string, name: string, content: string): Promise<void> {
  const path = join(folder, name);
  if (await readText(path) === content) return;
  await ensurePrivateDirectory(folder);
  await writeAtomic(path, content, { mode: 0o755 });
}

/** How this very program is started again; `null` when there is none. */
export async function programOf(environment: Environment): Promise<readonly string[] | null> {
  if (environment.compiled) return [environment.executable];
  // Not the script that was started: a recipe or a build script may be using the SDK.
  const here = fileURLToPath(import.meta.url);
  const program = fileURLToPath(new URL(`../../bin/ralph${extname(here)}`, import.meta.url));
  if (!(await pathExists(program))) return null;
  const isDeno = /^deno(\.exe)?$/i.test(basename(environment.executable));
  return isDeno ? [environment.executable, "run", "-A", program] : [environment.executable, program];
}
