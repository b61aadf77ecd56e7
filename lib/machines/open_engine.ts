import { RalphError } from "../errors/ralph_error.ts";
import { words } from "../host/data.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import { codeOf } from "../host/looks.ts";

/** As long as a running worker waits. */
const WAIT_MS = 60_000;
const PAUSE_MS = 2_000;
/** Codes of connections, and the ones that PostgreSQL gives while it starts or stops. */
const AWAY = new Set(
  words("ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE ENOENT EHOSTUNREACH ENETUNREACH EAI_AGAIN 57P01 57P02 57P03"),
);

/**
 * Opens the engine that the URL names. Loaded only here.
 *
 * @throws {RalphError} queue-invalid, queue-unreachable
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const scheme = /^([a-z]+):/i.exec(options.url)?.[1]?.toLowerCase();
  if (scheme !== "postgres" && scheme !== "postgresql") {
    throw new RalphError("queue-invalid", { details: { scheme: scheme ?? "(none)" } });
  }
  const { openPostgres } = await loadPostgres();
  const { clock, patience } = options;
  const end = patience === undefined ? 0 : clock.steady() + WAIT_MS;
  for (let tries = 1;; tries += 1) {
    try {
      return await openPostgres(options);
    } catch (error) {
      if (patience === undefined || clock.steady() > end || patience.signal.aborted || !isAway(error)) throw error;
      if (tries === 1) patience.report(`${(error as Error).message}: waiting up to ${WAIT_MS / 1000} s for it`);
      await clock.sleep(PAUSE_MS, patience.signal);
    }
  }
}

/** Loads the engine of PostgreSQL. @throws {RalphError} queue-unreachable */
export async function loadPostgres(): Promise<typeof import("./postgres.ts")> {
  return await import("./postgres.ts").catch((cause: unknown) => {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    const reason = "pg-boss is not installed; the binary has it";
    throw new RalphError("queue-unreachable", { details: { reason }, hint: "npm install pg-boss@12.30.0", cause });
  });
}

/** A database that is away may come back; one that refuses does not. */
function isAway(error: unknown): boolean {
  const { cause } = error as Error;
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.some((one) => AWAY.has(codeOf(one)) || /connection terminated/i.test(String(one))); // that has no code
}
