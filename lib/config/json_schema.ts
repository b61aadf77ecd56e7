import { z } from "zod";
import { CONFIG_SCHEMA } from "./schema.ts";

/** As much of a JSON Schema as a configuration, or the arguments of a recipe, have. */
export interface JsonSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** One key of the configuration. */
export interface ConfigKey {
  /** `limits.costUsd`, `hooks[].id` */
  readonly path: string;
  readonly description: string;
  /** `number`, `text`, `list of text`, `"off" | "report" | "block"` */
  readonly type: string;
  /** As JSON; `null` where there is none, for a section too. */
  readonly default: string | null;
  readonly required: boolean;
  /** It holds other keys, which follow. */
  readonly section: boolean;
}

/** The JSON Schema of `ralph.config.json`, as an editor needs it. */
export function configJsonSchema(): JsonSchema & Readonly<Record<string, unknown>> {
  return { title: "ralph.config.json", ...z.toJSONSchema(CONFIG_SCHEMA, { io: "input" }) as JsonSchema };
}

/** Every key of the configuration, sections before what they hold. */
export function configKeys(): readonly ConfigKey[] {
  return keysOf(configJsonSchema(), "");
}

function keysOf({ properties = {}, required = [] }: JsonSchema, before: string): readonly ConfigKey[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const inner = schema.properties ? schema : schema.items?.properties ? schema.items : null;
    const path = `${before}${name}`;
    return [
      {
        path,
        description: schema.description ?? "",
        type: typeOf(schema),
        default: schema.default === undefined || schema.properties ? null : JSON.stringify(schema.default),
        required: required.includes(name),
        section: inner !== null,
      },
      ...inner === null ? [] : keysOf(inner, inner === schema ? `${path}.` : `${path}[].`),
    ];
  });
}

function typeOf({ type, enum: values, anyOf, items }: JsonSchema): string {
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  if (type === "array") return `list of ${items?.properties ? "objects" : typeOf(items ?? {})}`;
  return { string: "text", integer: "whole number", boolean: "true | false" }[String(type)] ?? String(type ?? "any");
}
