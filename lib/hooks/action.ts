import { resolve } from "node:path";
import { turnEnvironment } from "../agents/environment.ts";
import { resolveAgent } from "../agents/registry.ts";
import type { Agent, RalphContext } from "../context/context.ts";
import { redactorFor } from "../events/redact.ts";
import { openAppender } from "../host/files.ts";
import { shellInvocation } from "../host/shell.ts";
import type { Hook } from "./hook.ts";
import { hookPrompt } from "./prompt.ts";
import type { Item } from "../backlog/types.ts";

/** The iteration that a hook runs for, and the tree that it works in. Paths are absolute. */
export interface HookWorkspace {
  readonly iteration: number;
  /** `null` for an iteration of an earlier run. */
  readonly item: Item | null;
  readonly transcript: string;
  readonly cwd: string;
  readonly log: string;
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
}

/** How a hook's work ended. `message`: why it failed, or `null`. */
export interface HookEnd {
  readonly exitCode: number | null;
  readonly message: string | null;
}

/** Does what a hook says. Never throws for what the hook did. */
export async function runHookAction(ralph: RalphContext, hook: Hook, workspace: HookWorkspace): Promise<HookEnd> {
  if ("run" in hook) return await runFunction(ralph, hook, workspace);
  const environment = {
    ...await turnEnvironment(ralph, workspace.item),
    ITERATION_TRANSCRIPT: workspace.transcript,
    RALPH_ITERATION: String(workspace.iteration),
    RALPH_HOOK: hook.id,
  };
  if ("command" in hook) return await runShell(ralph, hook, workspace, environment);
  const agent = agentOf(ralph, hook.agent);
  const { end, exitCode } = await agent.runTurn({
    prompt: await hookPrompt(ralph.root, hook, workspace.transcript),
    cwd: workspace.cwd,
    transcript: workspace.log,
    timeoutMs: timeoutOf(ralph, hook),
    idleTimeoutMs: ralph.config.provider.idleTimeout * 1000,
    environment,
    signal: workspace.signal,
    onStart: workspace.onStart,
  });
  if (end.reason === "completed") return { exitCode: exitCode ?? 0, message: null };
  return { exitCode: exitCode ?? null, message: "message" in end ? end.message : end.reason };
}

async function runFunction(
  ralph: RalphContext,
  hook: Extract<Hook, { readonly run: unknown }>,
  { iteration, transcript, cwd, log: file, signal, onStart }: HookWorkspace,
): Promise<HookEnd> {
  onStart(ralph.host.environment.pid);
  const writer = await openAppender(file);
  const redactor = redactorFor(ralph.host.environment.variables);
  const log = async (text: string): Promise<void> => writer.write(Buffer.from(redactor.text(text)));
  try {
    const ended = await Promise.race([hook.run({ iteration, transcript, cwd, signal, log }), whenAborted(signal)]);
    const exitCode = typeof ended === "object" ? ended.exitCode : 0;
    return { exitCode, message: exitCode === 0 ? null : `exit ${exitCode}` };
  } catch (error) {
    await log(`${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
    return { exitCode: null, message: redactor.text(error instanceof Error ? error.message : String(error)) };
  } finally {
    await writer.close();
  }
}

/** A function that ignores its signal is not waited for. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

async function runShell(
  ralph: RalphContext,
  hook: Extract<Hook, { readonly command: string }>,
  { cwd, log: file, signal, onStart }: HookWorkspace,
  environment: Readonly<Record<string, string>>,
): Promise<HookEnd> {
  const writer = await openAppender(file);
  const redactor = redactorFor(ralph.host.environment.variables);
  const timeoutMs = timeoutOf(ralph, hook);
  try {
    const end = await ralph.host.processes.run({
      ...await shellInvocation(hook.command, ralph.host.environment),
      cwd,
      environment,
      timeoutMs,
      signal,
      onStart,
      mask: () => redactor.stream(),
      onOutput: (chunk) => writer.write(chunk),
    });
    if (end.reason === "timed-out") {
      return { exitCode: null, message: `had not ended after ${Math.round(timeoutMs / 1000)} s` };
    }
    if (end.reason !== "exited") {
      return { exitCode: null, message: end.reason === "aborted" ? "aborted" : `${end.reason}: ${end.stderr}` };
    }
    const { exitCode } = end;
    return { exitCode, message: exitCode === 0 ? null : `exit ${exitCode ?? end.signal}` };
  } finally {
    await writer.close();
  }
}

function agentOf(ralph: RalphContext, wanted: Hook["agent"]): Agent {
  if (wanted === undefined) return ralph.agent;
  if (typeof wanted === "object" && "runTurn" in wanted) return wanted;
  const named = typeof wanted === "string" ? { name: wanted } : { command: wanted.command };
  return resolveAgent({ ...named, config: ralph.config, host: ralph.host, root: resolve(ralph.root) });
}

function timeoutOf({ config }: RalphContext, { timeoutMs }: Hook): number {
  return timeoutMs ?? config.provider.timeout * 1000;
}
