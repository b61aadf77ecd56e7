import { createLoginWatch, seesLogin, turnVerdict } from "./turn_verdict.ts";
import { dirname, isAbsolute, join } from "node:path";
import { asRalphError, RalphError } from "../errors/ralph_error.ts";
import { readText, temporaryDirectory, writeAtomic } from "../host/files.ts";
import { programOf } from "./environment.ts";
import { packageOf, programPath } from "./program.ts";
import { AGENT_COMMAND, nodeVersion } from "../host/this_process.ts";
import type { AgentNeeds } from "../host/confinement.ts";
import type { Host } from "../host/types.ts";
import type { AgentTurn, Usage } from "../backlog/types.ts";
import type { Adapter, AdapterInvocation, AdapterOptions, Driver } from "./adapter.ts";
import type { ReadyEndpoint } from "./ask_endpoint.ts";
import type { ProviderChoice } from "../config/load.ts";
import { type AgentInvocation, runTurn, type TurnReading } from "./run_turn.ts";
import { createStreamReader } from "./stream_reader.ts";
import { silentTurn } from "./turn_end.ts";
import type { Agent, TurnRequest } from "../context/context.ts";

/** The needs of an agent of the table beside its row. */
export interface AdapterAgentOptions extends Pick<ProviderChoice, "endpoint" | "model" | "reasoning"> {
  readonly host: Host;
  /** Put behind the program where the terminal is handed over. @default none */
  readonly interactiveArgs?: readonly string[] | undefined;
  /** Absolute path of the folder that the program is looked up from. @default the current folder */
  readonly root?: string;
}

/** Linux takes no argument longer than 128 KiB; a longer prompt is handed over as a file. */
const LONGEST_ARGUMENT = 100_000;

/** An agent of the table: its program, its arguments, its stream. */
export function adapterAgent(adapter: Adapter, options: AdapterAgentOptions): Agent {
  const { host } = options;
  const root = options.root ?? host.environment.cwd;
  let ready: ReadyEndpoint | undefined;
  const server = async (): Promise<ReadyEndpoint | undefined> => ready ??= await serverOf(adapter, options);
  return {
    name: adapter.name,
    interactive: adapter.takes?.includes("terminal") === true || options.interactiveArgs !== undefined,
    async ensureUsable() {
      if (await programLine(adapter, host, root) === null) throw notFound(adapter);
      await server();
    },
    async runTurn(request) {
      const endpoint = await server().catch(asRalphError);
      if (RalphError.isInstance(endpoint)) {
        const message = `${endpoint.message} (${endpoint.hint})`;
        return silentTurn({ reason: "agent-unusable", message }, request.transcript);
      }
      await using folder = await temporaryDirectory("ralph-agent-");
      const program = await programLine(adapter, host, root) ?? [adapter.program ?? adapter.name];
      const asked = {
        prompt: request.prompt,
        model: options.model ?? null,
        reasoning: options.reasoning ?? null,
        ...(endpoint === undefined ? {} : { endpoint }),
        folder: folder.path,
      };
      const driver = await adapter.load();
      const place = { host, adapter, driver, program, folder: folder.path, endpoint };
      const interactive = interactiveOf(driver, options.interactiveArgs);
      if (request.interactive === true && interactive !== null) {
        return await runTurn(host, await inFolder(place, request.cwd, interactive(await pointed(asked))), request);
      }
      const { interactive: _, ...unattended } = request;
      const turn = await unattendedTurn(place, await inFolder(place, request.cwd, driver.arguments(asked)), unattended);
      return adapter.claims === "optional" ? { ...turn, needsClaim: false } : turn;
    },
  };
}

/** How the terminal is handed over: what the user adds comes first, so that the prompt stays last. */
function interactiveOf(
  { interactive }: Driver,
  added: readonly string[] | undefined,
): ((options: AdapterOptions) => AdapterInvocation) | null {
  if (added === undefined) return interactive;
  return (asked) => {
    const call = interactive?.(asked) ?? { arguments: [asked.prompt], input: null };
    return { ...call, arguments: [...added, ...call.arguments] };
  };
}

/** The lowest major version of Node that the AI SDK runs on. */
const LEAST_NODE = 22;

/** How an adapter's program is started, or `null`. @throws {RalphError} runtime-too-old */
async function programLine(adapter: Adapter, host: Host, root: string): Promise<readonly string[] | null> {
  if (adapter.program !== null) {
    const path = await programPath(adapter, host, root);
    return path === null ? null : [path];
  }
  const version = nodeVersion();
  if (version !== null && Number.parseInt(version) < LEAST_NODE) {
    throw new RalphError("runtime-too-old", { details: { what: "the built-in agent", least: LEAST_NODE, version } });
  }
  const own = await programOf(host.environment);
  return own === null ? null : [...own, AGENT_COMMAND];
}

