import type { StandardSchema } from "../backlog/schema.ts";
import type { JsonSchema } from "../config/json_schema.ts";

/** One key of a recipe's arguments. */
export interface ArgField {
  readonly key: string;
  /** The key as a flag's name: `maxItems` is `max-items`. */
  readonly flag: string;
  readonly type: "text" | "number" | "boolean";
  readonly many: boolean;
  readonly required: boolean;
  readonly choices: readonly string[] | null;
  readonly summary: string;
}

/** The keys that a schema declares, in their order; the goal alone without a schema; `null` where the schema does not say. */
export async function argFields(schema: StandardSchema<unknown> | undefined): Promise<readonly ArgField[] | null> {
  if (schema === undefined) return [fieldOf("goal", { type: "string", description: "what is to be done" }, false)];
  const { properties, required = [] } = await jsonSchemaOf(schema) ?? {};
  if (properties === undefined) return null;
  return Object.entries(properties).map(([key, property]) => fieldOf(key, property, required.includes(key)));
}

/** Zod of any copy from version 4 on, or a library that gives its JSON Schema itself. */
async function jsonSchemaOf(schema: StandardSchema<unknown>): Promise<JsonSchema | null> {
  if ("_zod" in schema) {
    const { z } = await import("zod");
    return z.toJSONSchema(schema as never, { io: "input", unrepresentable: "any" }) as JsonSchema;
  }
  const { jsonSchema } = schema["~standard"] as {
    readonly jsonSchema?: { input(options: { target: string }): JsonSchema };
  };
  return jsonSchema?.input({ target: "draft-2020-12" }) ?? null;
}

const FIELD_TYPES: readonly (readonly [ArgField["type"], readonly string[]])[] = [
  ["boolean", ["boolean"]],
  ["number", ["number", "integer"]],
];

function fieldOf(key: string, property: JsonSchema, required: boolean): ArgField {
  const many = property.type === "array";
  const value = many ? property.items ?? {} : property;
  const types = [value, ...value.anyOf ?? []].flatMap(({ type }) => type ?? []);
  const choices = value.enum?.every((choice) => typeof choice === "string") === true
    ? value.enum as readonly string[]
    : null;
  const preset = property.default === undefined ? "" : ` (default: ${JSON.stringify(property.default)})`;
  return {
    key,
    flag: key.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase(),
    type: FIELD_TYPES.find(([, names]) => names.some((name) => types.includes(name)))?.[0] ?? "text",
    many,
    required,
    choices,
    summary: `${property.description ?? ""}${preset}`.trim(),
  };
}
