import { programPath } from "../agents/adapter_agent.ts";
import { ADAPTERS } from "../agents/adapters.ts";
import type { Adapter } from "../agents/adapter.ts";
import type { Host } from "../host/types.ts";

/** A known agent that is on PATH. */
export interface FoundAgent {
  readonly name: string;
  readonly adapter: Adapter;
  /** Absolute path of the program. */
  readonly path: string;
}

/** The known agents that are on PATH. */
export async function findAgents(host: Host): Promise<readonly FoundAgent[]> {
  const found = await Promise.all(ADAPTERS.map(async (adapter) => {
    const path = await programPath(adapter, host, host.environment.cwd);
    return path === null ? [] : [{ name: adapter.name, adapter, path }];
  }));
  return found.flat();
}

/** How far an adapter can be trusted, in a few words. */
export function proofText({ proof }: Adapter): string {
  return proof.kind === "measured"
    ? `adapter measured with ${proof.version}`
    : "adapter written from documentation, never run";
}
