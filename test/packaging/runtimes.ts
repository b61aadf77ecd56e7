/** The ways in which Ralph is started, for tests that look at each. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { bunPath, denoPath, environment, ROOT } from "../../tools/runtimes.mjs";

/** A program, and the arguments before its own. */
export type Launch = readonly [file: string, ...arguments_: string[]];

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, in a folder, with nothing on standard input. */
export function finish(
  launch: Launch,
  arguments_: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const [file, ...first] = launch;
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...first, ...arguments_], {
      cwd,
      env: environment(variables),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => stdout += chunk.toString());
    child.stderr.on("data", (chunk: Buffer) => stderr += chunk.toString());
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** How `bin/ralph.ts` or what is built from it is started. */
export function ralphLaunches(): Readonly<Record<string, Launch>> {
  return {
    "bun, sources": [bunPath(), "--no-install", join(ROOT, "bin", "ralph.ts")],
    "deno, sources": [denoPath(), "run", "-A", join(ROOT, "bin", "ralph.ts")],
    "node, package": [process.execPath, join(ROOT, "dist", "bin", "ralph.js")],
    "bun, package": [bunPath(), "--no-install", join(ROOT, "dist", "bin", "ralph.js")],
    "binary": [join(ROOT, "dist", "ralph")],
  };
}

/** Compiles a program of the tests as the binary is compiled, and gives its path. */
export async function compile(source: string): Promise<string> {
  const output = join(mkdtempSync(join(tmpdir(), "ralph-compiled-")), "program");
  const { code, stdout, stderr } = await finish(
    [bunPath(), join(ROOT, "tools", "compile.mjs"), source, output],
    [],
    ROOT,
  );
  if (code !== 0 || !existsSync(output)) throw new Error(`could not compile ${source}:\n${stdout}${stderr}`);
  return output;
}
