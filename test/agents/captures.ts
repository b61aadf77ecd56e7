import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { AgentEvent, Driver } from "../../lib/agents/adapter.ts";
import { ADAPTERS, findAdapter } from "../../lib/agents/adapters.ts";
import { createStreamReader } from "../../lib/agents/stream_reader.ts";
import type { StreamSummary } from "../../lib/agents/stream_summary.ts";
import { turnVerdict } from "../../lib/agents/turn_verdict.ts";
import type { ProcessEnd } from "../../lib/host/types.ts";
import type { TurnEnd } from "../../lib/backlog/types.ts";

/** The folder that keeps output of the real programs; not part of the project. */
export const CAPTURES: string = join(
  process.env["RALPH_SHARED"] ?? resolve(import.meta.dirname, "../../../shared"),
  "captures",
);

export const CAPTURED_AT: number = Date.parse("2026-11-21T21:00:00Z");

export interface Read {
  readonly end: TurnEnd;
  readonly text: string;
  readonly lines: readonly string[];
  readonly events: readonly AgentEvent[];
  readonly summary: StreamSummary;
}

export interface Exit {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly reason?: ProcessEnd["reason"];
  readonly stderr?: string;
}

const DRIVERS = new Map<string, Driver>();
for (const { name, load } of ADAPTERS) DRIVERS.set(name, await load());

/** The driver of a known agent. */
export function driverOf(agent: string): Driver {
  const driver = DRIVERS.get(agent);
  if (driver === undefined) throw new Error(`no agent: ${agent}`);
  return driver;
}

/** Reads a stream as `agent` would, in chunks of this many bytes. */
export function readStream(
  agent: string,
  stdout: Uint8Array,
  exit: Exit,
  options: { prompt?: string; chunk?: number; now?: number } = {},
): Read {
  const adapter = findAdapter(agent);
  const driver = driverOf(agent);
  if (adapter === undefined || driver.translator === null) throw new Error(`no stream: ${agent}`);
  const events: AgentEvent[] = [];
  const reader = createStreamReader({
    translator: driver.translator(),
    prompt: options.prompt ?? "",
    onEvent: (event) => events.push(event),
    ...(driver.ignored === undefined ? {} : { ignored: driver.ignored }),
  });
  const chunk = options.chunk ?? 65536;
  for (let offset = 0; offset < stdout.length; offset += chunk) reader.push(stdout.subarray(offset, offset + chunk));
  const words = reader.finish();
  const summary = reader.summary();
  const { exitCode = 0, signal = null, reason = "exited", stderr = "" } = exit;
  const processEnd = { reason, exitCode, signal, stderr, stdout: "", tail: "", durationMs: 1 };
  const end = turnVerdict(processEnd, summary, {
    limits: { timeoutMs: 1000, idleTimeoutMs: 1000 },
    now: options.now ?? CAPTURED_AT,
    agent,
    login: adapter.login,
    exitKind: driver.exitKind,
  });
  return { end, ...words, events, summary };
}

/** A capture as the real program left it. */
export function capture(agent: string, name: string): { stdout: Buffer; exit: Exit; prompt: string } {
  const file = (ending: string): string => join(CAPTURES, agent, `${name}.${ending}`);
  const exit = JSON.parse(readFileSync(file("exit"), "utf8")) as { code: number | null; signal?: string | null };
  return {
    stdout: readFileSync(file("stdout")),
    exit: { exitCode: exit.code, signal: exit.signal ?? null, stderr: readFileSync(file("stderr"), "utf8") },
    prompt: existsSync(file("prompt")) ? readFileSync(file("prompt"), "utf8") : "",
  };
}

export function captureNames(agent: string): readonly string[] {
  if (!existsSync(join(CAPTURES, agent))) return [];
  return readdirSync(join(CAPTURES, agent)).filter((name) => name.endsWith(".stdout")).map((name) => name.slice(0, -7));
}
