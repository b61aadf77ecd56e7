import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { EXIT } from "../../errors/exit_codes.ts";
import { writeAtomic } from "../../host/files.ts";
import type { Invocation } from "../../cli/command.ts";
import { VERSION } from "../../host/version.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { toJson } from "../../cli/show.ts";

/** The schemas there are: what each is of. */
const SCHEMAS: Readonly<Record<string, () => Promise<unknown>>> = {
  config: async () => (await import("../../config/json_schema.ts")).configJsonSchema(),
  events: async () => (await import("../../events/schema.ts")).eventsJsonSchema(),
  ...Object.assign({}, ...WORKFLOWS.map(({ schemas }) => schemas)),
  gate: async () => (await import("../../report/schema.ts")).gateJsonSchema(),
  report: async () => (await import("../../report/schema.ts")).reportJsonSchema(),
};

/** Their names. */
export const SCHEMA_NAMES: readonly string[] = Object.keys(SCHEMAS);

/** `ralph types`: the declarations of the SDK, for editors and `tsc` where no package is installed. */
export async function types({ flags, host, out, say }: Invocation): Promise<number> {
  const { PACKED_TYPES } = await import("../../generated/types.ts");
  const declarations = gunzipSync(Buffer.from(PACKED_TYPES, "base64")).toString("utf8").trimEnd();
  const text =
    `// The declarations of \`ralph\` ${VERSION} and its subpaths, written by \`ralph types\`.\n\n${declarations}`;
  const file = flags.text("output");
  if (file === undefined) {
    out(text);
    return EXIT.done;
  }
  await writeAtomic(resolve(host.environment.cwd, file), `${text}\n`);
  say(`wrote ${file}`);
  say("hint: `/// <reference path=...>` or a tsconfig.json finds it: `ralph help types` shows both");
  return EXIT.done;
}

/** `ralph schema NAME`: the JSON Schema of the configuration, of a line of events, of the plan and what the commands on it print, or of a report. */
export async function schema({ arguments: [name = ""], out }: Invocation): Promise<number> {
  const make = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (make === undefined) {
    const known = `schemas: ${SCHEMA_NAMES.join(", ")}`;
    throw usage(`there is no schema named ${name}`, `${didYouMean(name, SCHEMA_NAMES, "")} ${known}`.trim());
  }
  out(toJson(await make()));
  return EXIT.done;
}
