import { z } from "zod";
import { CONFIG_SCHEMA } from "../config/schema.ts";

/** The JSON Schema of `ralph.config.json`, as an editor needs it. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph.config.json", ...z.toJSONSchema(CONFIG_SCHEMA, { io: "input" }) };
}
