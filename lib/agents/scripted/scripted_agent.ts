import { type Redactor, redactorFor } from "../../events/redact.ts";
import { placeOf } from "../../config/key_path.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Host, ProcessEnd } from "../../host/types.ts";
import type { AgentTurn, TurnEnd } from "../../backlog/types.ts";
import { turnEndOf, UNKNOWN_USAGE } from "../turn_end.ts";
import { openTurnRecord, type TurnRecord } from "../turn_record.ts";
import type { Agent, TurnRequest } from "../../context/context.ts";
import type { Script, ScriptedTurn } from "./types.ts";
import { appendText, ensureDirectory, readText, removeOwn, resolveInside, writeAtomic } from "../../host/files.ts";
import { shellInvocation } from "../../host/shell.ts";
import { dirname, isAbsolute, normalize, sep } from "node:path";
import { z } from "zod";

/** The needs of the scripted agent beside its turns. */
export interface ScriptedAgentOptions {
  readonly host: Host;
  /** @default "scripted" */
  readonly name?: string;
}

/**
 * An agent that follows a script: the first turn that fits the prompt and is not used up is carried out, for real, on
 * the working tree. For demonstrations, and for your own tests of recipes. The agent remembers used turns in memory: a
 * new agent begins anew.
 *
 * @param source the turns, or the YAML or JSON `file` that holds them
 *
 * @example A turn that writes a file and says so
 * ```ts
 * import { scriptedAgent } from "ralph/agents";
 * import { createHost } from "ralph/host";
 *
 * const agent = scriptedAgent({
 *   turns: [{ match: "US-001", write: { "hello.txt": "hello\n" }, say: "<promise>COMPLETE</promise>" }],
 * }, { host: createHost() });
 * await agent.ensureUsable();
 * ```
 */
export function scriptedAgent(source: Script | { readonly file: string }, options: ScriptedAgentOptions): Agent {
  const used = new Map<ScriptedTurn, number>();
  let loaded: Promise<Script> | undefined;

  function load(): Promise<Script> {
    return loaded ??= "file" in source ? readScript(source.file) : checkScript(source, "script");
  }

  /** The next turn for a prompt, which is thereby used. */
  function take(script: Script, prompt: string): ScriptedTurn | null {
    for (const turn of script.turns) {
      const uses = used.get(turn) ?? 0;
      if (turn.times !== "any" && uses >= (turn.times ?? 1)) continue;
      if (!listOf(turn.match).every((pattern) => matcherOf(pattern)(prompt))) continue;
      used.set(turn, uses + 1);
      return turn;
    }
    return null;
  }

  return {
    name: options.name ?? "scripted",
    async ensureUsable(): Promise<void> {
      await load();
    },
    async runTurn(request: TurnRequest): Promise<AgentTurn> {
      const { clock } = options.host;
      const startedAt = clock.steady();
      const turn = take(await load(), request.prompt);
      const redactor = redactorFor({ ...options.host.environment.variables, ...request.environment });
      const record = maskedRecord(await openTurnRecord(request), redactor);
      let end: TurnEnd;
      let words: Awaited<ReturnType<TurnRecord["finish"]>> = { text: "", lines: [] };
      try {
        end = await endOf(options.host, turn, request, record);
      } finally {
        words = await record.finish();
      }
      return {
        ...words,
        end,
        usage: UNKNOWN_USAGE,
        transcript: request.transcript,
        durationMs: Math.max(0, clock.steady() - startedAt),
      };
    },
  };
}

/** A script's words come from no process: they are masked here. */
function maskedRecord(record: TurnRecord, { text }: Redactor): TurnRecord {
  const masked = (chunk: Uint8Array): Uint8Array => Buffer.from(text(Buffer.from(chunk).toString("utf8")));
  return {
    words: (chunk) => record.words(masked(chunk)),
    noise: (chunk) => record.noise(masked(chunk)),
    finish: () => record.finish(),
  };
}

async function endOf(
  host: Host,
  turn: ScriptedTurn | null,
  request: TurnRequest,
  record: TurnRecord,
): Promise<TurnEnd> {
  if (turn === null) {
    const first = request.prompt.split("\n").find((line) => line.trim() !== "") ?? "";
    const message = `the script has no turn left for the prompt that begins with: ${first.slice(0, 200)}`;
    await record.noise(Buffer.from(`${message}\n`));
    return { reason: "agent-failed", message };
  }
  try {
    const end = await act(host, turn, request, record);
    return turnEndOf({ ...end, signal: null, durationMs: 0, stdout: "", stderr: turn.stderr ?? "", tail: "" }, request);
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    await record.noise(Buffer.from(`${error.message}\n`));
    return { reason: "agent-failed", message: error.message };
  }
}

/** How a scripted turn came to its end, as a process would have ended. */
type ActEnd = Pick<ProcessEnd, "reason" | "exitCode">;

/** Does what a turn says, for real. */
async function act(host: Host, turn: ScriptedTurn, request: TurnRequest, record: TurnRecord): Promise<ActEnd> {
  const deadline = host.clock.steady() + request.timeoutMs;
  const stopped = await wait(host, delayMs(turn.delay), deadline, request.signal);
  if (stopped !== null) return stopped;
  await changeFiles(turn, request.cwd);
  for (const command of listOf(turn.run)) {
    await record.noise(Buffer.from(`$ ${command}\n`));
    const end = await runCommand(host, command, deadline, request, record);
    if (end.reason !== "exited") return { reason: end.reason, exitCode: null };
  }
  if (turn.stderr !== undefined) await record.noise(Buffer.from(withNewline(turn.stderr)));
  if (turn.say !== undefined) {
    const words = listOf(turn.say).join("\n").replaceAll("{{nonce}}", request.nonce ?? "");
    await record.words(Buffer.from(withNewline(words)));
  }
  if (turn.hang === true) {
    return await wait(host, Infinity, deadline, request.signal) ?? { reason: "timed-out", exitCode: null };
  }
  return { reason: "exited", exitCode: turn.exit ?? 0 };
}

