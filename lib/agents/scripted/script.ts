/**
 * The scripted agent's file: turns that match on the prompt and say what to do.
 *
 * @module
 */
import { isAbsolute, normalize, sep } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { readText } from "../../host/files.ts";
import type { Script, ScriptedTurn } from "./types.ts";
import { z } from "zod";

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
    throw invalid(name, result.error.issues.map((issue) => `${fieldName(issue.path)}: ${issue.message}`).join("; "));
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

function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the script";
  return path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("").replace(/^\./, "");
}

function invalid(path: string, problem: string, cause?: unknown): RalphError {
  return new RalphError("script-invalid", { details: { path, problem }, cause });
}
