import { z } from "zod";
import { type Config, CONFIG_SCHEMA } from "./schema.ts";

/** What checking a parsed configuration found; all problems at once. */
export interface CheckedConfig {
  readonly config: Config | null;
  /** `verify.timeout: expected number, received string` */
  readonly problems: readonly string[];
  /** Keys that nothing reads. */
  readonly warnings: readonly string[];
}

/** Checks data against the schema. Unknown keys are warnings, so that a newer file still works. Pure. */
export function checkConfig(data: unknown): CheckedConfig {
  const parsed = CONFIG_SCHEMA.safeParse(data);
  const warnings = unknownKeys(data, z.toJSONSchema(CONFIG_SCHEMA, { io: "input" }) as Shape, "");
  if (parsed.success) return { config: parsed.data, problems: [], warnings };
  const problems = parsed.error.issues.map(({ path, message }) =>
    `${path.length === 0 ? "the file" : path.join(".")}: ${message.replace(/^Invalid input: /, "")}`
  );
  return { config: null, problems, warnings };
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
}

function unknownKeys(data: unknown, shape: Shape, prefix: string): readonly string[] {
  if (shape.properties === undefined || typeof data !== "object" || data === null || Array.isArray(data)) return [];
  return Object.entries(data).flatMap(([key, value]) => {
    const inner = shape.properties?.[key];
    return inner === undefined ? [`unknown key ${prefix}${key}`] : unknownKeys(value, inner, `${prefix}${key}.`);
  });
}
