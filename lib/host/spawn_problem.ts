import type { ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import type { ProcessEnd, ProcessRequest } from "./types.ts";

/** Why a child could not be started, in words, as if it had said so itself. */
export async function spawnProblem(
  child: ChildProcess | Error,
  request: ProcessRequest,
): Promise<Pick<ProcessEnd, "stdout" | "stderr" | "tail">> {
  const error = child instanceof Error ? child : await new Promise<Error>((resolve) => child.on("error", resolve));
  const text = describe(error, request);
  return { stdout: "", stderr: text, tail: text };
}

function describe(error: NodeJS.ErrnoException, request: ProcessRequest): string {
  const { file, cwd } = request;
  if (!isFolder(cwd)) return `the folder ${cwd} does not exist`;
  switch (error.code) {
    case "ENOENT":
      return file.includes("/") ? `${file}: no such file, or its interpreter is missing` : `${file}: not found on PATH`;
    case "EACCES":
      return `${file}: not executable (permission denied)`;
    case "EAGAIN":
      return `${file}: the system has no room for another process (EAGAIN)`;
    case "EMFILE":
    case "ENFILE":
      return `${file}: too many open files (${error.code})`;
    case "E2BIG":
      return `${file}: arguments and environment are too long (E2BIG)`;
    case "ENOEXEC":
      return `${file}: not a program that this system can run (ENOEXEC)`;
    default:
      return `${file}: ${error.message}`;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
