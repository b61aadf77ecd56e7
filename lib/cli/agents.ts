import { basename } from "node:path";
import type { Adapter } from "../agents/adapter.ts";
import { ADAPTERS } from "../agents/adapters.ts";
import { commandWord, programName, programPath } from "../agents/program.ts";
import type { Agent, Choice, Prompter } from "../context/context.ts";
import { ofCode } from "../errors/ralph_error.ts";
import type { Host, Variables } from "../host/types.ts";
import type { RalphOptions } from "../recipe/create_ralph.ts";
import { type Invocation, usage } from "./command.ts";
import { table } from "./help.ts";
import { optional } from "./settings.ts";

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

/** Ralph's own agent, which needs a model server and no program. */
export const OWN = "builtin";

/** A model server that Ralph's own agent can use here. */
export interface OwnServer {
  /** For `--endpoint`. */
  readonly name: string;
  /** How it is known, for a person. */
  readonly why: string;
  /** The models of a server of this machine; `null`: it was not asked. */
  readonly models: readonly string[] | null;
}

/** Servers of this machine that answer, and those whose key is in the environment. */
export async function ownServers(variables: Variables): Promise<readonly OwnServer[]> {
  const { keyedEndpoints, localEndpoints } = await import("../agents/ask_endpoint.ts");
  const here = (await localEndpoints()).filter(({ models }) => models.length > 0);
  return [
    ...here.map(({ endpoint: { name, host }, models }) => ({
      name,
      why: `answers at ${host}, ${models.length} model${models.length === 1 ? "" : "s"}`,
      models: models.map(({ id }) => id),
    })),
    ...keyedEndpoints(variables).map(({ name, keyVariable }) => ({ name, why: `${keyVariable} is set`, models: null })),
  ];
}

/** The known agent whose program a command of one's own starts, or `null`. */
export function knownProgram(command: string): string | null {
  const word = commandWord(command);
  if (word === null) return null;
  return ADAPTERS.find((row) => programName(row) === basename(word))?.name ?? null;
}

/** How far an adapter can be trusted, in a few words. */
export function proofText({ proof }: Adapter): string {
  return proof.kind === "measured" ? `tested with ${proof.version}` : "adapter written from documentation, never run";
}

/** For a machine without a known agent: the first few with how to get them. */
export function howToGetOne(): readonly string[] {
  const width = Math.max(...ADAPTERS.slice(0, 4).map(({ name }) => name.length));
  return [
    "None of the agents that Ralph knows is on PATH. To get one:",
    ...ADAPTERS.slice(0, 4).map(({ name, install }) => `  ${name.padEnd(width)}  ${install}`),
    "`ralph help agents` lists the others. With a model server, or a key of one, Ralph is an agent itself:",
    "`--agent builtin --endpoint NAME` (`ollama`, `openai`, `anthropic` …)",
  ];
}

/** `ralph help agents`: how to get each known agent, and how to log in. */
export function agentsHelp(columns?: number): string {
  return [
    'Known agents, for `--agent NAME` and `"provider": { "preset": "NAME" }`:',
    ...table(ADAPTERS.map((row) => [row.name, `${row.install}; ${row.login} [${proofText(row)}]`] as const), columns),
    "",
    "`ralph doctor` shows which are installed, `ralph doctor --probe NAME` tries one. Any other program that reads a prompt",
    'on standard input runs with `--agent-cmd "…"`; `--agent scripted --script FILE` acts by a file, for tests',
  ].join("\n");
}

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
  const { missingProgram } = await import("../agents/command_agent.ts");
  const reason = command === before ? null : await missingProgram(command, host);
  return reason === null
    ? command
    : await askCommand(host, prompter, [`${reason}: name another, or give it again to keep it`], command);
}

/** Which of the server's models; the only one of a server here need not be named. */
async function pickModel({ name, models }: OwnServer, host: Host, prompter: Prompter) {
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
  return await agent.ensureUsable().then(() => null, ofCode("agent-missing", ({ hint }) => hint));
}
