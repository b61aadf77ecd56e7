import { basename } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { findExecutable, shellInvocation, shellWord } from "../host/shell.ts";
import type { Host } from "../host/types.ts";
import type { Adapter } from "./adapter.ts";
import { ADAPTERS } from "./adapters.ts";
import { commandWord, packageOf, programName } from "./program.ts";
import { type AgentInvocation, runTurn } from "./run_turn.ts";
import type { Agent, TurnRequest } from "../context/context.ts";

/** A command line as an agent. */
export interface CommandAgentOptions {
  /** Runs through the shell exactly as written: prompt on standard input, words on standard output. */
  readonly command: string;
  /** Put behind the command, each quoted for the shell. @default none */
  readonly args?: readonly string[];
  /** Put there instead where the terminal is handed over; the prompt comes last. Absent: as known of the program. */
  readonly interactiveArgs?: readonly string[];
  readonly host: Host;
  /** Absolute path of the folder that a relative program is looked up from. @default the current folder */
  readonly root?: string;
}

/**
 * Any command as an agent. The prompt comes on standard input, which is closed after it; exit code 0 is a turn that
 * ended normally; nothing is known about tokens or cost.
 *
 * @example An agent of your own
 * ```ts
 * import { commandAgent } from "ralph/agents";
 * import { createHost } from "ralph/host";
 *
 * const agent = commandAgent({ command: "./agent.sh --quiet", host: createHost() });
 * console.log(agent.name); // ./agent.sh
 * ```
 */
export function commandAgent(options: CommandAgentOptions): Agent {
  const { host, args = [] } = options;
  const command = [options.command, ...args.map(shellWord)].join(" ");
  const word = commandWord(command);
  const converses = options.interactiveArgs !== undefined || rowOf(word)?.takes?.includes("terminal");
  return {
    ...(converses ? { interactive: true } : {}),
    name: word ?? command.trim().split(/\s+/)[0] ?? command,
    async ensureUsable(): Promise<void> {
      const reason = await missingProgram(command, host, options.root);
      if (reason !== null) throw new RalphError("agent-not-found", { details: { command, reason } });
    },
    async runTurn(request: TurnRequest) {
      const { idleTimeoutMs: _, ...plain } = request;
      const inside = await insideOf(options, command, word);
      if (request.interactive === true) {
        return runTurn(host, { ...await atTheTerminal(options, word, request.prompt), ...inside }, plain);
      }
      const shell = await shellInvocation(command, host.environment);
      // Plain text says nothing until the end: only the time of the whole turn is a limit.
      return runTurn(host, { ...shell, input: request.prompt, ...inside }, plain);
    },
  };
}

/** Why a command cannot be started: its program is not there. `null`: it is, or the command is more than a program. */
export async function missingProgram(
  command: string,
  { environment }: Pick<Host, "environment">,
  root: string = environment.cwd,
): Promise<string | null> {
  const word = commandWord(command);
  if (word === null || await findExecutable(word, environment, root) !== null) return null;
  return /[/\\]/.test(word) ? `${word} does not exist or may not be run` : `${word} is not on PATH`;
}

/** The known agent whose program it is. */
function rowOf(word: string | null): Adapter | undefined {
  return word === null ? undefined : ADAPTERS.find((row) => programName(row) === basename(word));
}

/**
 * The terminal is the person's, so the prompt is the last argument. Known programs take a first prompt in a way of their
 * own; the flags of their unattended form are left out.
 */
async function atTheTerminal(
  { command, args = [], host, interactiveArgs }: CommandAgentOptions,
  word: string | null,
  prompt: string,
): Promise<AgentInvocation> {
  const interactive = interactiveArgs === undefined ? (await rowOf(word)?.load())?.interactive : null;
  if (word !== null && interactive) {
    const { input: _, ...call } = interactive({ prompt, model: null, reasoning: null, folder: "" });
    return { file: word, ...call };
  }
  const isClaude = word !== null && basename(word) === "claude";
  // with these it prints one answer and ends
  const plain = isClaude ? command.replaceAll(/\s(?:--print|-p)(?=\s|$)/g, "") : command;
  const line = [plain, ...(interactiveArgs ?? args).map(shellWord)].join(" ");
  const place = host.environment.platform === "win32" ? "%RALPH_PROMPT%" : '"$RALPH_PROMPT"';
  return { ...await shellInvocation(`${line} ${place}`, host.environment), environment: { RALPH_PROMPT: prompt } };
}

/** Programs keep their state in these, below a name of their own. */
const OWN_PLACES: readonly string[] = ["~/.", "~/.config/", "~/.local/share/", "~/.local/state/"];

/** Inside of a sandbox: a known agent's needs, and the files and folders that the command names. */
async function insideOf({ host, root }: CommandAgentOptions, command: string, word: string | null) {
  if (host.sandbox === undefined) return {};
  const program = word === null ? null : await findExecutable(word, host.environment, root ?? host.environment.cwd);
  const adapter = rowOf(word);
  const named = command.split(/[\s'"=]+/).filter((part) => part.startsWith("/") && part !== "/");
  const read = [...named, ...(program === null ? [] : [program, packageOf(program)])];
  if (adapter !== undefined) return { read, needs: adapter.needs };
  // a script may start any of them; other programs (ssh, docker, an agent) keep their login by their own name
  const names = new Set(command.match(/(?<![\w.-])\w[\w.-]*/g));
  const own = [...names].flatMap((name) => OWN_PLACES.map((place) => ({ path: `${place}${name}` })));
  return { read, state: [...own, ...ADAPTERS.flatMap(({ needs }) => needs.folders)] };
}
