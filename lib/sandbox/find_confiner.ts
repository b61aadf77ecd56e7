import type { SandboxConfig } from "../config/types.ts";
import { bubblewrapConfiner, type Confiner, findBubblewrap, type Lacking } from "../host/confine.ts";
import { commandConfiner } from "../host/command_confiner.ts";
import type { RefusedHost } from "../host/sandbox_proxy.ts";
import type { Host } from "../host/types.ts";

/** Finds what confines the processes of a run: bubblewrap, or the command of the configuration. */
export async function findConfiner(
  host: Host,
  { command, network }: SandboxConfig,
  onRefused: (refused: RefusedHost) => void,
): Promise<Confiner | Lacking> {
  if (command !== null) return await commandConfiner(host, command);
  const found = await findBubblewrap(host, network === "agent" ? "some" : "all");
  return "problem" in found ? found : bubblewrapConfiner(host, found, onRefused);
}
