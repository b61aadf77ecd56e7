import { z } from "zod";
import { placeOf } from "../config/key_path.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { readText } from "../host/files.ts";
import type { Answers } from "./find_answer.ts";

const answer = z.union([z.string(), z.number(), z.boolean()]).transform((value) =>
  typeof value === "boolean" ? (value ? "yes" : "no") : String(value)
);

/** The shape of an answers file. Numbers and booleans are taken as text, `true` and `false` as yes and no. */
const ANSWERS_SCHEMA: z.ZodType<Answers> = z.strictObject({
  questions: z.array(z.strictObject({ match: z.string().trim().min(1, "must not be empty"), answer })).default([]),
  otherwise: answer.optional(),
  prompts: z.record(z.string(), answer).default({}),
});

/**
 * Reads an answers file, YAML or JSON.
 *
 * @param path absolute, or relative to the current folder
 * @throws {RalphError} answers-invalid
 */
export async function loadAnswers(path: string): Promise<Answers> {
  const text = await readText(path);
  if (text === null) throw invalid(path, "the file does not exist");
  return await parseAnswers(text, path);
}

/**
 * Reads the text of an answers file, JSON or YAML.
 *
 * @throws {RalphError} answers-invalid with the field that is wrong
 */
export async function parseAnswers(text: string, path: string): Promise<Answers> {
  const result = ANSWERS_SCHEMA.safeParse(await parseText(text, path) ?? {});
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path: place, message }) =>
    place.length === 0 ? message : `${placeOf(place)}: ${message}`
  );
  throw invalid(path, problems.join("; "));
}

async function parseText(text: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: YAML, or wrong in both. YAML says where in the same words on every runtime.
  }
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { prettyErrors: true });
  const error = document.errors[0];
  if (error === undefined) {
    try {
      return document.toJS();
    } catch (cause) { // aliases that name each other without end
      throw invalid(path, cause instanceof Error ? cause.message : String(cause), cause);
    }
  }
  const [start] = error.linePos ?? [];
  const place = start === undefined ? "" : `line ${start.line}, column ${start.col}: `;
  throw invalid(
    path,
    `not valid YAML: ${place}${error.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "")}`,
    error,
  );
}

function invalid(path: string, problem: string, cause?: unknown): RalphError {
  return new RalphError("answers-invalid", { details: { path, problem }, ...(cause === undefined ? {} : { cause }) });
}
