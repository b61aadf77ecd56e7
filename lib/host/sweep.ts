import { orElse } from "./looks.ts";
import { findProcess, lastPid, listPids, outputOf, type ProcessEntry, readOrNull } from "./process_table.ts";

/** The environment variable that marks every guarded descendant. Nested runs join their marks with `:`. */
export const TREE_VARIABLE = "RALPH_TREE";

/** The same for a child that is not to see by its environment who runs it. The service manager of Linux sets it too. */
export const PLAIN_VARIABLE = "INVOCATION_ID";

const SHORT_RUN_MS = 5000;
const EXEC_ROUNDS = 10;

/** Carriers of a mark are looked for among the processes that started after `pid`, if that is not long ago. */
export interface SweepSince {
  readonly pid: number;
  readonly ageMs: number;
}

/**
 * Running processes whose environment carries the mark: one run of a process (`token.n`), or a whole Ralph (`token`).
 * None on Windows, which does not show environments.
 */
export async function findCarriers(
  mark: string,
  since?: SweepSince,
  variables: readonly string[] = [TREE_VARIABLE, PLAIN_VARIABLE],
): Promise<readonly ProcessEntry[]> {
  if (process.platform === "win32") return [];
  const candidates = candidatePids(since);
  if (candidates === null) return await findCarriersByPs(mark, variables);
  const isCarrier = async (pid: number): Promise<boolean> => {
    const environment = await environmentOf(pid, since);
    return variables.some((variable) => carries(environment, mark, variable));
  };
  const found: ProcessEntry[] = [];
  for (const pid of candidates) {
    if (pid === process.pid || !await isCarrier(pid)) continue;
    const entry = await findProcess(pid);
    if (entry !== null) found.push(entry);
  }
  return found;
}

/**
 * A process that is just being replaced by another program shows an empty environment for a moment: what an agent started
 * with its last breath would be missed. Kernel threads and zombies stay empty.
 */
async function environmentOf(pid: number, since: SweepSince | undefined): Promise<string | null> {
  const file = `/proc/${pid}/environ`;
  let environment = readOrNull(file);
  for (let round = 0; environment === "" && since !== undefined && round < EXEC_ROUNDS; round++) {
    if (/^\d+ \(.*\) [ZX]/s.test(readOrNull(`/proc/${pid}/stat`) ?? "")) return null;
    await new Promise((resolve) => setTimeout(resolve, 2));
    environment = readOrNull(file);
  }
  return environment;
}

/** Sends a signal to a process, or with a negative pid to a group. False when there is none, or it is not ours. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  return orElse(() => process.kill(pid, signal), false);
}

/** The pids of processes that may have started since; all where that is not known, `null` where the system lists none. */
export function candidatePids(since: SweepSince | undefined): readonly number[] | null {
  const last = since !== undefined && since.ageMs < SHORT_RUN_MS ? lastPid() : null;
  if (since === undefined || last === null) return listPids();
  if (last === since.pid) return []; // nothing has started after it
  return listPids()?.filter((pid) => (last < since.pid ? pid > since.pid || pid <= last : pid > since.pid)) ?? null;
}

function carries(environment: string | null, mark: string, variable: string): boolean {
  if (environment?.includes(mark) !== true) return false; // nearly all: not worth taking apart
  return marksIn(environment, variable).some((one) => one === mark || one.startsWith(`${mark}.`));
}

/** The marks that a variable of an environment has, as `/proc` shows it. */
export function marksIn(environment: string | null, variable: string): readonly string[] {
  const entry = environment?.split("\0").find((one) => one.startsWith(`${variable}=`));
  return entry?.slice(variable.length + 1).split(":") ?? [];
}

async function findCarriersByPs(mark: string, variables: readonly string[]): Promise<readonly ProcessEntry[]> {
  const flags = process.platform === "darwin" ? ["-axEww"] : ["axeww"];
  const text = await outputOf("ps", [...flags, "-o", "pid=,command="]);
  const found: ProcessEntry[] = [];
  for (const line of text.split("\n")) {
    const isCarrier = variables.some((variable) => {
      const value = new RegExp(`\\s${variable}=(\\S*)`).exec(line)?.[1];
      return value !== undefined && carries(`${variable}=${value}`, mark, variable);
    });
    if (!isCarrier) continue;
    const entry = await findProcess(Number.parseInt(line, 10));
    if (entry !== null && entry.pid !== process.pid) found.push(entry);
  }
  return found;
}
