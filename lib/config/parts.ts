/**
 * The pieces of which schemas are made. A name here is the name of a TypeScript type: `tools/generate.mjs` writes the
 * types from the schemas, with their descriptions.
 *
 * @module
 */
import { z } from "zod";
import type { Config } from "../generated/config.ts";
import { defaultConfig } from "./defaults.ts";

const DEFAULTS = defaultConfig();

type Fields = Readonly<Record<string, z.ZodType>>;

/** The names of types, for the generator. */
export const TYPE_NAMES: z.core.$ZodRegistry<{ name: string; description: string }> = z.registry();

/** A schema whose type has a name of its own. */
export function named<Schema extends z.ZodType>(name: string, description: string, schema: Schema): Schema {
  TYPE_NAMES.add(schema, { name, description });
  return schema;
}

/** An object whose type has a name of its own. */
export function record<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Shape,
): z.ZodObject<Shape> {
  return named(name, description, z.object(shape));
}

/** A shape with the defaults of an empty file; sections have theirs already. */
export function withDefaults(defaults: object, shape: Fields): z.ZodRawShape {
  const values = new Map<string, unknown>(Object.entries(defaults));
  return Object.fromEntries(
    Object.entries(shape).map(([key, schema]) => [
      key,
      schema instanceof z.ZodPrefault || values.get(key) === undefined ? schema : schema.default(values.get(key)),
    ]),
  );
}

/** A section of the configuration: its type is `VerifyConfig`, where its key is `verify`. */
export function section(key: keyof Config, description: string, shape: Fields): z.ZodType {
  return block(`${key.charAt(0).toUpperCase()}${key.slice(1)}Config`, description, Object(DEFAULTS[key]), shape);
}

/** An object that may be left out in whole or in part. */
export function block(name: string, description: string, defaults: object, shape: Fields): z.ZodType {
  return named(name, description, z.strictObject(withDefaults(defaults, shape))).prefault({}).describe(description);
}

/** Text that is not blank. */
export const command: z.ZodString = z.string().trim().min(1, "must not be empty");
/** A span of time. */
export const seconds: z.ZodNumber = z.number().positive();
/** How many. */
export const count: z.ZodNumber = z.number().int().positive();
/** An address that can be asked. */
export const httpUrl: z.ZodString = z.string().refine(isHttpUrl, "must be an http or https URL");

/** True for an address that can be asked. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
