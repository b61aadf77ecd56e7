/**
 * The one file that knows `@anthropic-ai/sandbox-runtime`: its proxies, which let a process reach the hosts of a list.
 * Loaded when such a process is first started.
 *
 * @module
 */
import { generateProxyEnvVars } from "@anthropic-ai/sandbox-runtime/dist/sandbox/sandbox-utils.js";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import process from "node:process";
import type { Confinement } from "./confinement.ts";
import type { Variables } from "./types.ts";

/** A host that a confined process was not let to. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  /** The role of its process; `null` if that is not known. */
  readonly role: Confinement["role"] | null;
}

/** The proxies of this process. */
export interface SandboxProxy extends AsyncDisposable {
  /** Absolute path of a unix socket that leads to them; none on macOS. */
  readonly socket: string;
  /** A process inside finds them at this port of its `localhost`. */
  readonly port: number;
  /** Gives one process its hosts. Disposed, it has none. */
  grant(role: Confinement["role"], hosts: readonly string[], id: string): Grant;
}

/** The access that one process was given. */
export interface Grant extends Disposable {
  /** Variables that make programs use the proxy. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The proxy listens on this port inside, where that has a network of its own. */
const PROXY_PORT = 18_127;

const DIRECT = "localhost,127.0.0.1,::1";
const REFUSED_REGEXP = /^deny network-outbound (.+):(\d+) \(/;

/** Starts the proxies. @param own variables of what they start: the mark by which it ends with this run, and its PATH */
export async function startProxy(own: Variables, onRefused: (refused: RefusedHost) => void): Promise<SandboxProxy> {
  const network = { allowedDomains: [], deniedDomains: [] };
  const nothing = { network, filesystem: { denyRead: [], allowWrite: [], denyWrite: [] } };
  await withVariables(own, () => withoutSignals(() => SandboxManager.initialize(nothing)));
  const roles = new Map<string, Confinement["role"]>();
  let seen = SandboxManager.getSandboxViolationStore().getTotalCount();
  const unsubscribe = SandboxManager.getSandboxViolationStore().subscribe((violations) => {
    const total = SandboxManager.getSandboxViolationStore().getTotalCount();
    const added = violations.slice(Math.max(0, violations.length - (total - seen)));
    seen = total;
    for (const { line, command } of added) {
      const [, host, port] = REFUSED_REGEXP.exec(line) ?? [];
      if (host !== undefined) onRefused({ host, port: Number(port), role: roles.get(command ?? "") ?? null });
    }
  });

  const port = process.platform === "darwin" ? SandboxManager.getProxyPort() ?? PROXY_PORT : PROXY_PORT;
  return {
    socket: SandboxManager.getLinuxHttpSocketPath() ?? "",
    port,
    grant(role, hosts, id) {
      roles.set(id, role);
      SandboxManager.registerCommandNetworkLists(id, { allowedDomains: [...hosts] });
      return {
        environment: proxyVariables(port, id),
        [Symbol.dispose]: () => SandboxManager.unregisterCommandNetworkLists(id),
      };
    },
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await SandboxManager.reset();
    },
  };
}

/** Its bridge is a process of its own: marked, it is found and ended like all others of the run. */
async function withVariables(own: Variables, act: () => Promise<void>): Promise<void> {
  const before = { ...process.env };
  for (const [name, value] of Object.entries(own)) if (value !== undefined) process.env[name] = value;
  try {
    await act();
  } finally {
    for (const name of Object.keys(own)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** It would close its proxies at the first Ctrl-C, while agents are still being ended. */
async function withoutSignals(act: () => Promise<void>): Promise<void> {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  await act();
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) {
      if (before.get(signal)?.includes(listener) === false) process.removeListener(signal, listener);
    }
  }
}

function proxyVariables(port: number, id: string): Readonly<Record<string, string>> {
  const key = Buffer.from(id).toString("base64");
  const pairs = generateProxyEnvVars(port, port, undefined, SandboxManager.getProxyAuthToken(), true, key)
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const);
  // Node's own fetch uses the variables only where this one is set
  return { ...Object.fromEntries(pairs), NO_PROXY: DIRECT, no_proxy: DIRECT, NODE_USE_ENV_PROXY: "1" };
}
