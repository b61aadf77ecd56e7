import { resolve } from "node:path";
import type { Config, ProviderChoice, ProviderConfig } from "../config/load.ts";
import { nearest, optionInvalid, RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import { adapterAgent } from "./adapter_agent.ts";
import { programPath } from "./program.ts";
import { ADAPTERS, findAdapter } from "./adapters.ts";
import { commandAgent } from "./command_agent.ts";
import type { Agent } from "../context/context.ts";

/** Which agent is wanted. It overrides the configuration. */
export interface ResolveAgentOptions {
  /** An agent by name: one of `AGENT_NAMES`. */
  readonly name?: string | undefined;
  /** A command line of the user's own. */
  readonly command?: string | undefined;
  /** The file of turns of the scripted agent, as seen from the current folder. */
  readonly script?: string | undefined;
  /** The file that the replay agent plays, as seen from the current folder. */
  readonly cassette?: string | undefined;
  readonly config: Config;
  readonly host: Host;
  /** Absolute path of the project. @default the current folder */
  readonly root?: string;
}

/** Names that `--agent` and `provider.preset` take. */
export const AGENT_NAMES: readonly string[] = [...ADAPTERS.map(({ name }) => name), "command", "scripted", "replay"];

/**
 * The agent that the command line and the configuration name. Without any: one that says so when it is needed.
 *
 * @throws {RalphError} agent-unknown, option-invalid
 */
export function resolveAgent(options: ResolveAgentOptions): Agent {
  const { host } = options;
  const root = options.root ?? host.environment.cwd;
  const { provider } = options.config;
  if (options.command !== undefined) {
    return commandAgent({ command: options.command, ...atTheTerminal(provider, options.command), host, root });
  }
  const played = options.cassette === undefined ? undefined : "replay";
  const name = options.name ?? (options.script === undefined ? played : "scripted") ?? provider.preset;
  switch (name) {
    case "scripted":
      return scripted(options.script, host);
    case "replay":
      return replay(options.cassette, host);
    case "command":
    case undefined: {
      const { command, args } = provider;
      if (command === undefined) return missingAgent(host);
      return commandAgent({ command, args, ...atTheTerminal(provider, command), host, root });
    }
    default:
      return presetAgent(
        { preset: name, model: provider.model, reasoning: provider.reasoning, ...serverFor(provider, name) },
        { host, root, ...atTheTerminal(provider, name) },
      );
  }
}

/** For a project where no agent is configured: says so when one is needed, not before, and which there are. */
function missingAgent(host: Host): Agent {
  async function refuse(): Promise<never> {
    throw new RalphError("agent-missing", { hint: await waysToAgent(host) });
  }
  return { name: "none", ensureUsable: refuse, runTurn: refuse };
}

/** The agents that could be named here; else how to get one. */
async function waysToAgent(host: Host): Promise<string> {
  const found: string[] = [];
  for (const adapter of ADAPTERS) {
    if (await programPath(adapter, host, host.environment.cwd) !== null) found.push(adapter.name);
  }
  const [first] = found;
  if (first !== undefined) {
    const configured = `add \`"provider": { "preset": "${first}" }\` to ralph.config.json`;
    return `on PATH: ${found.join(", ")}; give \`--agent ${first}\`, or ${configured}`;
  }
  const none = "none of the known agents is on PATH";
  const { keyedEndpoints, localEndpoints } = await import("./ask_endpoint.ts");
  const local = (await localEndpoints()).map(({ endpoint }) => endpoint);
  const [server] = [...local, ...keyedEndpoints(host.environment.variables)];
  if (server !== undefined) {
    const why = server.keyVariable === null ? `${server.name} answers here` : `${server.keyVariable} is set`;
    return `${none}, but ${why}: \`--agent builtin --endpoint ${server.name}\` works with it`;
  }
  const { name, install } = ADAPTERS[0]!;
  return `${none}: install one (${name}: ${install}; \`ralph help agents\` lists the others), or give \`--agent-cmd "…"\``;
}

function scripted(script: string | undefined, host: Host): Agent {
  if (script === undefined) {
    const hint = "`ralph … --agent scripted --script turns.yaml`; docs/guides/scripted-agent.md describes the file";
    throw optionInvalid("--script", "the file of turns for the scripted agent", "nothing", hint);
  }
  const file = resolve(host.environment.cwd, script);
  const load = async () => (await import("./scripted/scripted_agent.ts")).scriptedAgent({ file }, { host });
  return deferred("scripted", load);
}

function replay(cassette: string | undefined, host: Host): Agent {
  if (cassette === undefined) {
    const hint = "`ralph … --agent replay --cassette FILE`; `--record FILE` writes one";
    throw optionInvalid("--cassette", "the file that a run was recorded in", "nothing", hint);
  }
  const file = resolve(host.environment.cwd, cassette);
  return deferred("replay", async () => (await import("./replay/cassette.ts")).replayAgent(file, host));
}

/** An agent whose modules are loaded when it is first used. */
function deferred(name: string, load: () => Promise<Agent>): Agent {
  let loaded: Promise<Agent> | undefined;
  const agent = (): Promise<Agent> => loaded ??= load();
  return {
    name,
    interactive: false,
    ensureUsable: async () => await (await agent()).ensureUsable(),
    runTurn: async (request) => await (await agent()).runTurn(request),
  };
}

/** The configured server belongs to the configured agent; another that `--agent` names takes it where it can. */
function serverFor({ preset, endpoint }: ProviderConfig, chosen: string): Pick<ProviderChoice, "endpoint"> {
  const isLeftOut = preset !== chosen && findAdapter(chosen)?.takes?.includes("endpoint") !== true;
  return endpoint === undefined || isLeftOut ? {} : { endpoint };
}

/** The configured arguments for the terminal belong to the configured agent; where none is, to any. */
function atTheTerminal({ command, preset, interactiveArgs }: ProviderConfig, chosen: string) {
  if (interactiveArgs === undefined) return {};
  const isConfigured = (command === undefined && preset === undefined) || [command, preset].includes(chosen);
  return isConfigured ? { interactiveArgs } : {};
}

/**
 * The agent of `provider.fallback`, or `null`.
 *
 * @throws {RalphError} agent-unknown, option-invalid
 */
export function resolveFallback({ config, host, root }: ResolveAgentOptions): Agent | null {
  const { fallback } = config.provider;
  if (fallback === undefined) return null;
  const choice: ProviderChoice = typeof fallback === "string" ? { preset: fallback } : fallback;
  if (choice.command === undefined && choice.preset === undefined) return null;
  return resolveChoice(choice, { host, root: root ?? host.environment.cwd });
}

/** The agent of a choice, which has a command or a preset. @throws {RalphError} agent-unknown, option-invalid */
export function resolveChoice(choice: ProviderChoice, place: { readonly host: Host; readonly root: string }): Agent {
  return choice.command === undefined
    ? presetAgent(choice, place)
    : commandAgent({ command: choice.command, ...place });
}

function presetAgent(
  { preset = "", model, reasoning, endpoint }: ProviderChoice,
  place: { readonly host: Host; readonly root: string; readonly interactiveArgs?: readonly string[] },
): Agent {
  const adapter = findAdapter(preset);
  if (adapter === undefined) throw unknownAgent(preset);
  if (reasoning !== undefined && adapter.takes?.includes("reasoning") !== true) {
    const hint = `set it in the configuration of ${preset} itself`;
    throw optionInvalid("--reasoning", `left out: \`${preset}\` has no such option`, reasoning, hint);
  }
  if (endpoint !== undefined && adapter.takes?.includes("endpoint") !== true) {
    const takers = ADAPTERS.filter(({ takes }) => takes?.includes("endpoint")).map(({ name }) => name);
    throw new RalphError("endpoint-invalid", {
      details: { problem: `\`${preset}\` cannot be pointed to a model server` },
      hint: `agents that can: ${takers.join(", ")}; ${preset} has settings of its own for that`,
    });
  }
  if (adapter.program === null && reasoning !== undefined && !EFFORTS.includes(reasoning)) {
    const expected = `one of ${EFFORTS.join(", ")}`;
    throw optionInvalid("--reasoning", expected, reasoning, "leave it out for the model's own");
  }
  return adapterAgent(adapter, { ...place, model, reasoning, endpoint });
}

/** The efforts that the built-in agent can ask of a model. */
const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

function unknownAgent(name: string): RalphError {
  const near = nearest(name, AGENT_NAMES);
  const known = AGENT_NAMES.join(", ");
  return new RalphError("agent-unknown", {
    details: { name, known },
    ...(near === null
      ? {}
      : { hint: `did you mean \`${near}\`? Known agents: ${known}; any other command runs with \`--agent-cmd\`` }),
  });
}
