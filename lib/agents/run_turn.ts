import { basename, dirname } from "node:path";
import { CLAIMS_VARIABLE } from "../backlog/claims.ts";
import { createNewestLine } from "../events/newest_line.ts";
import { redactorFor } from "../events/redact.ts";
import type { SandboxRequest } from "../host/confinement.ts";
import { foldersAbove } from "../host/programs.ts";
import type { Host, ProcessEnd, ProcessRequest } from "../host/types.ts";
import type { AgentTurn, TurnEnd } from "../backlog/types.ts";
import { plainLimit } from "./plain_limit.ts";
import { turnEndOf, UNKNOWN_USAGE } from "./turn_end.ts";
import { openTurnRecord, type TextSink, type TurnRecord } from "./turn_record.ts";
import type { TurnRequest } from "../context/context.ts";

/** The process that is one turn. */
export type AgentInvocation =
  & Pick<ProcessRequest, "arguments" | "environment" | "file" | "input">
  & Pick<SandboxRequest, "needs" | "read" | "state" | "write">;

/** How output is read, where it is more than plain text. */
export interface TurnReading {
  readonly sink: TextSink;
  /** Looks at what is printed, on either stream. @default nothing */
  readonly watch?: (chunk: Uint8Array) => void;
  /** Judges what ended the turn; called when all of the output is read. */
  readonly judge: (end: ProcessEnd) => TurnEnd;
}

/** An agent that was started from inside another one would refuse to run. */
const NESTED_SESSION = { CLAUDECODE: undefined };

/**
 * Runs one turn as a process: secrets in its output are masked before anything else sees it, and what ends the turn ends
 * the whole process tree. Standard error is in the transcript and never among the agent's words.
 *
 * @throws {RalphError} file-unwritable when the transcript cannot be written
 */
export async function runTurn(
  host: Host,
  invocation: AgentInvocation,
  request: TurnRequest,
  reading?: TurnReading,
): Promise<AgentTurn> {
  const redactor = redactorFor({ ...host.environment.variables, ...request.environment });
  const record = await openTurnRecord(request, reading?.sink);
  const newest = reading === undefined && request.onPreview !== undefined ? createNewestLine() : null;
  if (newest !== null) request.onPreview?.(newest.read);
  const environment = { ...NESTED_SESSION, ...request.environment, ...invocation.environment };
  let end: ProcessEnd;
  let words: Awaited<ReturnType<TurnRecord["finish"]>> = { text: "", lines: [] };
  try {
    end = await host.processes.run({
      file: invocation.file,
      arguments: invocation.arguments,
      cwd: request.cwd,
      environment,
      sandbox: turnSandbox(invocation, request),
      timeoutMs: request.timeoutMs,
      signal: request.signal,
      ...(request.onStart === undefined ? {} : { onStart: request.onStart }),
      ...(request.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: request.idleTimeoutMs }),
      ...(request.interactive === true ? { terminal: true } : {
        input: invocation.input ?? "",
        mask: () => redactor.stream(),
        onOutput: (chunk, stream) => {
          newest?.push(chunk);
          reading?.watch?.(chunk);
          return stream === "stdout" ? record.words(chunk) : record.noise(chunk);
        },
      }),
    });
  } finally {
    words = await record.finish();
  }
  const plainEnd = (ended: ProcessEnd): TurnEnd =>
    plainLimit(ended, { prompt: request.prompt, now: host.clock.now() }) ?? turnEndOf(ended, request);
  return {
    end: reading === undefined ? plainEnd(end) : reading.judge(end),
    text: redactor.text(words.text), // a colour within a secret is gone by now
    lines: words.lines.map((line) => redactor.text(line)),
    usage: UNKNOWN_USAGE,
    transcript: request.transcript,
    durationMs: end.durationMs,
    exitCode: end.exitCode,
  };
}

/** The tree, the file of claims, and what the agent needs; never the folders of runs. */
function turnSandbox(
  { needs, read = [], state = [], write = [] }: AgentInvocation,
  { cwd, transcript, environment }: TurnRequest,
): SandboxRequest {
  const claims = environment[CLAIMS_VARIABLE] || null;
  return {
    role: "turn",
    cwd,
    read,
    state,
    write: [...write, ...(claims === null ? [] : [dirname(claims)])],
    never: runsFolder(transcript, environment["RALPH_RUN"]),
    ...(needs === undefined ? {} : { needs }),
  };
}

/** The folder that holds this run's folder, where the transcript is in it. */
function runsFolder(transcript: string, run: string | undefined): readonly string[] {
  const folder = foldersAbove(dirname(transcript)).find((one) => basename(one) === run);
  return folder === undefined ? [] : [dirname(folder)];
}
