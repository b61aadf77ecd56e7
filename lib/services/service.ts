import type { ServiceConfig } from "../config/load.ts";
import { redactorFor } from "../events/redact.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openLog } from "../host/log_file.ts";
import { type HttpAnswer, httpStatus } from "../host/http.ts";
import { portOwner } from "../host/port_owner.ts";
import { processStart } from "../host/process_table.ts";
import { shellInvocation } from "../host/shell.ts";
import type { Host, ProcessEnd } from "../host/types.ts";
import type { ServiceRecords } from "./records.ts";

/** Says if a service can be used. */
export type ServiceState =
  | { readonly status: "ready"; readonly note: string | null }
  /** `reason` ends with the tail of the service's own log; `isMissing`: its command does not exist. */
  | { readonly status: "failed"; readonly reason: string; readonly isMissing?: boolean };

export interface ServiceOptions {
  readonly config: ServiceConfig;
  readonly root: string;
  readonly host: Host;
  readonly records: ServiceRecords;
  /** Absolute path of the log, made when the service starts. */
  readonly log: () => Promise<string>;
}

/** A service's process tree. */
interface ServiceProcess {
  /** How it ended, or `null` while it runs. */
  ended(): ProcessEnd | null;
  /** The last lines of its log. */
  tail(): string;
  /** Ends it and waits until it has ended. */
  stop(): Promise<void>;
}

const TAIL_LINES = 50;
const TAIL_BYTES = 16 * 1024;
const POLL_MS = 500;
const FIRST_POLL_MS = 100;
/** How long a port may take to fall silent after its process has ended. */
const SILENCE_MS = 2000;

