import { spawn } from "node:child_process";

const LONGEST_MS = 120_000;

/** How a program ended. */
export interface Ended {
  readonly exitCode: number | null;
  /** Both streams, in the order in which they came. */
  readonly output: string;
}

/** Runs a program to its own end: what outlives it and holds its output is not waited for. */
export async function runProgram(
  [file = "", ...args]: readonly string[],
  { cwd, environment, longestMs = LONGEST_MS }: {
    readonly cwd: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly longestMs?: number;
  },
): Promise<Ended> {
  const child = spawn(file, args, {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  let output = "";
  const take = (chunk: Buffer): void => void (output += chunk.toString("utf8"));
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const exitCode = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("exit", (code) => setImmediate(done, code));
  });
  child.stdout.destroy();
  child.stderr.destroy();
  return { exitCode, output };
}
