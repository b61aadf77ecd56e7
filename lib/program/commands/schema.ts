import { EXIT } from "../../errors/exit_codes.ts";
import { nearest } from "../../errors/nearest.ts";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { toJson } from "../../cli/show.ts";

/** The schemas there are: what each is of. */
const SCHEMAS: Readonly<Record<string, () => Promise<unknown>>> = {
  config: async () => (await import("../../cli/config_json_schema.ts")).configJsonSchema(),
  events: async () => (await import("../../events/schema.ts")).eventsJsonSchema(),
  ...Object.assign({}, ...WORKFLOWS.map(({ schemas }) => schemas)),
  report: async () => (await import("../../report/schema.ts")).reportJsonSchema(),
};

/** Their names. */
export const SCHEMA_NAMES: readonly string[] = Object.keys(SCHEMAS);

/** `ralph schema NAME`: the JSON Schema of the configuration, of a line of events, of the plan and what the commands on it print, or of a report. */
export async function run({ arguments: [name = ""], out }: Invocation): Promise<number> {
  const make = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (make === undefined) {
    const near = nearest(name, Object.keys(SCHEMAS));
    const known = `schemas: ${Object.keys(SCHEMAS).join(", ")}`;
    throw usage(`there is no schema named ${name}`, near === null ? known : `did you mean \`${near}\`? ${known}`);
  }
  out(toJson(await make()));
  return EXIT.done;
}
