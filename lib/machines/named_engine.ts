import { RalphError } from "../errors/ralph_error.ts";
import type { Engine } from "./engine.ts";

/** Whatever comes out of a database, as the one error that a queue has. */
export function queueError(cause: unknown): RalphError {
  if (RalphError.isInstance(cause)) return cause;
  const reasons = cause instanceof AggregateError ? cause.errors : [cause];
  const reason = reasons.map((one) => one instanceof Error ? one.message : String(one)).join("; ");
  return new RalphError("queue-unreachable", { details: { reason }, cause });
}

/** The same engine; each of its failures has a name. */
export function withNamedErrors(engine: Engine): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const act: unknown = Reflect.get(target, name);
      return typeof act !== "function" ? act : async (...given: readonly unknown[]): Promise<unknown> => {
        try {
          return await (Reflect.apply(act, target, given) as unknown);
        } catch (cause) {
          throw queueError(cause);
        }
      };
    },
  });
}
