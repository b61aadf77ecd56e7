import { RalphError } from "../errors/ralph_error.ts";
import type { Engine, EngineOptions } from "./engine.ts";

/**
 * Opens the engine that the URL names. Loaded only here.
 *
 * @throws {RalphError} queue-invalid, queue-unreachable, package-missing
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const scheme = /^([a-z]+):/i.exec(options.url)?.[1]?.toLowerCase();
  if (scheme !== "postgres" && scheme !== "postgresql") {
    throw new RalphError("queue-invalid", { details: { scheme: scheme ?? "(none)" } });
  }
  const { openPostgres } = await import("./postgres.ts");
  return await openPostgres(options);
}
