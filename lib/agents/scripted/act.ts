import { appendText, ensureDirectory, removePath, resolveInside, writeAtomic } from "../../host/files.ts";
import { shellInvocation } from "../../host/shell.ts";
import type { Host, ProcessEnd } from "../../host/types.ts";
import type { TurnRecord } from "../turn_record.ts";
import type { TurnRequest } from "../../context/agent.ts";
import { dirname } from "node:path";
import { delayMs, listOf } from "./script.ts";
import type { ScriptedTurn } from "./types.ts";

/** How a scripted turn came to its end, as a process's end would tell it. */
export type ActEnd = Pick<ProcessEnd, "reason" | "exitCode">;

/** Does what a turn says, for real. */
export async function act(host: Host, turn: ScriptedTurn, request: TurnRequest, record: TurnRecord): Promise<ActEnd> {
  const deadline = host.clock.now() + request.timeoutMs;
  const stopped = await wait(host, delayMs(turn.delay), deadline, request.signal);
  if (stopped !== null) return stopped;
  await changeFiles(turn, request.cwd);
  for (const command of listOf(turn.run)) {
    await record.noise(Buffer.from(`$ ${command}\n`));
    const end = await runCommand(host, command, deadline, request, record);
    if (end.reason !== "exited") return { reason: end.reason, exitCode: null };
  }
  if (turn.stderr !== undefined) await record.noise(Buffer.from(withNewline(turn.stderr)));
  if (turn.say !== undefined) {
    const words = listOf(turn.say).join("\n").replaceAll("{{nonce}}", request.nonce ?? "");
    await record.words(Buffer.from(withNewline(words)));
  }
  if (turn.hang === true) {
    return await wait(host, Infinity, deadline, request.signal) ?? { reason: "timed-out", exitCode: null };
  }
  return { reason: "exited", exitCode: turn.exit ?? 0 };
}

async function changeFiles(turn: ScriptedTurn, cwd: string): Promise<void> {
  for (const [path, content] of Object.entries(turn.write ?? {})) {
    const target = await resolveInside(cwd, path);
    await ensureDirectory(dirname(target));
    await writeAtomic(target, content);
  }
  for (const [path, content] of Object.entries(turn.append ?? {})) {
    await appendText(await resolveInside(cwd, path), content);
  }
  for (const path of turn.delete ?? []) await removePath(await resolveInside(cwd, path));
}

async function runCommand(
  host: Host,
  command: string,
  deadline: number,
  request: TurnRequest,
  record: TurnRecord,
): Promise<ProcessEnd> {
  const end = await host.processes.run({
    ...await shellInvocation(command, host.environment),
    cwd: request.cwd,
    environment: request.environment,
    timeoutMs: Math.max(1, deadline - host.clock.now()),
    signal: request.signal,
    ...(request.onStart === undefined ? {} : { onStart: request.onStart }),
    onOutput: (chunk) => record.noise(chunk),
  });
  if (end.reason === "exited" && end.exitCode !== 0) {
    await record.noise(Buffer.from(`[exit code ${end.exitCode ?? end.signal}]\n`));
  }
  return end;
}

/** Waits as long as the turn may. @returns how the turn ended meanwhile, or `null` */
async function wait(host: Host, milliseconds: number, deadline: number, signal: AbortSignal): Promise<ActEnd | null> {
  const left = deadline - host.clock.now();
  if (milliseconds > 0) await host.clock.sleep(Math.min(milliseconds, left), signal);
  if (signal.aborted) return { reason: "aborted", exitCode: null };
  return milliseconds > left ? { reason: "timed-out", exitCode: null } : null;
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
