import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../command.ts";
import { usage } from "../parse.ts";
import { toJson } from "../show.ts";

const SCHEMAS: Readonly<Record<string, () => Promise<unknown>>> = {
  config: async () => (await import("../config_json_schema.ts")).configJsonSchema(),
  plan: async () => (await import("../../backlogs/spec/schema.ts")).planJsonSchema(),
};

/** `ralph schema NAME`: the JSON Schema of the configuration, or of the plan and what the commands on it print. */
export async function run({ arguments: [name = ""], out }: Invocation): Promise<number> {
  const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (schema === undefined) {
    throw usage(`there is no schema named ${name}`, `schemas: ${Object.keys(SCHEMAS).join(", ")}`);
  }
  out(toJson(await schema()));
  return EXIT.done;
}
