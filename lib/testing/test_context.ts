import type { Script } from "../agents/scripted/types.ts";
import { scriptedAgent } from "../agents/scripted/scripted_agent.ts";
import type { Agent, RalphContext } from "../context/context.ts";
import { createRalph, type RalphOptions } from "../recipe/create_ralph.ts";
import type { RalphEvent } from "../events/types.ts";
import { createHost } from "../host/create_host.ts";
import { type TemporaryRepository, temporaryRepository } from "./temporary_repository.ts";

/** The parts of a test's context: `createRalph()`'s options, with a repository and an agent made for the test. */
export interface TestContextOptions extends Omit<RalphOptions, "agent" | "root" | "script"> {
  /** Files that are committed before the test: path to content. */
  readonly files?: Readonly<Record<string, string>>;
  /** Give the repository a bare remote `origin`. @default false */
  readonly remote?: boolean;
  /** The turns of a scripted agent, a command, or an agent of your own. @default an agent without turns */
  readonly agent?: Script | { readonly command: string } | Agent;
}

/** A real context in a real, temporary repository. */
export interface TestContext extends RalphContext, AsyncDisposable {
  /** The repository that the context works in. */
  readonly tree: TemporaryRepository;
  /** Every event so far. */
  readonly recorded: readonly RalphEvent[];
}

/** The configuration of a test: its processes are confined where it says so. */
export function unconfined(config: RalphOptions["config"] = {}): NonNullable<RalphOptions["config"]> {
  return config.trust === "strict" ? config : { ...config, sandbox: { mode: "off", ...config.sandbox } };
}

/**
 * A context for tests of steps and recipes. Nothing in it is faked but the agent, and what that does is real. Nothing is
 * confined, unless `config.sandbox.mode` says so.
 *
 * @throws {RalphError} git-failed, config-invalid
 *
 * @example Test a loop without a model
 * ```ts
 * import { memoryBacklog, runLoop } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * const turn = { write: { "a.txt": "a\n" }, say: "<ralph>DONE</ralph>" };
 * await using ralph = await testContext({ agent: { turns: [turn] } });
 * const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
 * console.log(run.status); // passed
 * ```
 */
export async function testContext(options: TestContextOptions = {}): Promise<TestContext> {
  const { files, agent, remote = false, sinks, config = {}, ...rest } = options;
  const host = options.host ?? createHost();
  const tree = await temporaryRepository({ remote, ...files === undefined ? {} : { files } });
  const recorded: RalphEvent[] = [];
  const sink = { emit: (event: RalphEvent) => void recorded.push(event) };
  try {
    const ralph = await createRalph({
      ...rest,
      config: unconfined(config),
      host,
      root: tree.path,
      agent: agent === undefined || "turns" in agent
        ? scriptedAgent(agent ?? { turns: [{ match: "/$^/" }] }, { host })
        : agent,
      sinks: [sink, ...sinks ?? []],
    });
    return {
      ...ralph,
      tree,
      recorded,
      async [Symbol.asyncDispose](): Promise<void> {
        await ralph[Symbol.asyncDispose]();
        if (options.host === undefined) await host.processes[Symbol.asyncDispose]();
        await tree[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await tree[Symbol.asyncDispose]();
    throw error;
  }
}
