import type { ServiceConfig } from "../config/types.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openAppender } from "../host/files.ts";
import { portOwner } from "../host/port_owner.ts";
import { processStart } from "../host/process_start.ts";
import { shellInvocation } from "../host/shell.ts";
import type { Host, ProcessEnd } from "../host/types.ts";
import { describeAnswer, type HttpAnswer, httpStatus, isReady } from "./http.ts";
import type { ServiceRecords } from "./records.ts";

/** How a service stands after it was asked for. */
export type ServiceState =
  | { readonly status: "ready"; readonly note: string | null }
  /** `reason` ends with the tail of the service's own log. */
  | { readonly status: "failed"; readonly reason: string };

/** One service of the configuration. */
export interface Service {
  readonly config: ServiceConfig;
  /** Started where it does not run; one that the user runs is only waited for. */
  ensureReady(signal: AbortSignal): Promise<ServiceState>;
  /** Started afresh. */
  restart(signal: AbortSignal): Promise<ServiceState>;
  /** @throws {RalphError} service-foreign when somebody else answers where it should */
  ensureOurs(): Promise<void>;
  stop(): Promise<void>;
}

/** What a service needs. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  readonly root: string;
  readonly host: Host;
  readonly records: ServiceRecords;
  /** Absolute path of the log, made when the service starts. */
  readonly log: () => Promise<string>;
}

interface Running {
  readonly stop: AbortController;
  readonly end: Promise<ProcessEnd>;
  ended: ProcessEnd | null;
  readonly tail: () => string;
}

const POLL_MS = 500;
const FIRST_POLL_MS = 100;
const TAIL_LINES = 50;
const TAIL_BYTES = 16 * 1024;
/** How long a port may take to fall silent after its process has ended. */
const SILENCE_MS = 2000;

/** A service: its process tree belongs to the run and ends with it. */
export function createService({ config, root, host, records, log }: ServiceOptions): Service {
  let running: Running | null = null;

  async function start(command: string): Promise<Running> {
    const appender = await openAppender(await log());
    const stop = new AbortController();
    let kept = "";
    const decoder = new TextDecoder();
    const shell = await shellInvocation(command, host.environment);
    const end = host.processes.run({
      ...shell,
      cwd: root,
      signal: stop.signal,
      tailBytes: TAIL_BYTES,
      onStart: (pid) => void remember(pid),
      onOutput: async (chunk) => {
        kept = (kept + decoder.decode(chunk, { stream: true })).slice(-TAIL_BYTES);
        await appender.write(chunk);
      },
    });
    const started: Running = {
      stop,
      end,
      ended: null,
      tail: () => kept.trimEnd().split("\n").slice(-TAIL_LINES).join("\n"),
    };
    void end.then((result) => started.ended = result, () => {}).finally(() => appender.close().catch(() => {}));
    return started;
  }

  async function remember(pid: number): Promise<void> {
    const startedAt = await processStart(pid);
    if (startedAt !== null) await records.add({ name: config.name, pid, started: startedAt }).catch(() => {});
  }

  async function stop(): Promise<void> {
    const current = running;
    running = null;
    if (current === null) return;
    current.stop.abort();
    await current.end.catch(() => {});
    await records.remove(config.name);
  }

  async function waitUntilReady(signal: AbortSignal): Promise<ServiceState> {
    const deadline = host.clock.now() + config.readyTimeout * 1000;
    for (let pause = FIRST_POLL_MS;; pause = Math.min(pause * 2, POLL_MS)) {
      const answer = await httpStatus(config.ready, { signal });
      if (signal.aborted) return { status: "failed", reason: "interrupted" };
      const ended = running?.ended ?? null;
      if (ended !== null) return died(ended);
      if (isReady(answer)) return { status: "ready", note: null };
      if (host.clock.now() + pause > deadline) return late(answer);
      await host.clock.sleep(pause, signal);
    }
  }

  function died(ended: ProcessEnd): ServiceState {
    const how = ended.exitCode === null ? `by ${ended.signal ?? "a signal"}` : `with exit code ${ended.exitCode}`;
    return { status: "failed", reason: withTail(`the service ${config.name} ended ${how} before it was ready`) };
  }

  function late(answer: HttpAnswer): ServiceState {
    const reason = `the service ${config.name} was not ready at ${config.ready} within ${config.readyTimeout} s: ${
      describeAnswer(answer)
    }`;
    return {
      status: "failed",
      reason: config.start === undefined ? `${reason} (it has no \`start\`: you run it)` : withTail(reason),
    };
  }

  function withTail(reason: string): string {
    const tail = running?.tail() ?? "";
    return tail === "" ? `${reason}; it printed nothing` : `${reason}; the end of its log:\n${tail}`;
  }

  async function ensureOurs(): Promise<void> {
    if (config.start === undefined || running !== null && running.ended === null) return;
    if (!isReady(await httpStatus(config.ready))) return;
    if (config.restartBeforeVerify) throw await foreign();
  }

  async function foreign(): Promise<RalphError> {
    const url = new URL(config.ready);
    const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
    const owner = await portOwner(port);
    const who = owner === null ? `an unknown process on port ${port}` : `process ${owner.pid} (${owner.command})`;
    return new RalphError("service-foreign", { details: { url: config.ready, name: config.name, owner: who } });
  }

  async function startAndWait(command: string, signal: AbortSignal): Promise<ServiceState> {
    const answer = await httpStatus(config.ready);
    if (isReady(answer)) {
      if (config.restartBeforeVerify) {
        const { message, hint } = await foreign();
        return { status: "failed", reason: `${message}; ${hint}` };
      }
      return { status: "ready", note: `${config.ready} answers already, from a process that Ralph did not start` };
    }
    running = await start(command);
    const state = await waitUntilReady(signal);
    if (state.status === "failed") await stop();
    return state;
  }

  return {
    config,
    ensureOurs,
    stop,
    async ensureReady(signal) {
      const { start: command } = config;
      const isDown = running === null || running.ended !== null;
      if (command === undefined || !isDown) return await waitUntilReady(signal);
      const note = running === null
        ? null
        : `the service ${config.name} had ended and was started again; the end of its log:\n${running.tail()}`;
      await stop();
      const state = await startAndWait(command, signal);
      return state.status === "ready" ? { ...state, note: state.note ?? note } : state;
    },
    async restart(signal) {
      const { start: command } = config;
      if (command === undefined) return await waitUntilReady(signal);
      const died = running?.ended ?? null;
      const note = died === null
        ? null
        : `the service ${config.name} had ended while the agent worked; the end of its log:\n${running?.tail() ?? ""}`;
      const ran = running !== null;
      await stop();
      if (ran) await untilSilent(signal);
      const state = await startAndWait(command, signal);
      return state.status === "ready" ? { ...state, note: state.note ?? note } : state;
    },
  };

  async function untilSilent(signal: AbortSignal): Promise<void> {
    const deadline = host.clock.now() + SILENCE_MS;
    while (host.clock.now() < deadline && isReady(await httpStatus(config.ready, { signal }))) {
      await host.clock.sleep(FIRST_POLL_MS, signal);
    }
  }
}
