import { resolve } from "node:path";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import { commandAgent } from "./command_agent.ts";
import { missingAgent } from "./missing_agent.ts";
import { scriptedAgent } from "./scripted/scripted_agent.ts";
import type { Agent } from "./types.ts";

/** Which agent is wanted. What is given here stands over the configuration. */
export interface ResolveAgentOptions {
  /** A built-in agent by name: `scripted`, `command`. */
  readonly name?: string | undefined;
  /** A command line of the user's own. */
  readonly command?: string | undefined;
  /** The file of turns of the scripted agent, as seen from the current folder. */
  readonly script?: string | undefined;
  readonly config: Config;
  readonly host: Host;
  /** Absolute path of the project. @default the current folder */
  readonly root?: string;
}

/** Names that `--agent` and `provider.preset` take. */
export const AGENT_NAMES: readonly string[] = ["command", "scripted"];

/**
 * The agent that the command line and the configuration name. Without any: one that says so when it is needed.
 *
 * @throws {RalphError} agent-unknown, option-invalid
 */
export function resolveAgent(options: ResolveAgentOptions): Agent {
  const { host } = options;
  const root = options.root ?? host.environment.cwd;
  const { provider } = options.config;
  if (options.command !== undefined) return commandAgent({ command: options.command, host, root });
  const name = options.name ?? (options.script === undefined ? provider.preset : "scripted");
  switch (name) {
    case "scripted":
      if (options.script === undefined) throw scriptMissing();
      return scriptedAgent({ file: resolve(host.environment.cwd, options.script) }, { host });
    case "command":
    case undefined:
      if (provider.command === undefined) return missingAgent();
      return commandAgent({
        command: provider.command,
        args: provider.args,
        ...(provider.interactiveArgs === undefined ? {} : { interactiveArgs: provider.interactiveArgs }),
        host,
        root,
      });
    default:
      throw new RalphError("agent-unknown", { details: { name, known: AGENT_NAMES.join(", ") } });
  }
}

function scriptMissing(): RalphError {
  return new RalphError("option-invalid", {
    details: { option: "--script", expected: "the file of turns for the scripted agent", value: "nothing" },
    hint: "`ralph … --agent scripted --script turns.yaml`; docs/guides/scripted-agent.md describes the file",
  });
}
