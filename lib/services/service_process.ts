import { redactorFor } from "../events/redact.ts";
import { openAppender } from "../host/files.ts";
import { shellInvocation } from "../host/shell.ts";
import type { Host, ProcessEnd } from "../host/types.ts";

/** A service's process tree. */
export interface ServiceProcess {
  /** How it ended, or `null` while it runs. */
  ended(): ProcessEnd | null;
  /** The last lines of its log. */
  tail(): string;
  /** Ends it and waits until it has ended. */
  stop(): Promise<void>;
}

export interface ServiceStart {
  readonly command: string;
  readonly cwd: string;
  readonly host: Host;
  /** Absolute path. */
  readonly log: string;
  readonly onStart: (pid: number) => void;
}

const TAIL_LINES = 50;
const TAIL_BYTES = 16 * 1024;

/** Starts a service; what it prints goes to its log. */
export async function startService({ command, cwd, host, log, onStart }: ServiceStart): Promise<ServiceProcess> {
  const appender = await openAppender(log);
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
    onStart,
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
