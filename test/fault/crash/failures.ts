/** Makes one call of Ralph's own to the system fail, or Ralph die right before it, once for each such call of a run. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { wrongAfterCrash } from "./after_crash.ts";
import { asFound, type Names, writeTree } from "./disk.ts";
import type { CrashPoint } from "./points.ts";
import type { CrashProject } from "./projects.ts";
import { runProgram } from "./run_program.ts";

/** A call ends in one of these ways. */
export const FAULTS = ["fails", "dies"] as const;
export type Fault = typeof FAULTS[number];

/** Calls by which files change or programs start, with the error that each of them gets. */
const ERRORS: Readonly<Record<string, string>> = {
  openat: "EIO",
  write: "ENOSPC",
  pwrite64: "ENOSPC",
  rename: "EIO",
  renameat2: "EIO",
  mkdir: "ENOSPC",
  unlink: "EIO",
  ftruncate: "EIO",
  vfork: "EAGAIN",
};

const INTERNAL = 70;

interface Call {
  readonly name: string;
  /** The number among the calls of this name, from 1. */
  readonly number: number;
  readonly what: string;
}

/**
 * A point for each of the calls and each fault, in the order of the run. Only the main thread is watched: Ralph's own git
 * and the agent have their faults in `power_cut.ts`.
 */
export async function failurePoints(project: CrashProject, start: Names): Promise<readonly CrashPoint[]> {
  const tree = asFound(start);
  writeTree(project.root, tree);
  const calls = await callsOf(project);
  return calls.flatMap((call) =>
    FAULTS.map((fault) => ({
      what: `${project.workflow}, work in the ${project.leaving}: ${fault}: ${call.name} ${call.number} (${call.what})`,
      wrong: async () => {
        writeTree(project.root, tree);
        return await wrongWith(project, call, fault);
      },
    }))
  );
}

async function wrongWith(project: CrashProject, call: Call, fault: Fault): Promise<readonly string[]> {
  rmSync(join(project.folder, "home/.cache"), { recursive: true, force: true });
  const effect = fault === "dies" ? "signal=KILL" : `error=${ERRORS[call.name]}`;
  const { exitCode, output } = await watched(project, [
    "-e",
    `trace=${call.name}`,
    "-e",
    `inject=${call.name}:${effect}:when=${call.number}`,
  ]);
  const wrong = exitCode === INTERNAL ? [`an internal error: ${output.slice(-600)}`] : [];
  if (fault === "fails" && exitCode === null) wrong.push("it did not end");
  return [...wrong, ...await wrongAfterCrash(project)];
}

/** The calls of a whole run that touch the repository, or start a program. */
async function callsOf(project: CrashProject): Promise<readonly Call[]> {
  const { exitCode, output, trace } = await watched(project, ["-y", "-e", `trace=${Object.keys(ERRORS).join(",")}`]);
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}:\n${output}`);
  const counted = new Map<string, number>();
  const calls: Call[] = [];
  for (const line of trace.split("\n")) {
    const name = /^(\w+)\(/.exec(line)?.[1];
    if (name === undefined || !(name in ERRORS)) continue;
    const number = (counted.get(name) ?? 0) + 1;
    counted.set(name, number);
    const changes = name !== "openat" || /O_CREAT|O_WRONLY|O_RDWR/.test(line);
    if (name !== "vfork" && !(changes && line.includes(project.root))) continue;
    calls.push({ name, number, what: line.replaceAll(`${project.root}/`, "").slice(0, 120) });
  }
  return calls;
}

async function watched(
  { command, root, environment, folder }: CrashProject,
  options: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly output: string; readonly trace: string }> {
  const log = join(folder, "calls");
  const { exitCode, output } = await runProgram(["strace", "-o", log, ...options, ...command], {
    cwd: root,
    environment,
  });
  return { exitCode, output, trace: existsSync(log) ? readFileSync(log, "latin1") : "" };
}
