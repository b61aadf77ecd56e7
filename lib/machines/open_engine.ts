import { RalphError } from "../errors/ralph_error.ts";
import type { Engine, EngineOptions } from "./engine.ts";

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
  const { openPostgres } = await import("./postgres.ts").catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const reason = "pg-boss is not installed; the binary has it";
    throw new RalphError("queue-unreachable", { details: { reason }, hint: "npm install pg-boss@12.30.0", cause });
  });
  return await openPostgres(options);
}
