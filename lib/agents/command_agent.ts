import { RalphError } from "../errors/ralph_error.ts";
import { findExecutable, shellInvocation } from "../host/shell.ts";
import type { Host } from "../host/types.ts";
import { commandWord } from "./command_word.ts";
import { runTurn } from "./run_turn.ts";
import type { Agent, TurnRequest } from "./types.ts";

/** A command line as an agent. */
export interface CommandAgentOptions {
  /** Runs through the shell exactly as written: prompt on standard input, words on standard output. */
  readonly command: string;
  /** Put behind the command, each quoted for the shell. @default none */
  readonly args?: readonly string[];
  /** Put there instead where the terminal is handed over; the prompt comes last. Absent: it cannot be, but for claude. */
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
 * import { commandAgent, createHost } from "ralph";
 *
 * const agent = commandAgent({ command: "./agent.sh --quiet", host: createHost() });
 * console.log(agent.name); // ./agent.sh
 * ```
 */
export function commandAgent(options: CommandAgentOptions): Agent {
  const { host, args = [] } = options;
  const command = [options.command, ...args.map(quoted)].join(" ");
  const word = commandWord(command);
  const talk = interactiveCommand(options, word);
  return {
    canTalk: talk !== null,
    name: word ?? command.trim().split(/\s+/)[0] ?? command,
    async ensureUsable(): Promise<void> {
      if (word === null) return;
      if (await findExecutable(word, host.environment, options.root ?? host.environment.cwd) !== null) return;
      const reason = /[/\\]/.test(word) ? `${word} does not exist or may not be run` : `${word} is not on PATH`;
      throw new RalphError("agent-not-found", { details: { command, reason } });
    },
    async runTurn(request: TurnRequest) {
      const { idleTimeoutMs: _, ...plain } = request;
      if (request.interactive === true && talk !== null) {
        const session = await shellInvocation(`${talk} ${quoted(request.prompt)}`, host.environment);
        return runTurn(host, session, plain);
      }
      const shell = await shellInvocation(command, host.environment);
      // Plain text says nothing until the end: only the time of the whole turn is a limit.
      return runTurn(host, { ...shell, input: request.prompt }, plain);
    },
  };
}

/** The command line of a conversation, without what makes a program print one answer and end. */
function interactiveCommand({ command, interactiveArgs }: CommandAgentOptions, word: string | null): string | null {
  const isClaude = word !== null && /(?:^|[/\\])claude(?:\.exe|\.cmd)?$/.test(word);
  if (interactiveArgs === undefined && !isClaude) return null;
  const plain = isClaude ? command.replaceAll(/\s(?:--print|-p)(?=\s|$)/g, "") : command;
  return [plain, ...(interactiveArgs ?? []).map(quoted)].join(" ");
}

function quoted(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
