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
  const named = async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      return await answer;
    } catch (cause) {
      throw queueError(cause);
    }
  };
  return {
    submit: (id, job) => named(engine.submit(id, job)),
    ended: (ids) => named(engine.ended(ids)),
    change: (signal) => named(engine.change(signal)),
    cancel: (ids) => named(engine.cancel(ids)),
    lead: (key, holder) => named(engine.lead(key, holder)),
    resign: (key, holder) => named(engine.resign(key, holder)),
    led: () => named(engine.led()),
    work: (options) => named(engine.work(options)),
    report: (id, events) => named(engine.report(id, events)),
    hear: (heard) => named(engine.hear(heard)),
    jobs: () => named(engine.jobs()),
    close: () => named(engine.close()),
  };
}
