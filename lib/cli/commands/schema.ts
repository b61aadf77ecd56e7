import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../command.ts";
import { usage } from "../parse.ts";
import { toJson } from "../show.ts";

/** `ralph schema config`: the JSON Schema of the configuration. */
export async function run({ arguments: [name], out }: Invocation): Promise<number> {
  if (name !== "config") throw usage(`there is no schema named ${name ?? ""}`, "schemas: config");
  const { configJsonSchema } = await import("../config_json_schema.ts");
  out(toJson(configJsonSchema()));
  return EXIT.done;
}
