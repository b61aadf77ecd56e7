import { RalphError } from "../errors/ralph_error.ts";
import { join } from "node:path";
import { note, type RalphContext } from "../context/context.ts";
import type { Check, CheckOutcome } from "../backlog/types.ts";
import { ServiceRecords } from "./records.ts";
import { Service } from "./service.ts";

const NEVER: AbortSignal = new AbortController().signal;

/** The services of a run. Disposing stops them with their whole trees. */
export interface Services extends AsyncDisposable {
  /** Origin that paths in acceptance criteria belong to: the first service's. `null` without services. */
  readonly base: string | null;
  /** The checks that bring the services up before pages are looked at: restarted where the configuration says so. */
  checks(): readonly Check[];
  /** Why pages cannot be looked at now, or `null`. */
  problem(): string | null;
  /**
   * Ends what a crashed run left running, looks whether the ready URLs are free, and brings the services up once: what
   * cannot work is known before a turn is paid for. One that only does not answer yet is reported.
   * @throws {RalphError} service-foreign, service-down
   */
  prepare(signal?: AbortSignal): Promise<void>;
  /** Brings up what does not run, and says where each one answers or why not, a line each. */
  running(signal?: AbortSignal): Promise<readonly string[]>;
}

/** Services need these parts of the context. */
export type ServicesContext = Pick<RalphContext, "config" | "events" | "host" | "repository" | "root" | "run">;

/**
 * The dev servers of `services` in the configuration. They are started before the first turn that needs them; what was
 * started runs on for the next iteration.
 *
 * @example Services for a loop of your own
 * ```ts
 * import { openServices } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ config: { services: [{ name: "dev", ready: "http://localhost:3000" }] } });
 * await using services = openServices(ralph);
 * console.log(services.base); // http://localhost:3000
 * ```
 */
export function openServices(ralph: ServicesContext): Services {
  const { config, host, root, repository } = ralph;
  const records = new ServiceRecords(join(repository?.ralphDirectory ?? join(root, ".ralph"), "services.json"));
  const services = config.services.map((service) =>
    new Service({
      config: service,
      root,
      host,
      records,
      log: async () =>
        join(await ralph.run.folder(".ralph/runs"), `service-${service.name.replaceAll(/[^\w.-]/g, "_")}.log`),
    })
  );
  const problems = new Map<string, string>();
  const first = config.services[0];

  async function bringUp(service: Service, signal: AbortSignal): Promise<CheckOutcome> {
    const { name, restartBeforeVerify } = service.config;
    const state = restartBeforeVerify ? await service.restart(signal) : await service.ensureReady(signal);
    if (state.status === "failed") {
      problems.set(name, `the service ${name} is not ready`);
      return { ok: false, exitCode: null, tail: state.reason };
    }
    problems.delete(name);
    if (state.note !== null) note(ralph, "warn", state.note);
    return { ok: true, exitCode: 0, tail: state.note ?? "" };
  }

  return {
    base: first === undefined ? null : new URL(first.ready).origin,
    problem: () => [...problems.values()][0] ?? null,
    checks: () =>
      services.map((service) => ({
        name: `service ${service.config.name}`,
        scope: "service",
        about: `answers at ${service.config.ready}${
          service.config.restartBeforeVerify && service.config.start !== undefined ? ", started afresh" : ""
        }`,
        run: ({ signal }) => bringUp(service, signal),
      })),
    async prepare(signal = NEVER) {
      for (const name of await records.endLeftOvers()) {
        note(ralph, "info", `ended the service ${name} that an earlier run left running`);
      }
      for (const service of services) await service.ensureOurs();
      for (const service of services) await tryOnce(ralph, service, signal);
    },
    running: (signal = NEVER) => runningLines(services, signal),
    async [Symbol.asyncDispose]() {
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

/** A service that cannot come up is an error; one not up yet is only reported: a turn may be there to fix it. */
async function tryOnce(ralph: ServicesContext, service: Service, signal: AbortSignal): Promise<void> {
  const state = await service.ensureReady(signal);
  if (state.status === "ready" || signal.aborted) return;
  const { name, start } = service.config;
  if (start === undefined || state.isMissing === true) {
    throw new RalphError("service-down", { details: { name, reason: state.reason } });
  }
  note(ralph, "warn", `${state.reason}\nthe prompt of the first turn that needs it says so`);
}

async function runningLines(services: readonly Service[], signal: AbortSignal): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const service of services) {
    const { name, ready } = service.config;
    const state = await service.ensureReady(signal);
    lines.push(
      state.status === "ready"
        ? `The server ${name} runs now, at ${ready}.`
        : `The server ${name} does not come up yet, and has to: ${state.reason}`,
    );
  }
  return lines;
}
