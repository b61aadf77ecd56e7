import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { EXIT } from "../../errors/exit_codes.ts";
import { writeAtomic } from "../../host/files.ts";
import type { Invocation } from "../../cli/command.ts";
import { PACKED_TYPES } from "../../generated/types.ts";
import { VERSION } from "../../cli/version.ts";

/** `ralph types`: the declarations of the SDK, for editors and `tsc` where no package is installed. */
export async function run({ flags, host, out, say }: Invocation): Promise<number> {
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