function notFound({ name, program, install }: Adapter): RalphError {
  return new RalphError("agent-not-found", {
    details: { command: program ?? name, reason: "it is not on PATH" },
    hint: `install it (${install}), or name another with \`--agent\`; \`ralph doctor\` shows what is there`,
  });
}

/** A prompt that is too long for an argument becomes one that points to it. */
async function pointed(options: AdapterOptions): Promise<AdapterOptions> {
  if (Buffer.byteLength(options.prompt) <= LONGEST_ARGUMENT) return options;
  const file = join(options.folder, "prompt.md");
  await writeAtomic(file, options.prompt);
  return { ...options, prompt: `Read the file ${file} and do what it says.` };
}

/**
 * Several programs leave files of megabytes in the temporary folder, each time: they get one that is taken away. Some
 * believe PWD rather than the folder that they are started in.
 */
async function inFolder(
  { adapter: { name, needs }, program: [file = name, ...words], folder, endpoint }: TurnPlace,
  cwd: string,
  { arguments: list, input, environment, files = {} }: AdapterInvocation,
): Promise<AgentInvocation> {
  for (const [name, content] of Object.entries(files)) await writeAtomic(join(folder, name), content);
  return {
    file,
    arguments: [...words, ...list],
    needs: endpoint === undefined ? needs : withServer(needs, endpoint),
    read: [dirname(file), packageOf(file), ...words.filter(isAbsolute).flatMap(withPackages)],
    write: [folder],
    ...(input === null ? {} : { input }),
    environment: { TMPDIR: folder, PWD: cwd, OLDPWD: undefined, ...environment },
  };
}

/** Inside of a sandbox it reaches its server, and has the server's key. */
function withServer(needs: AgentNeeds, endpoint: ReadyEndpoint): AgentNeeds {
  const { keyVariable } = endpoint;
  return {
    ...needs,
    hosts: [...needs.hosts, endpoint.host],
    keys: [...needs.keys, ...(keyVariable === null ? [] : [keyVariable])],
  };
}

/** Ralph from its sources, or as a package: the folder above `bin` holds what it imports. */
function withPackages(script: string): readonly string[] {
  const top = dirname(dirname(script));
  return [top, packageOf(top)];
}

/** The server is asked once: what it has does not change while a run lasts. */
async function serverOf({ program }: Adapter, { endpoint, model, host: { environment } }: AdapterAgentOptions) {
  if (endpoint === undefined && program !== null) return undefined;
  const { configuredEndpoint } = await import("./ask_endpoint.ts");
  return await configuredEndpoint(endpoint, model ?? undefined, environment.variables);
}

interface TurnPlace {
  readonly host: Host;
  readonly adapter: Adapter;
  readonly driver: Driver;
  /** The file, and arguments that belong to the program. */
  readonly program: readonly string[];
  readonly folder: string;
  readonly endpoint: ReadyEndpoint | undefined;
}

async function unattendedTurn(place: TurnPlace, invocation: AgentInvocation, request: TurnRequest): Promise<AgentTurn> {
  const { host, adapter, driver } = place;
  if (driver.translator === null) {
    // Plain text says nothing until the end: only the time of the whole turn is a limit.
    const { idleTimeoutMs: _, ...plain } = request;
    return await runTurn(host, invocation, plain);
  }
  const reader = createStreamReader({
    translator: driver.translator(),
    prompt: request.prompt,
    onEvent: request.onEvent,
    ...(driver.ignored === undefined ? {} : { ignored: driver.ignored }),
  });
  // there is a login of it, or its server is named
  const hasLogin = invocation.needs !== adapter.needs || adapter.waitsForServer === undefined ||
    await seesLogin(adapter, host.environment, request.cwd);
  using login = createLoginWatch(host.clock, reader, hasLogin);
  const signal = AbortSignal.any([request.signal, login.signal]);
  const judge: TurnReading["judge"] = (end) =>
    turnVerdict(end, reader.summary(), {
      login: adapter.login,
      asksToLogIn: request.signal.aborted ? null : login.said(),
      hasLogin,
      limits: request,
      now: host.clock.now(),
      agent: adapter.name,
      loginFor: driver.loginFor,
      refusals: adapter.refusals,
      exitKind: driver.exitKind,
    });
  const turn = await runTurn(host, invocation, { ...request, signal }, { sink: reader, watch: login.push, judge });
  const { toolCalls, asked, planned, usage } = reader.summary();
  return { ...turn, usage: await usageOf(place, usage), activity: { toolCalls, asked, planned } };
}

async function usageOf({ driver, folder }: TurnPlace, streamed: Usage): Promise<Usage> {
  if (driver.usageFile === undefined) return streamed;
  const text = await readText(join(folder, driver.usageFile.name));
  return text === null ? streamed : driver.usageFile.read(text) ?? streamed;
}
