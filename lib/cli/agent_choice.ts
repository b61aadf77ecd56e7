import { missingProgram } from "../agents/command_agent.ts";
import type { Agent, Choice, Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import type { RalphOptions } from "../recipe/create_ralph.ts";
import type { Invocation } from "./command.ts";
import { findAgents, howToGetOne, OWN, type OwnServer, ownServers, proofText } from "./known_agents.ts";
import { usage } from "./parse.ts";
import { optional } from "./settings.ts";

/** The agent as the context gets it; empty: what the configuration says. */
export interface AgentSetting extends Pick<RalphOptions, "cassette" | "script"> {
  readonly agent?: string | { readonly command: string };
}

/** The agent of the flags; `null`: they name none. @throws {RalphError} usage */
export function namedAgent(flags: Invocation["flags"]): AgentSetting | null {
  const [name, shell, script] = [flags.text("agent"), flags.text("agent-cmd"), flags.text("script")];
  if (name !== undefined && shell !== undefined) {
    throw usage("--agent and --agent-cmd exclude each other", "name a built-in agent, or give a command, not both");
  }
  if (shell !== undefined) return { agent: { command: shell } };
  const cassette = flags.text("cassette");
  if (cassette !== undefined) return { agent: name ?? "replay", cassette };
  if (name !== undefined || script !== undefined) return { agent: name ?? "scripted", ...optional("script", script) };
  return null;
}

const OTHER = "other";
/** The most models of a server that are offered by name. */
const SHOWN_MODELS = 12;

type Picked =
  | { readonly preset: string; readonly endpoint?: string; readonly model?: string }
  | { readonly command: string };

/** Asks which of the agents on PATH is meant, or for a command; says how to get one where there is none. @returns `null`: none was named */
export async function pickAgent(host: Host, prompter: Prompter, message: string): Promise<Picked | null> {
  const found = await findAgents(host);
  const servers = await ownServers(host.environment.variables);
  const choices: Choice[] = [
    ...found.map(({ name, adapter }) => ({ value: name, label: name, hint: proofText(adapter) })),
    ...servers.map(({ name, why }) => ({
      value: `${OWN}:${name}`,
      label: `Ralph's own agent with ${name}`,
      hint: why,
    })),
  ];
  const first = choices[0];
  if (first !== undefined) {
    const answer = await prompter.ask({
      id: "agent.pick",
      kind: "select",
      message,
      details: [
        "Found on PATH. Ralph turns its permission prompts off: it edits files and runs commands here without asking.",
      ],
      ...prompter.interactive ? { initial: first.value } : {},
      choices: [...choices, { value: OTHER, label: "another command" }],
    });
    const server = servers.find(({ name }) => answer.value === `${OWN}:${name}`);
    if (server !== undefined) return { preset: OWN, endpoint: server.name, ...await pickModel(server, host, prompter) };
    if (answer.value !== OTHER) return { preset: answer.value };
  }
  const command = await askCommand(host, prompter, first === undefined ? howToGetOne() : []);
  return command === "" ? null : { command };
}

/** A command whose program is not here is asked for again; who gives it twice means it. */
async function askCommand(
  host: Host,
  prompter: Prompter,
  details: readonly string[],
  before: string | null = null,
): Promise<string> {
  const message = "Which command is the agent? It gets the prompt on standard input (nothing: name it later)";
  const command = await askedText(prompter, "agent.command", message, { details, placeholder: "my-agent --yes" });
  const reason = command === before ? null : await missingProgram(command, host);
  return reason === null
    ? command
    : await askCommand(host, prompter, [`${reason}: name another, or give it again to keep it`], command);
}

/** Which of the server's models; the only one of a server here need not be named. */
async function pickModel(
  { name, models }: OwnServer,
  host: Host,
  prompter: Prompter,
): Promise<{ readonly model?: string }> {
  const { endpointOf } = await import("../agents/endpoints.ts");
  const { modelsOf } = await import("../agents/ask_endpoint.ts");
  const known = models ?? (await modelsOf(endpointOf(name), host.environment.variables))?.map(({ id }) => id) ?? [];
  if (models?.length === 1) return {};
  const shown = known.slice(0, SHOWN_MODELS);
  if (shown[0] !== undefined) {
    const { value } = await prompter.ask({
      id: "agent.model",
      kind: "select",
      message: `Which model of ${name}?`,
      ...prompter.interactive ? { initial: shown[0] } : {},
      choices: [...shown.map((id) => ({ value: id, label: id })), { value: OTHER, label: "another one" }],
    });
    if (value !== OTHER) return { model: value };
  }
  const message = `What is the model called at ${name}? (nothing: name it later by \`--model\`)`;
  const model = await askedText(prompter, "agent.model-name", message);
  return model === "" ? {} : { model };
}

/** Asks for a text, which may be empty. */
export async function askedText(
  prompter: Prompter,
  id: string,
  message: string,
  more: { readonly details?: readonly string[]; readonly placeholder?: string } = {},
): Promise<string> {
  return (await prompter.ask({ id, kind: "text", message, initial: "", ...more })).value.trim();
}

/**
 * How an agent is named, where none is: a command that starts none need not have one. `null`: one is named.
 *
 * @throws {RalphError} it cannot be used
 */
export async function unnamedAgent(agent: Pick<Agent, "ensureUsable">): Promise<string | null> {
  try {
    await agent.ensureUsable();
    return null;
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "agent-missing") return error.hint;
    throw error;
  }
}
