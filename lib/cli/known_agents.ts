import { basename } from "node:path";
import { commandWord, programName, programPath } from "../agents/program.ts";
import { ADAPTERS } from "../agents/adapters.ts";
import type { Adapter } from "../agents/adapter.ts";
import type { Host } from "../host/types.ts";
import { table } from "./help.ts";

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
export async function ownServers(variables: Host["environment"]["variables"]): Promise<readonly OwnServer[]> {
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