/** One service of the configuration: its process tree belongs to the run and ends with it. */
export class Service {
  readonly #options: ServiceOptions;
  #process: ServiceProcess | null = null;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  get config(): ServiceConfig {
    return this.#options.config;
  }

  /** Started where it does not run; one that the user runs is only waited for. */
  async ensureReady(signal: AbortSignal): Promise<ServiceState> {
    if (this.#process?.ended() === null) return await this.#waitUntilReady(signal);
    return await this.#startAfresh(signal, "had ended and was started again", 0);
  }

  /** Started afresh. */
  async restart(signal: AbortSignal): Promise<ServiceState> {
    return await this.#startAfresh(signal, "had ended while the agent worked", SILENCE_MS);
  }

  /** @param silenceMs how long its port may take to fall silent after it was stopped */
  async #startAfresh(signal: AbortSignal, ended: string, silenceMs: number): Promise<ServiceState> {
    const running = this.#process;
    const { start, name } = this.config;
    if (start === undefined) return await this.#waitUntilReady(signal);
    const note = running === null || running.ended() === null
      ? null
      : `the service ${name} ${ended}; the end of its log:\n${running.tail()}`;
    await this.stop();
    if (running !== null) await this.#untilSilent(signal, silenceMs);
    const state = await this.#startAndWait(start, signal);
    return state.status === "ready" ? { ...state, note: state.note ?? note } : state;
  }

  /** @throws {RalphError} service-foreign when an unrelated process answers at its URL */
  async ensureOurs(): Promise<void> {
    if (this.config.start === undefined || this.#process?.ended() === null) return;
    if (!isReady(await httpStatus(this.config.ready))) return;
    if (this.config.restartBeforeVerify) throw await this.#unrelated();
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null) return;
    await running.stop();
    await this.#options.records.remove(this.config.name);
  }

  async #startAndWait(command: string, signal: AbortSignal): Promise<ServiceState> {
    const { ready, restartBeforeVerify } = this.config;
    if (isReady(await httpStatus(ready))) {
      if (!restartBeforeVerify) {
        return { status: "ready", note: `${ready} answers already, from a process that Ralph did not start` };
      }
      const { message, hint } = await this.#unrelated();
      return { status: "failed", reason: `${message}; ${hint}` };
    }
    this.#process = await this.#start(command);
    const state = await this.#waitUntilReady(signal);
    if (state.status === "failed") await this.stop();
    return state;
  }

  /** Starts it; what it prints goes to its log. */
  async #start(command: string): Promise<ServiceProcess> {
    const { root: cwd, host, log } = this.#options;
    const appender = await openLog(await log());
    const stopper = new AbortController();
    const redactor = redactorFor(host.environment.variables);
    const decoder = new TextDecoder();
    let output = "";
    let ended: ProcessEnd | null = null;
    const end = host.processes.run({
      ...await shellInvocation(command, host.environment),
      cwd,
      sandbox: { role: "service", cwd },
      signal: stopper.signal,
      tailBytes: TAIL_BYTES,
      onStart: (pid) => void this.#record(pid),
      mask: () => redactor.stream(),
      onOutput: (chunk) => {
        output = (output + decoder.decode(chunk, { stream: true })).slice(-TAIL_BYTES);
        appender.write(chunk);
      },
    });
    void end.then((result) => void (ended = result), () => {}).finally(() => appender.close().catch(() => {}));
    return {
      ended: () => ended,
      tail: () => output.trimEnd().split("\n").slice(-TAIL_LINES).join("\n"),
      async stop() {
        stopper.abort();
        await end.catch(() => {});
      },
    };
  }

  async #record(pid: number): Promise<void> {
    const started = await processStart(pid);
    if (started !== null) await this.#options.records.add({ name: this.config.name, pid, started }).catch(() => {});
  }

  async #waitUntilReady(signal: AbortSignal): Promise<ServiceState> {
    const { clock } = this.#options.host;
    const deadline = clock.steady() + this.config.readyTimeout * 1000;
    for (let pause = FIRST_POLL_MS;; pause = Math.min(pause * 2, POLL_MS)) {
      const answer = await httpStatus(this.config.ready, { signal });
      if (signal.aborted) return { status: "failed", reason: "interrupted" };
      const ended = this.#process?.ended() ?? null;
      if (ended !== null) return this.#exited(ended);
      if (isReady(answer)) return { status: "ready", note: null };
      if (clock.steady() + pause > deadline) return this.#late(answer);
      await clock.sleep(pause, signal);
    }
  }

  async #untilSilent(signal: AbortSignal, mostMs: number): Promise<void> {
    const { clock } = this.#options.host;
    const deadline = clock.steady() + mostMs;
    while (clock.steady() < deadline && isReady(await httpStatus(this.config.ready, { signal }))) {
      await clock.sleep(FIRST_POLL_MS, signal);
    }
  }

  #exited({ exitCode, signal }: ProcessEnd): ServiceState {
    const how = exitCode === null ? `by ${signal ?? "a signal"}` : `with exit code ${exitCode}`;
    const reason = `the service ${this.config.name} ended ${how} before it was ready`;
    const isMissing = exitCode === 126 || exitCode === 127;
    return { status: "failed", reason: this.#withTail(reason), ...(isMissing ? { isMissing } : {}) };
  }

  #late(answer: HttpAnswer): ServiceState {
    const { name, ready, readyTimeout, start } = this.config;
    const reason = `the service ${name} was not ready at ${ready} within ${readyTimeout} s: ${
      answer.status === null ? answer.reason : `HTTP ${answer.status}`
    }`;
    const own = start === undefined ? `${reason} (it has no \`start\`: you run it)` : this.#withTail(reason);
    return { status: "failed", reason: own };
  }

  #withTail(reason: string): string {
    const tail = this.#process?.tail() ?? "";
    return tail === "" ? `${reason}; it printed nothing` : `${reason}; the end of its log:\n${tail}`;
  }

  async #unrelated(): Promise<RalphError> {
    const { name, ready } = this.config;
    const url = new URL(ready);
    const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
    const found = await portOwner(port);
    const owner = found === null ? `an unknown process on port ${port}` : `process ${found.pid} (${found.command})`;
    return new RalphError("service-foreign", { details: { url: ready, name, owner } });
  }
}

/** True for an answer that says that a server is up: any status below 500. */
function isReady({ status }: HttpAnswer): boolean {
  return status !== null && status < 500;
}
