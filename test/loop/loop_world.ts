import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Agent, RalphContext, TurnRequest } from "../../lib/context/context.ts";
import { createRalph, type RalphOptions } from "../../lib/recipe/create_ralph.ts";
import { unconfined } from "../../lib/testing/test_context.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { appendText, temporaryDirectory } from "../../lib/host/files.ts";
import type { AgentTurn } from "../../lib/backlog/types.ts";
import { makeRepository } from "../repository.ts";

const run = promisify(execFile);

/** A test's agent does this in one turn: it works on the real tree and says some lines. */
export type Turns = (request: TurnRequest, number: number) => Promise<Partial<AgentTurn> | void>;

/** A real repository in a temporary folder with a context on it, and an agent made of a function. */
export interface World extends AsyncDisposable {
  readonly root: string;
  readonly ralph: RalphContext;
  readonly events: RalphEvent[];
  readonly prompts: string[];
  git(...arguments_: string[]): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** A new context on the same repository, as a second start of Ralph has it. */
  again(turns?: Turns): Promise<RalphContext>;
  /** Disposes of the contexts, as the end of the program does. */
  close(): Promise<void>;
}

/** Commits as git is set up for it in the temporary repository alone. */
export async function loopWorld(
  turns: Turns,
  options: RalphOptions & { readonly files?: Record<string, string> } = {},
): Promise<World> {
  const folder = await temporaryDirectory("ralph-loop");
  const root = folder.path;
  const events: RalphEvent[] = [];
  const prompts: string[] = [];
  const git = async (...arguments_: string[]): Promise<string> =>
    (await run("git", arguments_, { cwd: root })).stdout.trim();
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  makeRepository(root, { files: { "README.md": "# x\n", ...options.files } });
  const opened: (RalphContext & AsyncDisposable)[] = [];
  const again = async (next: Turns = turns): Promise<RalphContext> => {
    const { files: _, ...rest } = options;
    const ralph = await createRalph({
      ...rest,
      config: unconfined(rest.config),
      root,
      agent: agentOf(next, prompts),
      sinks: [{ emit: (event) => events.push(event) }],
    });
    opened.push(ralph);
    return ralph;
  };
  const close = async (): Promise<void> => {
    for (const ralph of opened.splice(0)) await ralph[Symbol.asyncDispose]();
  };
  return {
    root,
    ralph: await again(),
    events,
    prompts,
    git,
    write,
    again,
    close,
    async [Symbol.asyncDispose]() {
      await close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The notices of a run that are not about the machine: one without bubblewrap has one more. */
export function ofTheRun<Notice extends { readonly kind: string }>(
  { notices }: { readonly notices: readonly Notice[] },
): readonly Notice[] {
  return notices.filter(({ kind }) => kind !== "environment");
}

function agentOf(turns: Turns, prompts: string[]): Agent {
  return {
    name: "test",
    ensureUsable: () => Promise.resolve(),
    async runTurn(request) {
      prompts.push(request.prompt);
      await appendText(request.transcript, "");
      const turn = await turns(request, prompts.length) ?? {};
      const usage = {
        inputTokens: null,
        outputTokens: null,
        cachedTokens: null,
        reasoningTokens: null,
        costUsd: null,
        estimated: false,
      };
      return {
        end: { reason: "completed" },
        text: "",
        lines: [],
        usage,
        transcript: request.transcript,
        durationMs: 1,
        ...turn,
      };
    },
  };
}
