import { parseJson } from "../errors/json_syntax.ts";
import { stateInvalid, stateMissing } from "../errors/ralph_error.ts";
import { issueText, type StandardSchema } from "./schema.ts";

/** The shape of a JSON file: a schema of zod, valibot or arktype, or a function that says whether a value fits. */
export type JsonSchema<Value> = StandardSchema<Value> | ((value: unknown) => value is Value);

/** A JSON file that is state. */
export interface JsonFile<Value> {
  /** Relative to the root. */
  readonly path: string;
  /** @throws {RalphError} state-invalid, with line and column if the text is not JSON; state-missing */
  read(): Promise<Value>;
  /** Reads, changes and writes while no one else can. An equal value writes nothing. */
  update(change: (value: Value) => Value): Promise<void>;
}

interface Texts {
  read(path: string): Promise<string | null>;
  update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
}

/** Reads and writes the file at `path`. `empty`: what a missing file counts as. */
export function jsonFile<Value>(
  state: Texts,
  path: string,
  { schema, empty }: { readonly schema: JsonSchema<Value>; readonly empty?: Value | undefined },
): JsonFile<Value> {
  function parse(text: string | null): Value {
    if (text !== null) return valueOf(parseJson(text, path), path, schema);
    if (empty !== undefined) return empty;
    throw stateMissing(path);
  }
  return {
    path,
    read: async () => parse(await state.read(path)),
    async update(change) {
      await state.update(path, (text) => {
        const before = parse(text);
        const [old, now] = [before, change(before)].map((value) => JSON.stringify(value, null, 2));
        return old === now ? text : `${now}\n`;
      });
    },
  };
}

function valueOf<Value>(value: unknown, path: string, schema: JsonSchema<Value>): Value {
  if (!("~standard" in schema)) {
    if (schema(value)) return value;
    throw stateInvalid(path, "it holds something else than expected");
  }
  const read = schema["~standard"].validate(value);
  if ("then" in read) throw new TypeError(`the schema of ${path} must not be asynchronous`);
  if (read.issues === undefined) return read.value;
  throw stateInvalid(path, read.issues.map((issue) => issueText(issue)).join("; "));
}
