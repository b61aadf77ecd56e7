/**
 * Hooks: what runs after (or before) each iteration, whatever the iteration was about. Deterministic where the loop is
 * free.
 *
 * @module
 */
import type { Config, HookConfig } from "../config/load.ts";
import type { Agent } from "../context/context.ts";

/** Ralph hands this to a hook that is a function. */
export interface HookContext {
  /** From 1. */
  readonly iteration: number;
  /** Absolute path of the iteration's transcript. */
  readonly transcript: string;
  /** Absolute path of the tree to work in: a worktree of its own, or the root. */
  readonly cwd: string;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  /** Adds to the hook's log. */
  readonly log: (text: string) => Promise<void>;
}

/** One run of a hook, reported when it starts and when it ends: the same iteration and id twice. */
export interface HookRecord {
  /** From 1, over all runs of a sprint. */
  readonly iteration: number;
  /** The hook's `id`. */
  readonly hookId: string;
  /** `interrupted`: ended with its run. */
  readonly status: "in-progress" | "completed" | "failed" | "interrupted";
  /** The pid of the hook's own process; `null` before it has one, and for an agent that is none. */
  readonly pid: number | null;
  /** `null` while it runs, and for one that a signal ended. */
  readonly exitCode: number | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds since 1970; `null` while it runs. */
  readonly endedAt: number | null;
  /** Absolute path of the file that holds its output. */
  readonly log: string;
  /** Absolute path of the iteration's transcript. */
  readonly transcript: string;
  /** Why it failed. */
  readonly message: string | null;
}

/** Keeps what became of a run's hooks. */
export interface HookStore {
  /** The folder of the logs, relative to the root. @default the run's folder */
  readonly directory?: string;
  /** Records a hook's start or end; several may be reported at once. */
  record(record: HookRecord): Promise<void>;
  /** Hooks that ended with their run before they were done; asked once, when a run begins. */
  left(): Promise<readonly Pick<HookRecord, "hookId" | "iteration" | "transcript">[]>;
}

/** How a hook runs. */
export interface HookOptions {
  /** Letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  /** @default true */
  readonly enabled?: boolean;
  /** Beside the next iteration; otherwise before it. @default true */
  readonly parallel?: boolean;
  /** `before`: started before the iteration whose transcript it is given. @default "after" */
  readonly when?: "after" | "before";
  /** A parallel hook works in a git worktree of its own, and what it changed is committed between two iterations. @default true */
  readonly isolated?: boolean;
  /** The agent for a workflow or prompt: a known name, a command for the shell, or your own. @default the run's */
  readonly agent?: string | { readonly command: string } | Agent;
  /** Milliseconds. @default provider.timeout of the configuration */
  readonly timeoutMs?: number;
  /** Keeps what became of it; the first that a list of hooks names is that of all. @default events and the run's folder */
  readonly store?: HookStore;
}

/** A hook's action: exactly one of these. */
export type HookAction =
  /** `plugin:name` is the agent's command `/plugin:name TRANSCRIPT`; a plain name is `.claude/workflows/NAME.yaml`. */
  | { readonly workflow: string }
  /** `$ITERATION_TRANSCRIPT` in it is the transcript's path. */
  | { readonly prompt: string }
  /** For the shell, with `ITERATION_TRANSCRIPT` and `RALPH_ITERATION` in its environment. */
  | { readonly command: string }
  /** Fails when it throws, or when its exit code is not 0. */
  | { readonly run: (context: HookContext) => Promise<{ readonly exitCode: number | null } | void> };

/** One hook. */
export type Hook = HookOptions & HookAction;

/** Ids become parts of file names. */
export const HOOK_ID_REGEXP: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Why a list of hooks cannot be run, all of it; empty when it can. Pure. */
export function hookProblems(hooks: readonly Hook[]): readonly string[] {
  const seen = new Set<string>();
  return hooks.flatMap((hook) => {
    const problems: string[] = [];
    if (!HOOK_ID_REGEXP.test(hook.id)) {
      problems.push(`the hook id ${JSON.stringify(hook.id)} must be letters, digits, ., _ and -`);
    }
    if (seen.has(hook.id)) problems.push(`two hooks are named ${hook.id}`);
    seen.add(hook.id);
    const actions = ["workflow", "prompt", "command", "run"].filter((key) => key in hook);
    if (actions.length !== 1) {
      problems.push(`the hook ${hook.id} needs exactly one of workflow, prompt, command and run`);
    }
    return problems;
  });
}

/** The enabled hooks before or after an iteration. Pure. */
export function hooksOf(hooks: readonly Hook[], when: "after" | "before"): readonly Hook[] {
  return hooks.filter((hook) => hook.enabled !== false && (hook.when ?? "after") === when);
}

/**
 * The hooks that `ralph.config.json` names. Pure.
 *
 * @example Run the configured hooks with a loop of your own
 * ```ts
 * import { configuredHooks, memoryBacklog, runLoop } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ config: { hooks: [{ id: "count", command: "ls | wc -l" }] } });
 * const run = await runLoop(ralph, memoryBacklog([]), { hooks: configuredHooks(ralph.config) });
 * console.log(run.status); // passed
 * ```
 */
export function configuredHooks({ hooks }: Pick<Config, "hooks">): readonly Hook[] {
  return hooks.map(hookOfConfig);
}

/** A hook as a file names it. Pure. */
export function hookOfConfig(hook: HookConfig): Hook {
  const { agent, agentCommand, timeout, workflow, prompt, command, ...config } = hook;
  const options: HookOptions = {
    ...config,
    ...(agent === undefined ? {} : { agent }),
    ...(agentCommand === undefined ? {} : { agent: { command: agentCommand } }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
  };
  if (workflow !== undefined) return { ...options, workflow };
  return prompt === undefined ? { ...options, command: command ?? "" } : { ...options, prompt };
}