async function changeFiles(turn: ScriptedTurn, cwd: string): Promise<void> {
  for (const [path, content] of Object.entries(turn.write ?? {})) {
    const target = await resolveInside(cwd, path);
    await ensureDirectory(dirname(target));
    await writeAtomic(target, content);
  }
  for (const [path, content] of Object.entries(turn.append ?? {})) {
    await appendText(await resolveInside(cwd, path), content);
  }
  for (const path of turn.delete ?? []) await removeOwn(await resolveInside(cwd, path), cwd);
}

async function runCommand(host: Host, command: string, deadline: number, request: TurnRequest, record: TurnRecord) {
  const end = await host.processes.run({
    ...await shellInvocation(command, host.environment),
    cwd: request.cwd,
    environment: request.environment,
    timeoutMs: Math.max(1, deadline - host.clock.steady()),
    signal: request.signal,
    ...(request.onStart === undefined ? {} : { onStart: request.onStart }),
    onOutput: (chunk) => record.noise(chunk),
  });
  if (end.reason === "exited" && end.exitCode !== 0) {
    await record.noise(Buffer.from(`[exit code ${end.exitCode ?? end.signal}]\n`));
  }
  return end;
}

/** Waits as long as the turn may. @returns how the turn ended meanwhile, or `null` */
async function wait(host: Host, milliseconds: number, deadline: number, signal: AbortSignal): Promise<ActEnd | null> {
  const left = deadline - host.clock.steady();
  if (milliseconds > 0) await host.clock.sleep(Math.min(milliseconds, left), signal);
  if (signal.aborted) return { reason: "aborted", exitCode: null };
  return milliseconds > left ? { reason: "timed-out", exitCode: null } : null;
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

const texts = z.union([z.string(), z.array(z.string())]);

const files = z.record(z.string().min(1), z.string());

const duration = z.union([
  z.number().nonnegative(),
  z.string().regex(/^\d+(\.\d+)?(ms|s|m)$/, "expected seconds, or a text such as `500ms`, `2s`, `1m`"),
]);

const SCRIPT_SCHEMA: z.ZodType<Script> = z.strictObject({
  turns: z.array(z.strictObject({
    match: z.union([z.string(), z.array(z.string())]).optional(),
    times: z.union([z.number().int().positive(), z.literal("any")]).optional(),
    delay: duration.optional(),
    write: files.optional(),
    append: files.optional(),
    delete: z.array(z.string().min(1)).optional(),
    run: texts.optional(),
    stderr: z.string().optional(),
    say: texts.optional(),
    hang: z.boolean().optional(),
    exit: z.number().int().min(0).max(255).optional(),
  })).min(1, "expected at least one turn"),
}) as z.ZodType<Script>;

/** Reads a file of turns, YAML or JSON. @throws {RalphError} script-invalid */
export async function readScript(file: string): Promise<Script> {
  const text = await readText(file);
  if (text === null) throw invalid(file, "does not exist");
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw invalid(file, (error as Error).message.split("\n")[0] ?? "not YAML", error);
  }
  return checkScript(value, file);
}

/** Validates a script. @throws {RalphError} script-invalid */
export async function checkScript(value: unknown, name: string): Promise<Script> {
  const result = SCRIPT_SCHEMA.safeParse(value);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `${placeOf(path) || "the script"}: ${message}`);
    throw invalid(name, problems.join("; "));
  }
  for (const [index, turn] of result.data.turns.entries()) checkTurn(turn, `turns[${index}]`, name);
  return result.data;
}

function checkTurn(turn: ScriptedTurn, place: string, name: string): void {
  for (const field of ["write", "append", "delete"] as const) {
    const value = turn[field] ?? [];
    const paths = Array.isArray(value) ? value as readonly string[] : Object.keys(value);
    const outside = paths.find((path) => isAbsolute(path) || normalize(path).split(sep)[0] === "..");
    if (outside !== undefined) throw invalid(name, `${place}.${field}: ${outside} is outside the working tree`);
  }
  for (const pattern of listOf(turn.match)) {
    try {
      matcherOf(pattern);
    } catch (error) {
      throw invalid(name, `${place}.match: ${(error as Error).message}`, error);
    }
  }
}

/** Tells whether a prompt contains a text, or fits `/a regular expression/`. */
export function matcherOf(pattern: string): (prompt: string) => boolean {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/s.exec(pattern) ?? [];
  if (source === undefined) return (prompt) => prompt.includes(pattern);
  const expression = new RegExp(source, flags);
  return (prompt) => expression.test(prompt);
}

/** One text or several, as a list. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return [value ?? []].flat();
}

/** Milliseconds of a `delay`. */
export function delayMs(delay: number | string | undefined): number {
  if (typeof delay !== "string") return (delay ?? 0) * 1000;
  const factors: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
  return Number.parseFloat(delay) * (factors[delay.replace(/^[\d.]+/, "")] ?? 1000);
}

function invalid(path: string, problem: string, cause?: unknown): RalphError {
  return new RalphError("script-invalid", { details: { path, problem }, cause });
}
